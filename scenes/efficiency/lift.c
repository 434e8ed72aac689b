// A lead screw lifts and lowers a load, with friction from oiled to dry.

#include "efficiency.h"

#define LEAD     0.004  // m
#define DIAMETER 0.018  // m
#define FLANK    15.0   // deg
#define MASS     50.0   // kg
#define SPEED    0.05   // m/s
#define GAIN     2e6    // N/(m/s)

#define MU(variant) ((variant)->parameter[0])

static const mjgCase liftCase[] = {
    {"mu=0.15", "screw.mu=0.15", {0.15}},
    {"mu=0.01", "screw.mu=0.01", {0.01}},
    {"mu=0.05", "screw.mu=0.05", {0.05}},
    {"mu=0.3", "screw.mu=0.3", {0.3}},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_effMotor(d->time, d->qvel[0], SPEED, GAIN);
}

static void measure(double* value, const mjModel* m, const mjData* d) { value[0] = -m->opt.gravity[2] * MASS; }

// textbook: tan(l)/tan(l + rho) and tan(l - rho)/tan(l)
static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double slope = LEAD / (3.14159265358979323846 * DIAMETER), angle = atan(slope);
  for (int i = 0; i < (int)(sizeof liftCase / sizeof *liftCase); i++) {
    double rho = atan(MU(run[i].variant) / cos(FLANK * 3.14159265358979323846 / 180));
    mjg_effClaims(claims, &run[i], "nut", slope / tan(angle + rho), tan(angle - rho) / slope);
  }
}

mjgSCENE(ScrewLift, "screw-lift", "efficiency/lift.xml", mjgEFF_DURATION,
         "a lead screw lifts and lowers 50 kg: efficiency in both directions",
         "A lead screw lifts and lowers 50 kg with the efficiency that the formulas give.", .moment = 0.9,
         mjgCASES(liftCase), .input = input, .column = "load", .measure = measure, .claims = claims);

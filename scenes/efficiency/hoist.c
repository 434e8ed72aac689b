// A worm gear hoists and lowers a load on a rope.

#include "efficiency.h"

#define DEGREE (3.14159265358979323846 / 180)
#define FLANK  20.0  // deg
#define RADIUS 0.1   // of the drum, m
#define MASS   20.0  // kg
#define SPEED  2.0   // rad/s
#define GAIN   2e3   // N m/(rad/s)

#define ANGLE(variant) ((variant)->parameter[0])  // lead angle, rad
#define MU(variant)    ((variant)->parameter[1])

static const mjgCase hoistCase[] = {
    {"single-start", "worm.lead_angle=0.08726646259971647; worm.mu=0.1", {0.08726646259971647, 0.1}},
    {"four-start", "worm.lead_angle=0.3490658503988659; worm.mu=0.05", {0.3490658503988659, 0.05}},
    {"four-start-dry", "worm.lead_angle=0.3490658503988659; worm.mu=0.2", {0.3490658503988659, 0.2}},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_effMotor(d->time, d->qvel[0], SPEED, GAIN);
}

// force of the rope on the drum
static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = -m->opt.gravity[2] * MASS * RADIUS;
  value[1] = d->ten_length[0];
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < (int)(sizeof hoistCase / sizeof *hoistCase); i++) {
    double angle = ANGLE(run[i].variant), rho = atan(MU(run[i].variant) / cos(FLANK * DEGREE));
    mjg_effClaims(claims, &run[i], "drum", tan(angle) / tan(angle + rho), tan(angle - rho) / tan(angle));
  }
}

mjgSCENE(WormHoist, "worm-hoist", "efficiency/hoist.xml", mjgEFF_DURATION,
         "a worm gear hoists and lowers 20 kg on a rope: efficiency in both directions",
         "A worm gear hoists 20 kg, and holds them with the motor off.", .moment = 0.5, mjgCASES(hoistCase),
         .input = input, .column = "load rope", .measure = measure, .claims = claims);

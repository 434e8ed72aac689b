// A worm gear hoists and lowers a load on a rope.

#include <math.h>

#include "efficiency.h"

#define DEGREE (3.14159265358979323846 / 180)
#define FLANK  20.0  // deg
#define RADIUS 0.1   // of the drum, m
#define MASS   20.0  // kg
#define SPEED  2.0   // rad/s
#define GAIN   2e3   // N m/(rad/s)

#define ANGLE(variant) ((variant)->parameter[0])  // lead angle, rad
#define MU(variant)    ((variant)->parameter[1])

#define CASE(name, angle, mu)                                    \
  name, {{"worm", "lead_angle", #angle}, {"worm", "mu", #mu}}, { \
    angle, mu                                                    \
  }

static const mjgCase hoistCase[] = {
    {CASE("single-start", 0.08726646259971647, 0.1)},
    {CASE("four-start", 0.3490658503988659, 0.05)},
    {CASE("four-start-dry", 0.3490658503988659, 0.2)},
};


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  (void)variant;
  d->ctrl[0] = mjg_effMotor(d->time, d->qvel[0], SPEED, GAIN);
}


// force of the rope on the drum
static const char* const column[] = {"load", "rope", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = -m->opt.gravity[2] * MASS * RADIUS;
  value[1] = d->ten_length[0];
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  for (int i = 0; i < (int)(sizeof hoistCase / sizeof *hoistCase); i++) {
    double angle = ANGLE(run[i].variant), rho = atan(MU(run[i].variant) / cos(FLANK * DEGREE));
    mjg_effClaims(claims, &run[i], "drum", tan(angle) / tan(angle + rho),
                  tan(angle - rho) / tan(angle));
  }
}


const mjgScene mjg_sceneWormHoist = {
    .name = "worm-hoist",
    .description = "a worm gear hoists and lowers 20 kg on a rope: efficiency in both directions",
    .caption = "A worm gear hoists 20 kg, and holds them with the motor off.",
    .moment = 0.5,
    .xml = "efficiency/hoist.xml",
    .duration = mjgEFF_DURATION,
    mjgCASES(hoistCase),
    .input = input,
    .column = column,
    .measure = measure,
    .claims = claims,
};

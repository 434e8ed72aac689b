#include "../helpers.h"

#define LIFT 0.02  // m
#define LEAD 9.549297e-4

// turn the nut at a steady speed to the height of the lift, then switch off
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double turn = LIFT / LEAD, speed = turn / 2;
  d->ctrl[0] = mjg_reached(d->time, 3) ? 0
               : mjg_reached(d->time, 0.5)
                   ? fmax(-1, fmin(1, 0.05 * (fmin(turn, speed * (d->time - 0.5)) - d->qpos[0]) - 2e-3 * d->qvel[0]))
                   : 0;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double rise = mjg_at(run, "height", 4) - mjg_at(run, "height", 0.49);
  mjg_claim(claims, rise > 0.015, "the motor lifts 5 kg by %.2f mm", 1e3 * rise);
  double fastest = mjg_size(run, "v_nut", 4, 34);
  mjg_claim(claims, fastest == 0, "motor off, the nut stands still for 30 s: largest speed %g rad/s", fastest);
  double sink = mjg_swing(run, "height", 4, 34);
  mjg_claim(claims, sink < 1e-6, "the load sinks by %.2g m in 30 s, less than 1e-6", sink);
}

mjgSCENE(Jack, "jack", "jack/jack.xml", 34, "A screw jack lifts 5 kg, and holds them.", .moment = 0.5, .input = input,
         .column = "height=body:load.z", .claims = claims, .nsolved = 1);

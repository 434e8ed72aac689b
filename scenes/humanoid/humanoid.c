// A humanoid stands on gears that cannot be driven back, is pushed and falls.

#include <math.h>

#include "../claims.h"
#include "../scene.h"

#define PUSH 3.0  // for 0.3 s


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)variant;
  mjtNum* force = d->xfrc_applied + 6 * mj_name2id(m, mjOBJ_BODY, "torso");
  force[0] = mjg_reached(d->time, PUSH) && !mjg_reached(d->time, PUSH + 0.3) ? -250 : 0;
}


static const char* const column[] = {"height", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  (void)m;
  value[0] = d->qpos[2];
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  static const char* const sensor[] = {"knee", "abdomen", "elbow"};
  const mjgTrajectory* t = run->trajectory;
  double sway = mjg_highest(t, "height", 2, PUSH) - mjg_lowest(t, "height", 2, PUSH);
  double knee =
      fmax(mjg_highest(t, "v_knee_right", 2, PUSH), -mjg_lowest(t, "v_knee_right", 2, PUSH));
  mjg_claim(
      claims, sway < 1e-3 && knee == 0,
      "it stands without motors: its height changes by %.2g m in 1 s, the knee's largest speed is "
      "%g rad/s",
      sway, knee);
  double height = mjg_at(t, "height", 6);
  mjg_claim(claims, height < 0.5, "pushed, it falls: the torso ends at %.2f m", height);
  mjg_claimSolved(claims, run, sensor, 3);
}


const mjgScene mjg_sceneHumanoid = {
    .name = "humanoid",
    .description = "a humanoid stands on gears that cannot be driven back, is pushed and falls",
    .xml = "humanoid/humanoid.xml",
    .duration = 6,
    .input = input,
    .column = column,
    .measure = measure,
    .claims = claims,
};

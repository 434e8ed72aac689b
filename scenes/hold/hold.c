// Friction that holds: ours, and the engine's own, which is a regularized constraint and creeps.

#include <math.h>

#include "../claims.h"
#include "../scene.h"

#define NATIVE parameter[0]
#define NOSLIP parameter[1]

static const mjgCase holdCase[] = {
    {"gear", {{0}}, {0, 0}},
    {"frictionloss", {{"gear", "coulomb", "0"}}, {1, 0}},
    {"frictionloss-noslip", {{"gear", "coulomb", "0"}}, {1, 10}},
};


static void configure(mjModel* m, const mjgCase* variant) {
  static const double bound[] = {30, 15, 4};
  m->opt.noslip_iterations = (int)variant->NOSLIP;
  for (int i = 0; i < 3; i++) {
    m->dof_frictionloss[i] = variant->NATIVE > 0 ? bound[i] : 0;
  }
}


// largest turn of a joint until some time
static double droop(const mjgRun* run, double until) {
  static const char* const name[] = {"q_shoulder", "q_elbow", "q_wrist"};
  double most = 0;
  for (int i = 0; i < 3; i++) {
    double high = mjg_highest(run->trajectory, name[i], 0, until);
    most = fmax(most, fmax(high, -mjg_lowest(run->trajectory, name[i], 0, until)));
  }
  return most;
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  static const char* const sensor[] = {"gears"};
  double turn = droop(&run[0], 60);
  mjg_claim(claims, turn <= 1e-9, "held for 60 s, the arm turns by %.2g rad, at most 1e-9", turn);
  mjg_claimSolved(claims, &run[0], sensor, 1);
  for (int i = 1; i < 3; i++) {
    turn = droop(&run[i], 2);
    double minute = droop(&run[i], 60);
    mjg_claim(claims, turn > 1e-2 && minute > 0.2,
              "%s droops by %.3f rad in 2 s, by %.2f rad in a minute", run[i].variant->name, turn,
              minute);
  }
}


const mjgScene mjg_sceneHold = {
    .name = "hold",
    .description = "an arm is held for a minute by dry friction",
    .xml = "hold/hold.xml",
    .duration = 60,
    .variant = holdCase,
    .nvariant = sizeof holdCase / sizeof *holdCase,
    .configure = configure,
    .claims = claims,
};

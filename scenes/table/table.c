// An arm with worm gears presses its hand on a table, is switched off, and stays.

#include <math.h>
#include <stdio.h>

#include "../claims.h"
#include "../scene.h"

#define OFF 2.0  // the motors are switched off


// the shoulder presses down, then nothing
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)variant;
  mju_zero(d->ctrl, (int)m->nu);
  if (!mjg_reached(d->time, OFF)) {
    d->ctrl[1] = 30;
  }
}


static const char* const column[] = {"load", "press", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = d->xpos[3 * mj_name2id(m, mjOBJ_BODY, "load") + 2];

  // force of the arm on the table
  int load = mj_name2id(m, mjOBJ_GEOM, "load"), table = mj_name2id(m, mjOBJ_GEOM, "table");
  value[1] = 0;
  for (int i = 0; i < d->ncon; i++) {
    const int* geom = d->contact[i].geom;
    if ((geom[0] == table || geom[1] == table) && geom[0] != load && geom[1] != load) {
      mjtNum force[6];
      mj_contactForce(m, d, i, force);
      value[1] += force[0];
    }
  }
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  static const char* const sensor[] = {"j1", "j2", "j3", "j4", "j5", "j6"};
  const mjgTrajectory* t = run->trajectory;
  double fastest = 0;
  for (int i = 0; i < 6; i++) {
    char name[8];
    snprintf(name, sizeof(name), "v_%s", sensor[i]);
    fastest = fmax(fastest, fmax(mjg_highest(t, name, 3, 20), -mjg_lowest(t, name, 3, 20)));
  }
  mjg_claim(claims, fastest == 0, "motors off, no joint moves: largest speed %g rad/s", fastest);
  double press = mjg_lowest(t, "press", 3, 20);
  mjg_claim(claims, press > 10, "the arm goes on pressing the table with %.1f N", press);
  double sink = mjg_highest(t, "load", 3, 20) - mjg_lowest(t, "load", 3, 20);
  mjg_claim(claims, sink < 1e-4, "the load of 3 kg stays in the hand: it moves by %.2g m", sink);
  mjg_claimSolved(claims, run, sensor, 6);
}


const mjgScene mjg_sceneTable = {
    .name = "table",
    .description = "an arm with worm gears rests on a table and carries a load, motors off",
    .xml = "table/table.xml",
    .duration = 20,
    .input = input,
    .column = column,
    .measure = measure,
    .claims = claims,
};

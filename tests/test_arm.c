// The closed form of the two-link arm against MuJoCo's own mechanics of models/two_link.xml.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>
#include <mujoco/mujoco.h>

#include "wall/arm.h"


static void agrees_with_the_engine(void** state) {
  (void)state;
  char error[500] = "";
  mjModel* m = mj_loadXML(MJGEAR_SOURCE_DIR "/tests/data/two_link_arm.xml", NULL, error, 500);
  if (!m) {
    fail_msg("%s", error);
  }
  mjData* d = mj_makeData(m);
  srand(1);
  for (int k = 0; k < 1000; k++) {
    for (int i = 0; i < 2; i++) {
      d->qpos[i] = 6.0 * rand() / RAND_MAX - 3;
      d->qvel[i] = 6.0 * rand() / RAND_MAX - 3;
    }
    d->ctrl[0] = 1;
    mj_forward(m, d);

    double M[4], bias[2], J[2], full[4], tip = mjg_armTip(J, d->qpos);
    mjg_armInertia(M, d->qpos);
    mjg_armBias(bias, d->qpos, d->qvel);
    mj_fullM(m, d, full);
    for (int i = 0; i < 2; i++) {
      full[3 * i] -= mjgARM_ROTOR;
      assert_true(fabs(bias[i] - d->qfrc_bias[i]) < 1e-12);
      assert_true(fabs(-mjgARM_VISCOSITY * d->qvel[i] - d->qfrc_damper[i]) < 1e-12);

      // the actuator is a unit force in x direction at the tip
      assert_true(fabs(J[i] - d->qfrc_actuator[i]) < 1e-12);
    }
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(M[i] - full[i]) < 1e-12);
    }
    assert_true(fabs(tip - d->site_xpos[3 * mj_name2id(m, mjOBJ_SITE, "tip")]) < 1e-12);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_engine)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

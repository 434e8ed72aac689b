// Robots hold, fall and converge as their scenes claim, and the claims fail for other gears.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "load.h"
#include "play.h"
#include "with_plugin.h"

#define MAXCASE 8


// play all cases, with a setting added (nullable); returns how many claims fail
static int failures(const char* name, const mjgSetting* setting) {
  const mjgScene* scene = mjg_findScene(name);
  assert_non_null(scene);
  int n = scene->nvariant ? scene->nvariant : 1;
  assert_true(n <= MAXCASE);
  mjgPlay play[MAXCASE];
  mjgTrajectory run[MAXCASE];
  char error[2048] = "";
  for (int i = 0; i < n; i++) {
    const mjgCase* variant = scene->nvariant ? &scene->variant[i] : NULL;
    mjModel* m = mjg_loadScene(scene, variant, setting, setting != NULL, error, sizeof error);
    if (!m) {
      fail_msg("%s", error);
    }
    mjData* d = mjg_startScene(m);
    assert_int_equal(mjg_openPlay(&play[i], scene, variant, m, d, 0, error, sizeof error), 0);
    while (d->time < scene->duration - m->opt.timestep / 2) {
      assert_int_equal(mjg_stepPlay(&play[i], error, sizeof error), 0);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
    run[i] = play[i].trajectory;
  }
  mjgClaims claims = {0};
  mjg_claimAll(&claims, scene, run);
  for (int i = 0; i < claims.n && !setting; i++) {
    if (!claims.claim[i].holds) {
      print_error("%s: %s\n", name, claims.claim[i].text);
    }
  }
  int failed = claims.nfailed;
  assert_true(claims.n > 0);
  mjg_freeClaims(&claims);
  for (int i = 0; i < n; i++) {
    mjg_closePlay(&play[i]);
  }
  return failed;
}


// a steep thread does not hold
static void gripper(void** state) {
  assert_int_equal(failures("gripper", NULL), 0);
  assert_true(failures("gripper", &(mjgSetting){"screw", "mu", "0.02"}) > 0);
}


static void arm(void** state) {
  assert_int_equal(failures("arm", NULL), 0);
  assert_true(failures("arm", &(mjgSetting){"worm", "mu", "0.02"}) > 0);
}


static void humanoid(void** state) {
  assert_int_equal(failures("humanoid", NULL), 0);
  assert_true(failures("humanoid", &(mjgSetting){"legs", "gamma_v", "0.4"}) > 0);
}


static void convergence(void** state) {
  assert_int_equal(failures("convergence", NULL), 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gripper),
      cmocka_unit_test(arm),
      cmocka_unit_test(humanoid),
      cmocka_unit_test(convergence),
  };
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

// Claims of scenes hold for the engine's results, and only for them: with the runs of other gears
// they must fail.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "claims.h"
#include "load.h"
#include "play.h"
#include "with_plugin.h"

#define MAXCASE 16


// number of claims that fail for the given runs
static int failures(const mjgScene* scene, const mjgRun* run) {
  mjgClaims claims = {0};
  scene->claims(&claims, run);
  int n = claims.nfailed;
  assert_true(claims.n > 0);
  mjg_freeClaims(&claims);
  return n;
}


static void check(const char* name) {
  const mjgScene* scene = mjg_findScene(name);
  assert_true(scene && scene->nvariant > 3 && scene->nvariant <= MAXCASE);
  mjgPlay play[MAXCASE];
  mjgRun run[MAXCASE], wrong[MAXCASE];
  char error[2048] = "";

  // all cases
  for (int i = 0; i < scene->nvariant; i++) {
    mjModel* m = mjg_loadScene(scene, &scene->variant[i], NULL, 0, error, sizeof error);
    if (!m) {
      fail_msg("%s", error);
    }
    mjData* d = mjg_startScene(m);
    assert_int_equal(mjg_openPlay(&play[i], scene, &scene->variant[i], m, d, 1, error, 2048), 0);
    while (d->time < scene->duration - m->opt.timestep / 2) {
      assert_int_equal(mjg_stepPlay(&play[i], error, sizeof error), 0);
    }
    assert_true(play[i].difference <= scene->tolerance);
    mj_deleteData(d);
    mj_deleteModel(m);
    run[i] = (mjgRun){&scene->variant[i], &play[i].trajectory};
  }
  assert_int_equal(failures(scene, run), 0);

  // the same gear everywhere: it cannot support the claims of the others
  for (int k = 0; k < scene->nvariant; k++) {
    for (int i = 0; i < scene->nvariant; i++) {
      wrong[i] = (mjgRun){&scene->variant[i], run[k].trajectory};
    }
    assert_true(failures(scene, wrong) > 0);
  }
  for (int i = 0; i < scene->nvariant; i++) {
    mjg_closePlay(&play[i]);
  }
}


static void rod(void** state) {
  (void)state;
  check("rod");
}


static void wall(void** state) {
  (void)state;
  check("wall");
}


static void wall_contact(void** state) {
  (void)state;
  check("wall-contact");
}


static void two_loads(void** state) {
  (void)state;
  check("two-loads");
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod),
      cmocka_unit_test(wall),
      cmocka_unit_test(wall_contact),
      cmocka_unit_test(two_loads),
  };
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

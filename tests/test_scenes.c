// The registry of scenes, and the schedules of the paper's experiments.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "load.h"
#include "scene.h"
#include "wall/script.h"


static void scenes_are_complete(void** state) {
  (void)state;
  assert_true(mjg_nscene >= 3);
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    assert_ptr_equal(mjg_findScene(scene->name), scene);
    assert_true(scene->description && scene->duration > 0);
    assert_true(!scene->reference || scene->tolerance > 0);
    assert_true(!scene->column == !scene->measure);
    char path[4096];
    mjg_scenePath(path, sizeof path, scene);
    assert_int_equal(access(path, R_OK), 0);

    // names become file names
    assert_null(strpbrk(scene->name, "/ "));

    // what pages show of it
    assert_true(scene->moment >= 0 && scene->moment <= 1);
    assert_true(!scene->shown || mjg_findCase(scene, scene->shown));
    assert_null(strpbrk(scene->caption ? scene->caption : "", "\"\t\n"));
    for (int k = 0; k < scene->nvariant; k++) {
      assert_ptr_equal(mjg_findCase(scene, scene->variant[k].name), &scene->variant[k]);
      assert_null(strpbrk(scene->variant[k].name, "/ "));
      assert_string_not_equal(scene->variant[k].name, "claims");
      assert_string_not_equal(scene->variant[k].name, "differences");
      assert_string_not_equal(scene->variant[k].name, "joints");
      assert_string_not_equal(scene->variant[k].name, "about");
    }
  }
  assert_null(mjg_findScene("nothing"));
  assert_null(mjg_findCase(mjg_scenes[0], "nothing"));
}


static void time_is_reached_in_spite_of_rounding(void** state) {
  (void)state;
  double time = 0;
  for (int i = 0; i < 900; i++) {
    assert_false(mjg_reached(time, 0.9));
    time += 0.001;
  }
  assert_true(time != 0.9 && mjg_reached(time, 0.9));
}


// section 6.2 of the paper
static void wall_follows_the_paper(void** state) {
  (void)state;
  const double push[6] = {0, 500, 500, 500, 0, -500};
  for (int i = 0; i < 6; i++) {
    assert_true(mjg_wallPush(0.5 * i) == push[i] && mjg_wallPush(0.5 * i + 0.499) == push[i]);
  }
  assert_true(mjg_wallPosition(0) == 1.37 && mjg_wallPosition(0.999) == 1.37);
  assert_true(mjg_wallPosition(1.5) == 1.12 && mjg_wallPosition(2.9) == 1.12);
  assert_true(fabs(mjg_wallPosition(1.25) - 1.245) < 1e-12);
  assert_true(fabs(mjg_wallPosition(1.1) - 1.32) < 1e-12);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_are_complete),
      cmocka_unit_test(time_is_reached_in_spite_of_rounding),
      cmocka_unit_test(wall_follows_the_paper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Live values of the window: they agree with the joint's motion.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../viewer/frame.h"
#include "load.h"
#include "with_plugin.h"

#define STEPS 60


static void load(Sim* sim, mjgScene* scene, char path[300], const char* model) {
  char error[1400] = "";
  snprintf(path, 300, "%s/models/%s.xml", MJGEAR_SOURCE_DIR, model);
  *scene = (mjgScene){.name = model, .xml = path, .duration = 1};
  if (simLoad(sim, scene, NULL, NULL, simGEAR, NULL, error, sizeof(error))) {
    fail_msg("%s", error);
  }
}


// "stuck" in one line and motion in the other contradict each other, from the first state
// on
static void modeAndStateAgree(void** state) {
  (void)state;
  static const char* const models[] = {"rover/rover", "cobot/cobot", "jack/jack",
                                       "hobby_arm/hobby_arm", "quadruped/quadruped_worm"};
  int moving_from_rest = 0;
  for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
    Sim sim;
    mjgScene scene;
    char path[300];
    load(&sim, &scene, path, models[i]);
    for (int key = 0; key < sim.m->nkey; key++) {
      mj_resetDataKeyframe(sim.m, sim.d, key);
      mj_forward(sim.m, sim.d);
      for (int k = 0; k < STEPS; k++) {
        for (int g = 0; g < sim.ngear; g++) {
          char mode[40], what[40], velocity[40];
          frameValue(mode, sizeof(mode), &sim, g, frameMODE);
          frameValue(what, sizeof(what), &sim, g, frameSTATE);
          frameValue(velocity, sizeof(velocity), &sim, g, frameVELOCITY);
          int stands = !strcmp(what, "stuck") || !strcmp(what, "locked");
          if (strcmp(what, "in gap") != 0 && stands != !strcmp(mode, "stuck")) {
            fail_msg("%s, key %d, step %d, %s: mode %s, state %s", models[i], key, k,
                     sim.gear[g].name, mode, what);
          }
          moving_from_rest += k == 0 && !stands && !strncmp(velocity, "0 ", 2);
        }
        mj_step(sim.m, sim.d);
      }
    }
    simFree(&sim);
  }
  assert_true(moving_from_rest > 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(modeAndStateAgree)};
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

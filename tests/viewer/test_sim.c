// Models as the window has them: live values agree with the motion.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "sim.h"
#include "with_plugin.h"


static void load(Sim* sim, const char* path) {
  char error[1400] = "";
  mjgScene scene = {.name = path, .xml = path, .duration = 1};
  if (simLoad(sim, &scene, NULL, NULL, 0, simGEAR, NULL, error, sizeof(error))) {
    fail_msg("%s", error);
  }
}


// "stuck" in one line and motion in the other contradict each other, from the first state on
static void modeAndStateAgree(void** state) {
  static const char* const models[] = {"rover/rover", "cobot/cobot", "jack/jack",
                                       "hobby_arm/hobby_arm", "quadruped/quadruped_worm"};
  int moving_from_rest = 0;
  for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
    Sim sim;
    char path[300];
    snprintf(path, sizeof(path), "%s/models/%s.xml", MJGEAR_SOURCE_DIR, models[i]);
    load(&sim, path);
    for (int k = 0; k < 60 * sim.m->nkey; k++) {
      if (k % 60 == 0) {
        mj_resetDataKeyframe(sim.m, sim.d, k / 60);
        mj_forward(sim.m, sim.d);
      }
      for (int g = 0; g < sim.ngear; g++) {
        char mode[40], what[40], velocity[40];
        simText(mode, sizeof(mode), &sim, g, simMODE);
        simText(what, sizeof(what), &sim, g, simSTATE);
        simText(velocity, sizeof(velocity), &sim, g, simVELOCITY);
        int stands = !strcmp(what, "stuck") || !strcmp(what, "locked");
        if (strcmp(what, "in gap") != 0 && stands != !strcmp(mode, "stuck")) {
          fail_msg("%s, key %d, step %d, %s: mode %s, state %s", models[i], k / 60, k % 60,
                   sim.gear[g].name, mode, what);
        }
        moving_from_rest += k % 60 == 0 && !stands && !strncmp(velocity, "0 ", 2);
      }
      mj_step(sim.m, sim.d);
    }
    simFree(&sim);
  }
  assert_true(moving_from_rest > 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(modeAndStateAgree)};
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

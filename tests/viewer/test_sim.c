// Models as the window has them: live values agree with the motion, and sliders change the elements
// of a drive train in a running simulation, as the motion shows.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "load.h"
#include "sim.h"
#include "with_plugin.h"

#define H 0.001

// a mass of 1 kg, pushed along a slide, before and behind the keys of its gear
static const char kBefore[] =
    "<mujoco><option timestep='0.001' gravity='0 0 0' integrator='Euler'/><extension>"
    "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>"
    "<config key='gamma_u' value='0'/><config key='gamma_v' value='0'/>";
static const char kBehind[] =
    "</instance></plugin></extension><worldbody><body><joint name='j' type='slide'/>"
    "<geom size='.1' mass='1'/></body></worldbody><actuator><motor joint='j'/></actuator>"
    "</mujoco>";


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


// the mass with further keys of its gear
static void loadMass(Sim* sim, const char* keys) {
  char path[1100];
  FILE* file = fopen("tune.xml", "w");
  assert_non_null(file);
  fprintf(file, "%s%s%s", kBefore, keys, kBehind);
  fclose(file);
  assert_non_null(getcwd(path, 1000));
  strcat(path, "/tune.xml");
  load(sim, path);
}


// move the slider of a key; the gear gets its value
static void set(Sim* sim, const char* name, double value) {
  char error[1400] = "";
  int key = 0;
  while (key < tuneNKey && strcmp(tuneKeys[key].name, name) != 0) {
    key++;
  }
  assert_in_range(key, 0, tuneNKey - 1);
  assert_true(tuneKeys[key].low <= value && value <= tuneKeys[key].high);
  if (tuneSetValue(sim, 0, key, value, error, sizeof(error))) {
    fail_msg("%s: %s", name, error);
  }
  double now;
  assert_int_equal(tuneValue(&now, sim, 0, key), 1);
  assert_true(now == value);
}


// velocity after steps with a force of the motor
static double push(Sim* sim, double force, int steps) {
  sim->d->ctrl[0] = force;
  for (int i = 0; i < steps; i++) {
    mj_step(sim->m, sim->d);
  }
  return sim->d->qvel[0];
}


// each slider acts as its key does
static void slidersAct(void** state) {
  Sim sim;

  // with oneway = 1 the joint does not turn back
  loadMass(&sim, "");
  assert_true(fabs(push(&sim, -5, 1) + 5 * H) < 1e-15);
  set(&sim, "oneway", 1);
  assert_true(push(&sim, -5, 10) == 0);
  assert_true(fabs(push(&sim, 5, 1) - 5 * H) < 1e-15);
  simFree(&sim);

  // with teeth it falls back to the last one
  loadMass(&sim, "<config key='oneway' value='1'/>");
  sim.d->qpos[0] = 0.25;
  set(&sim, "tooth_pitch", 0.1);
  assert_true(push(&sim, -5, 1) < 0);
  assert_true(push(&sim, -5, 400) == 0);
  assert_true(sim.d->qpos[0] > 0.19 && sim.d->qpos[0] <= 0.2);
  simFree(&sim);

  // constant friction is 3 times as large at 0 degrees as at 40
  loadMass(&sim,
           "<config key='coulomb' value='1'/><config key='coulomb_temperature' value='0 3 40 1'/>"
           "<config key='temperature' value='40'/>");
  double v = push(&sim, 5, 1);
  assert_true(fabs(v - (5 - 1) * H) < 1e-15);
  set(&sim, "temperature", 0);
  assert_true(fabs(push(&sim, 5, 1) - v - (5 - 3) * H) < 1e-15);
  simFree(&sim);

  // the shaft of a clutch carries at most its slip torque
  loadMass(&sim,
           "<config key='backlash' value='torsion'/><config key='stiffness' value='10000'/>"
           "<config key='rotor_inertia' value='0.5'/><config key='slip_torque' value='50'/>");
  set(&sim, "slip_torque", 2);
  v = push(&sim, 40, 50);
  assert_true(fabs(push(&sim, 40, 1) - v - 2 * H) < 1e-12);
  simFree(&sim);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(modeAndStateAgree),
                                     cmocka_unit_test(slidersAct)};
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

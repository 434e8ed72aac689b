// Parts of a step: separate robots are separate problems, in motion and in memory.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "plugin_models.h"
#include "system.h"

#define JOINTS 7

// arms whose tips press on the ground, and the coupling of the first two, if any
#define ISLANDS "<flag island='enable'/>"
#define ONE     "<flag island='disable'/>"
#define NOTHING ""
#define TENDON                                                                    \
  "<tendon><fixed name='belt'><joint joint='a0j1' coef='1'/><joint joint='a1j1' " \
  "coef='-1'/></fixed></tendon>"
#define GEARED "<config key='tendon' value='belt'/>"


// n arms, from the first on
static mjModel* makeArms(int n, int first, const char* integrator, const char* flags,
                         const char* tendon, const char* key, const char* motor, int geared) {
  static char bodies[400000], names[20000], motors[100000];
  int b = 0, k = 0, a = 0;
  bodies[0] = names[0] = motors[0] = 0;
  for (int arm = first; arm < first + n; arm++) {
    b += sprintf(bodies + b, "<body pos='0 %d .045'>", arm);
    for (int j = 0; j < JOINTS; j++) {
      b += sprintf(
          bodies + b,
          "<body pos='%g 0 0'><joint name='a%dj%d' axis='%s' armature='.1'/><geom size='.03' "
          "pos='.1 0 0' mass='%g' contype='0' conaffinity='0'/>",
          j ? 0.2 : 0.0, arm, j, j % 2 ? "0 1 0" : "0 0 1", 1 - 0.05 * (arm % 9));
      k += j == 1 ? 0 : sprintf(names + k, " a%dj%d", arm, j);  // joints that a belt may drive
      a += sprintf(motors + a, "<position joint='a%dj%d' kp='100' kv='5' ctrlrange='-1 1'/>", arm,
                   j);
    }
    b += sprintf(bodies + b, "<geom pos='.2 0 0' size='.05'/>");
    for (int j = 0; j <= JOINTS; j++) {
      b += sprintf(bodies + b, "</body>");
    }
  }
  static char extension[30000];
  snprintf(
      extension, sizeof(extension),
      "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='%s'/>%s<config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='.6'/><config key='coulomb' value='.2'/></instance></plugin>"
      "</extension>",
      names, key);
  static char text[700000];
  snprintf(text, sizeof(text),
           "<mujoco><size memory='64M'/><option integrator='%s'>%s</option>%s<worldbody>"
           "<geom type='plane' size='99 99 1'/>%s</worldbody>%s<actuator>%s%s</actuator></mujoco>",
           integrator, flags, geared ? extension : "", bodies, tendon, motors, motor);
  char error[1000] = "";
  loadPlugin();
  mjSpec* spec = mj_parseXMLString(text, NULL, error, sizeof(error));
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  if (!m) {
    fail_msg("model refused: %s %s", error, spec ? mjs_getError(spec) : "");
  }
  mj_deleteSpec(spec);
  return m;
}


static void drive(const mjModel* m, mjData* d, int first, int step) {
  for (int i = 0; i < m->nu; i++) {
    int joint = m->actuator_trnid[2 * i];
    d->ctrl[i] = 0.3 * sin(0.01 * step + joint + JOINTS * first) - 0.05;
  }
}


// ---------------------------------- what they do -------------------------------------------------

// three arms in a model are three arms, also where no islands are found
static void test_separate(void** state) {
  static const char* const integrators[] = {"Euler", "implicitfast", "implicit", "discrete"};
  double worst = 0;
  int touched = 0;
  for (int k = 0; k < 8; k++) {
    mjModel* m = makeArms(3, 0, integrators[k % 4], k < 4 ? ISLANDS : ONE, NOTHING, "", "", 1);
    mjData* d = mj_makeData(m);
    mjModel* one[3];
    mjData* alone[3];
    for (int arm = 0; arm < 3; arm++) {
      one[arm] = makeArms(1, arm, integrators[k % 4], ISLANDS, NOTHING, "", "", 1);
      alone[arm] = mj_makeData(one[arm]);
    }
    for (int step = 0; step < 300; step++) {
      drive(m, d, 0, step);
      mj_step(m, d);
      touched += d->nefc > 0;
      assert_true((d->nisland > 0) == (d->nefc > 0 && k < 4));
      for (int arm = 0; arm < 3; arm++) {
        drive(one[arm], alone[arm], arm, step);
        mj_step(one[arm], alone[arm]);
        for (int i = 0; i < JOINTS; i++) {
          worst = fmax(worst, fabs(d->qvel[arm * JOINTS + i] - alone[arm]->qvel[i]));
        }
      }
    }
    for (int arm = 0; arm < 3; arm++) {
      mj_deleteData(alone[arm]);
      mj_deleteModel(one[arm]);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  printf("%d steps in contact, difference of velocities %.2g\n", touched, worst);
  assert_true(touched > 1000);
  assert_true(worst < 1e-9);
  assert_int_equal(countWarnings(NULL), 0);
}


// a belt between two of three arms, with a gear and without one: the third is alone. Arms that it connects are solved
// together, so that both of their islands move as the engine then makes them move: nothing is left unconfirmed
static void test_belt(void** state) {
  static const char* const integrators[] = {"Euler", "implicitfast", "discrete"};
  for (int k = 0; k < 12; k++) {
    int geared = k % 2, islands = k / 2 % 2, servo = k / 4 == 2;
    const char* motor =
        servo ? "<position tendon='belt' kp='50' kv='3'/>" : "<motor tendon='belt'/>";
    mjModel* m = makeArms(3, 0, integrators[k / 4], islands ? ISLANDS : ONE, TENDON,
                          geared ? GEARED : "", motor, 1);
    mjModel* one = makeArms(1, 2, integrators[k / 4], ISLANDS, NOTHING, "", "", 1);
    mjData *d = mj_makeData(m), *alone = mj_makeData(one);
    double worst = 0;
    for (int step = 0; step < 300; step++) {
      drive(m, d, 0, step);
      d->ctrl[m->nu - 1] = 3 * sin(0.02 * step);
      mj_step(m, d);
      drive(one, alone, 2, step);
      mj_step(one, alone);
      for (int i = 0; i < JOINTS; i++) {
        worst = fmax(worst, fabs(d->qvel[2 * JOINTS + i] - alone->qvel[i]));
      }
    }
    assert_true(worst < 1e-9);
    const char* warning;
    int warnings = countWarnings(&warning);
    if (warnings) {
      fail_msg("%s, %s gear, islands %s: %s", integrators[k / 4], geared ? "with" : "without",
               islands ? "on" : "off", warning);
    }
    mj_deleteData(d);
    mj_deleteData(alone);
    mj_deleteModel(m);
    mj_deleteModel(one);
  }
}


#define SLIDERS                                                                              \
  "<mujoco><option cone='elliptic' integrator='%s' jacobian='%s'><flag "                     \
  "island='disable'/></option>"                                                              \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                      \
  "<config key='joint' value='%s'/><config key='gamma_u' value='.3'/>"                       \
  "<config key='gamma_v' value='.2'/><config key='coulomb' value='.5'/></instance></plugin>" \
  "</extension><worldbody><geom type='plane' size='9 9 1'/>%s%s</worldbody></mujoco>"
#define DOWN                                                                              \
  "<body pos='0 0 .1'><joint name='down' type='slide' axis='0 0 1' armature='.1'/><geom " \
  "size='.1'/></body>"
#define ALONG                                                                                 \
  "<body pos='0 1 .0999'><joint name='along' type='slide' axis='1 0 0' armature='.1'/><geom " \
  "size='.1'/></body>"


// without islands, rows of a contact with an elliptic cone that move nothing stay with the
// others: bodies on slides across the ground and along it move as they do alone
static void test_cones(void** state) {
  static const char* const integrators[] = {"Euler", "implicitfast", "discrete"};
  for (int k = 0; k < 6; k++) {
    const char *integrator = integrators[k % 3], *jacobian = k < 3 ? "dense" : "sparse";
    mjModel* m[3] = {makeModel(SLIDERS, integrator, jacobian, "down along", DOWN, ALONG),
                     makeModel(SLIDERS, integrator, jacobian, "down", DOWN, ""),
                     makeModel(SLIDERS, integrator, jacobian, "along", ALONG, "")};
    mjData* d[3];
    for (int i = 0; i < 3; i++) {
      d[i] = mj_makeData(m[i]);
    }
    d[0]->qvel[1] = d[2]->qvel[0] = 0.5;
    for (int step = 0; step < 300; step++) {
      for (int i = 0; i < 3; i++) {
        mj_step(m[i], d[i]);
      }
      assert_int_equal(d[0]->nefc, d[1]->nefc + d[2]->nefc);
      for (int i = 0; i < 2; i++) {
        assert_true(fabs(d[0]->qvel[i] - d[1 + i]->qvel[0]) < 1e-12);
      }
    }
    assert_true(fabs(d[0]->qvel[0]) < 1e-12 && d[0]->qvel[1] == 0 && d[0]->qpos[1] > 0.001);
    for (int i = 0; i < 3; i++) {
      mj_deleteData(d[i]);
      mj_deleteModel(m[i]);
    }
  }
  assert_int_equal(countWarnings(NULL), 0);
}


// a shaft with play between two joints, a damper on a tendon to another tree, and boxes that
// sleep: sleeping trees belong to no part, so a step leaves the boxes unchanged, where their
// solver would start too
static void test_asleep(void** state) {
  static const char* const integrators[] = {"Euler", "implicitfast", "discrete"};
  for (int k = 0; k < 3; k++) {
    mjModel* m = makeModel(
        "<mujoco><option integrator='%s'><flag sleep='enable'/></option><extension><plugin "
        "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='load'/>"
        "<config key='motor_joint' value='motor'/><config key='backlash' value='exact'/>"
        "<config key='half_gap' value='.01'/><config key='stiffness' value='500'/>"
        "<config key='damping' value='5'/><config key='gamma_u' value='.1'/>"
        "<config key='gamma_v' value='.3'/><config key='coulomb' value='.2'/></instance></plugin>"
        "</extension><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 .0995'>"
        "<joint name='load' type='slide' axis='0 0 1' armature='.1'/><geom size='.1' "
        "mass='1'/>"
        "<body pos='0 -1 .5'><joint name='motor' type='slide' axis='0 0 1' armature='.1'/>"
        "<geom size='.1' mass='1' contype='0' conaffinity='0'/></body></body>"
        "<body pos='0 3 1'><joint name='far' type='slide' axis='0 0 1' armature='.1'/>"
        "<geom size='.1' mass='1'/></body>"
        "<body pos='3 0 .1' sleep='init'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
        "<body pos='4 0 .1' sleep='init'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
        "</worldbody><tendon><fixed name='both'>"
        "<joint joint='motor' coef='1'/><joint joint='far' coef='.5'/></fixed></tendon><actuator>"
        "<motor joint='motor'/><damper tendon='both' kv='3' ctrlrange='0 1'/></actuator></mujoco>",
        integrators[k]);
    mjData* d = mj_makeData(m);
    d->ctrl[1] = 1;
    for (int step = 0; step < 60; step++) {
      d->ctrl[0] = -20 + 10 * sin(step);
      mj_step(m, d);
    }
    mj_forward(m, d);
    assert_int_equal(d->ntree_awake, 2);
    assert_true(d->nefc > 0 && fabs(d->qvel[1]) > 0.01);
    for (int i = 3; i < m->nv; i++) {
      assert_true(d->qacc_warmstart[i] == 0 && d->qacc[i] == 0 && d->qvel[i] == 0);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  assert_int_equal(countWarnings(NULL), 0);
}


// ---------------------------------- memory --------------------------------------------------------

static size_t allocated;

// a block has its size in the 64 bytes before it
static void* countingMalloc(size_t size) {
  allocated += size;
  char* block = alignedAlloc(64, 64 + ((size + 63) & ~(size_t)63));
  *(size_t*)block = size;
  return block + 64;
}


static void countingFree(void* memory) {
  if (memory) {
    char* block = (char*)memory - 64;
    allocated -= *(size_t*)block;
    alignedFree(block);
  }
}


// bytes that the plugin keeps for a mjData of n arms; stack: most of the engine's stack in a step
static size_t measure(int n, const char* integrator, const char* flags, size_t* stack) {
  size_t bytes[2], used[2];
  for (int geared = 0; geared < 2; geared++) {
    mjModel* m = makeArms(n, 0, integrator, flags, n > 1 ? TENDON : "", geared ? GEARED : "",
                          "<motor tendon='belt'/>", geared);
    allocated = 0;
    mju_user_malloc = countingMalloc;
    mju_user_free = countingFree;
    mjData* d = mj_makeData(m);
    bytes[geared] = allocated;
    for (int step = 0; step < 5; step++) {
      mj_step(m, d);
    }
    assert_true(d->nefc >= n);
    used[geared] = (size_t)d->maxuse_stack;
    mj_deleteData(d);
    mju_user_malloc = NULL;
    mju_user_free = NULL;
    mj_deleteModel(m);
  }
  *stack = used[1] - mjMIN(used[0], used[1]);
  return bytes[1] - bytes[0];
}


// memory grows with the number of robots, not with its square
static void test_memory(void** state) {
  static const char* const integrators[] = {"implicitfast", "discrete"};
  const int arms = fewer(20);
  for (int k = 0; k < 4; k++) {
    size_t stack[3], bytes[3];
    for (int i = 0; i < 3; i++) {
      bytes[i] = measure(arms << i, integrators[k / 2], k % 2 ? ONE : ISLANDS, stack + i);
    }
    printf(
        "%s, islands %s: %zu, %zu, %zu bytes for %d, %d, %d arms; %zu a gear; stack beyond the "
        "engine's own "
        "%zu, %zu, %zu\n",
        integrators[k / 2], k % 2 ? "off" : "on", bytes[0], bytes[1], bytes[2], arms, 2 * arms,
        4 * arms, bytes[2] / ((size_t)arms * 4 * JOINTS), stack[0], stack[1], stack[2]);
    assert_true((double)(bytes[2] - bytes[1]) < 2.2 * (double)(bytes[1] - bytes[0]));
    assert_true(bytes[2] / ((size_t)arms * 4 * JOINTS) < 4000);
    assert_true((double)stack[2] < 2.5 * (double)stack[1] + 1e5);
    assert_true(stack[2] / ((size_t)arms * 4 * JOINTS) < 5000);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_separate), cmocka_unit_test(test_belt),   cmocka_unit_test(test_cones),
      cmocka_unit_test(test_asleep),   cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

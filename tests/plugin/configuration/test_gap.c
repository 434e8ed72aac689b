// Every refusal of a gap's description: a line that names key and remedy.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "keys.h"
#include "plugin_models.h"


// each mistake in a line that names key and remedy
static void test_refusals(void** state) {
#define GOOD    KEY("half_gap", "0.1") KEY("stiffness", "10")
#define TORSION KEY("stiffness", "1e4") KEY("rotor_inertia", "1")
#define WITH    GOOD KEY("rotor_inertia", "1")
  const struct {
    const char *keys, *armature, *says;
  } cases[] = {
      {KEY("backlash", "exact") KEY("half_gap", "-1") KEY("stiffness", "1")
           KEY("rotor_inertia", "1"),
       "0", "half_gap must be"},
      {KEY("backlash", "exact") KEY("half_gap", "1") KEY("stiffness", "0")
           KEY("rotor_inertia", "1"),
       "0", "stiffness must be"},
      {KEY("backlash", "exact") KEY("half_gap", "1") KEY("rotor_inertia", "1"), "0",
       "stiffness must be"},
      {KEY("backlash", "exact") WITH KEY("damping", "-1"), "0", "damping must be"},
      {KEY("backlash", "rubber") WITH KEY("rubber", "0.3"), "0", "rubber must be"},
      {KEY("backlash", "hunt_crossley") WITH KEY("exponent", "0.5"), "0", "exponent must be"},
      {KEY("backlash", "exact") WITH KEY("shaft_inertia", "1"), "0", "does not use it"},
      {KEY("backlash", "deadzone") WITH KEY("damping", "1"), "0", "does not use it"},
      {KEY("backlash", "exact") GOOD, "0", "needs a rotor"},
      {KEY("backlash", "exact") GOOD KEY("rotor_inertia", "-1"), "0", "needs a rotor"},
      {KEY("backlash", "exact") GOOD KEY("rotor_inertia", "9e-16"), "0", "at least 1e-15"},
      {KEY("backlash", "exact") WITH, "0.1", "also has armature 0.1, but"},
      {KEY("backlash", "exact") GOOD KEY("motor_joint", "j"), "0", "motor of itself"},
      {KEY("backlash", "exact") GOOD KEY("motor_joint", "nobody"), "0", "not in the model"},
      {KEY("backlash", "exact") GOOD KEY("motor_joint", "s"), "0", "a hinge and a slide"},
      {KEY("backlash", "exact") GOOD KEY("motor_joint", "m m"), "0", "it has 2 names for 1 joint"},
      {KEY("backlash", "exact") WITH KEY("motor_joint", "m"), "0", "leave out one of the two"},
      {KEY("backlash", "exact") GOOD KEY("motor_joint", "m") KEY("encoder", "joint"), "0",
       "measures the joint it acts on"},
      {KEY("backlash", "exact") WITH KEY("encoder", "elsewhere"), "0", "motor, joint"},
      {KEY("backlash", "hysteresis") WITH, "0", "phase_plane"},
      {KEY("backlash", "torsion") WITH, "0", "does not use it"},
      {KEY("backlash", "torsion") TORSION KEY("torque_1", "2"), "0", "give both or neither"},
      {KEY("backlash", "torsion") TORSION KEY("hysteresis", "-1"), "0", "hysteresis must be"},
      {KEY("backlash", "exact") WITH KEY("hysteresis", "1e-3"), "0", "does not use it"},
      {KEY("backlash", "exact") WITH KEY("gamma_u", "0.1") KEY("gamma_v", "0.1")
           KEY("presliding_stiffness", "1e4"),
       "0", "leave out presliding_stiffness"},
      {KEY("gamma_u", "0.1") KEY("gamma_v", "0.1") KEY("half_gap", "1"), "0", "no backlash"},
      {KEY("gamma_u", "0.1") KEY("gamma_v", "0.1") KEY("motor_joint", "m"), "0", "no backlash"},
      {KEY("gamma_u", "0.1") KEY("gamma_v", "0.1") KEY("backlash", "none") KEY("half_gap", "1"),
       "0", "no backlash"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char error[2000] = "";
    mjModel* m = tryModel(
        error, sizeof error,
        "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
        "<config key='joint' value='j'/>%s</instance></plugin></extension><worldbody>"
        "<body><joint name='x' axis='1 0 0'/><geom size='0.1'/>"
        "<body><joint name='j' axis='0 1 0' armature='%s'/><geom size='0.1'/></body>"
        "<body><joint name='m' axis='0 1 0'/><geom size='0.1'/></body>"
        "<body><joint name='s' type='slide'/><geom size='0.1'/></body></body>"
        "<body><joint name='far' axis='0 1 0'/><geom size='0.1'/></body></worldbody></mujoco>",
        cases[i].keys, cases[i].armature);
    assert_null(m);
    if (!strstr(error, cases[i].says)) {
      fail_msg("case %d says: %s", (int)i, error);
    }
  }

  // a motor that has a gap itself, and one motor for two loads
  const char* cyclic[] = {KEY("motor_joint", "b a"), KEY("motor_joint", "m m")};
  for (int i = 0; i < 2; i++) {
    char error[2000] = "";
    mjModel* m =
        tryModel(error, sizeof error,
                 "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
                 "<config key='joint' value='a b'/>" KEY("backlash", "exact") GOOD
                 "%s</instance></plugin></extension><worldbody>"
                 "<body><joint name='x' axis='1 0 0'/><geom size='0.1'/>"
                 "<body><joint name='a' axis='0 1 0'/><geom size='0.1'/></body>"
                 "<body><joint name='b' axis='0 1 0'/><geom size='0.1'/></body>"
                 "<body><joint name='m' axis='0 1 0'/><geom size='0.1'/></body></body>"
                 "</worldbody></mujoco>",
                 cyclic[i]);
    assert_null(m);
  }
}


// one number for all joints, or one for each: the wrong one is named, with its joint
static void test_numbersOfEachJoint(void** state) {
  const struct {
    const char *half_gap, *joint;
  } cases[] = {{"0.1", NULL}, {"0.1 0.2", NULL}, {"0.1 -1", "'b'"}, {"-1 0.1", "'a'"}};
  for (int i = 0; i < 4; i++) {
    char error[2000] = "";
    mjModel* m = tryModel(
        error, sizeof error,
        "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
        "<config key='joint' value='a b'/>" KEY("backlash", "exact") KEY("stiffness", "10")
            KEY("rotor_inertia", "1") "<config key='half_gap' value='%s'/></instance></plugin>"
        "</extension><worldbody><body><joint name='a' axis='0 1 0'/><geom size='0.1'/>"
        "<body><joint name='b' axis='0 1 0'/><geom size='0.1'/></body></body></worldbody></mujoco>",
        cases[i].half_gap);
    assert_true((m != NULL) == (cases[i].joint == NULL));
    if (cases[i].joint) {
      assert_non_null(strstr(error, "half_gap must be"));
      assert_non_null(strstr(error, cases[i].joint));
    }
    mj_deleteModel(m);
  }
}


// keys of two joints of which one cannot use them: it may have 0 or none, and is named otherwise
static void test_keysOfOneJoint(void** state) {
#define PAIR KEY("half_gap", "0.1 0") KEY("stiffness", "10")
  const struct {
    const char *keys, *says;
  } cases[] = {
      {KEY("backlash", "exact deadzone") WITH KEY("damping", "1 0"), NULL},
      {KEY("backlash", "exact deadzone") WITH KEY("damping", "1 2"),
       "of joint 'b' does not use it"},
      {KEY("backlash", "exact none") PAIR KEY("motor_joint", "m none"), NULL},
      {KEY("backlash", "exact none") PAIR KEY("motor_joint", "none m"),
       "joint 'b' has no backlash"},
      {KEY("backlash", "exact none") PAIR KEY("motor_joint", "m"), "it has 1 names for 2 joints"},
      {KEY("backlash", "exact none") PAIR KEY("motor_joint", "m none") KEY("encoder", "motor"),
       "measures the joint it acts on"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char error[2000] = "";
    mjModel* m = tryModel(
        error, sizeof error,
        "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
        "<config key='joint' value='a b'/>%s</instance></plugin></extension><worldbody>"
        "<body><joint name='a' axis='0 1 0'/><geom size='0.1'/><body><joint name='b' axis='0 1 0'/>"
        "<geom size='0.1'/><body><joint name='m' axis='0 1 0'/><geom size='0.1'/></body></body>"
        "</body></worldbody></mujoco>",
        cases[i].keys);
    if ((m != NULL) != !cases[i].says || (cases[i].says && !strstr(error, cases[i].says))) {
      fail_msg("case %d says: %s", (int)i, error);
    }
    mj_deleteModel(m);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_numbersOfEachJoint),
      cmocka_unit_test(test_keysOfOneJoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

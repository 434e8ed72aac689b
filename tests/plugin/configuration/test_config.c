// Every refusal of the configuration: one line with mistake, place and remedy.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugin_models.h"

#define GOOD "joint=hinge gamma_u=0.2 gamma_v=1.05"

static const char* const frame =
    "<mujoco><option %s/><extension><plugin plugin='mjgear.transmission'>%s</plugin></extension>"
    "<worldbody><body><joint name='hinge' axis='0 1 0' armature='1'/><geom size='.1' pos='.5 0 0'/>"
    "<body><joint name='slide' type='slide'/><joint name='ball' type='ball'/><geom size='.1'/>"
    "</body></body><body><freejoint name='free'/><geom size='.1'/></body></worldbody>"
    "<actuator><motor joint='hinge'/></actuator></mujoco>";


// turn "instance: key=value key=value" into XML; values hold '+' for blanks
static void instance(char* xml, size_t size, const char* name, const char* keys) {
  char copy[500], *save = NULL;
  snprintf(copy, sizeof(copy), "%s", keys);
  snprintf(xml, size, "<instance name='%s'>", name);
  for (char* word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
    char* value = strchr(word, '=');
    *value++ = 0;
    for (char* c = value; *c; c++) {
      *c = *c == '+' ? ' ' : *c;
    }
    size_t n = strlen(xml);
    snprintf(xml + n, size - n, "<config key='%s' value='%s'/>", word, value);
  }
  strncat(xml, "</instance>", size - strlen(xml) - 1);
}


// the number of lines of a text that contain a word
static int linesWith(const char* text, const char* word) {
  int n = 0;
  for (const char* p = text; (p = strstr(p, word)); p += strcspn(p, "\n")) {
    n++;
  }
  return n;
}


// a model with the given keys is refused with all the given words in one line
static void refused(const char* option, const char* first, const char* second,
                    const char* const* words) {
  char xml[2000], more[1000] = "", error[3000] = "";
  instance(xml, sizeof(xml), "arm", first);
  if (second) {
    instance(more, sizeof(more), "leg", second);
    strncat(xml, more, sizeof(xml) - strlen(xml) - 1);
  }
  mjModel* m = tryModel(error, sizeof(error), frame, option, xml);
  if (m) {
    mj_deleteModel(m);
    fail_msg("not refused: %s", first);
  }

  // all words are in one line
  const char* line = strstr(error, words[0]);
  assert_non_null(line);
  char text[1000];
  snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
  for (int i = 0; words[i]; i++) {
    if (!strstr(text, words[i])) {
      fail_msg("'%s' is not in: %s", words[i], error);
    }
  }
  assert_true(linesWith(error, "mjgear.transmission") >= 1);
}

#define REFUSED(keys, ...) \
  refused("", keys, NULL, (const char* const[]){"mjgear.transmission", __VA_ARGS__, NULL})


static void test_good(void** state) {
  static const char* const good[] = {
      GOOD,
      "joint=hinge+slide gamma_u=0.2 gamma_v=1.05+0.3",
      "joint=slide eta_forward=0.8 eta_backward=0.5",
      "joint=slide eta_forward=0.8",
      "joint=hinge+slide type=worm+leadscrew lead_angle=0.1 pressure_angle=0.3 mu=0.1+0.2",
      "joint=slide type=leadscrew lead=0.004 pitch_diameter=0.018 mu=0.15 coulomb=3",
      "joint=hinge type=spur radius_in=.02 radius_out=.05 pressure_angle=.35 mu=.1 module=.002 "
      "mesh=1",
      "joint=hinge starting_forward=1 starting_backward=3",
      "joint=hinge motor_starting=0.01 ratio=100 starting_backward=3 static_ratio=1.3",
      "joint=hinge coulomb=1 stribeck_friction=.5 stribeck_velocity=.1 stribeck_exponent=1",
      "joint=hinge gamma_u=.3 gamma_v=0 gamma_u_stribeck=.2 gamma_v_quadratic=.01 "
      "stribeck_velocity=2",
      "joint=slide eta_forward=1 eta_backward=1",
      "joint=slide eta_forward=0.4 eta_backward=-0.3",
      GOOD " solver=gauss_seidel tolerance=1e-9 iterations=40",
  };
  for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
    char xml[1000];
    instance(xml, sizeof(xml), "arm", good[i]);
    mjModel* m = makeModel(frame, "", xml);
    mjData* d = mj_makeData(m);
    assert_non_null(d);
    mj_step(m, d);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


static void test_joints(void** state) {
  REFUSED("gamma_u=0.2 gamma_v=0.2", "'arm'", "'joint'", "list the hinge or slide joints");
  REFUSED("joint=elbow gamma_u=0.2 gamma_v=0.2", "'arm'", "'joint'", "'elbow'", "not in the model");
  REFUSED("joint=ball gamma_u=0.2 gamma_v=0.2", "'arm'", "'ball'", "a ball joint",
          "hinge or a slide");
  REFUSED("joint=free gamma_u=0.2 gamma_v=0.2", "'arm'", "'free'", "a free joint",
          "hinge or a slide");
  REFUSED("joint=hinge+hinge gamma_u=0.2 gamma_v=0.2", "'hinge' already has a gear", "once");
  refused("", GOOD, GOOD,
          (const char* const[]){"mjgear.transmission", "'leg'", "'hinge'", "'arm'",
                                "name each once", NULL});
}


// an actuator of the plugin would do nothing, and a joint and its tendon cannot both have gears
static void test_elements(void** state) {
  static const char* const text =
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='a'>"
      "<config key='joint' value='j'/>%s<config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='.1'/></instance></plugin></extension><worldbody><body>"
      "<joint name='j'/><geom size='.1'/></body></worldbody><tendon><fixed name='t'>"
      "<joint joint='j' coef='1'/></fixed></tendon><actuator>%s</actuator></mujoco>";
  char error[1000];
  const char* motor = "<motor joint='j'/>";
  mjModel* m = tryModel(error, sizeof(error), text, "", motor);
  assert_non_null(m);
  mj_deleteModel(m);
  m = tryModel(error, sizeof(error), text, "",
               "<plugin name='p' joint='j' plugin='mjgear.transmission' instance='a'/>");
  assert_null(m);
  assert_non_null(strstr(error, "actuator 'p' is a plugin"));
  m = tryModel(error, sizeof(error), text, "<config key='tendon' value='t'/>", motor);
  assert_null(m);
  assert_non_null(strstr(error, "tendon 't'"));
  m = tryModel(error, sizeof(error), text, "<config key='tendon' value='u'/>", motor);
  assert_null(m);
  assert_non_null(strstr(error, "tendon 'u' is not in the model"));
}


static void test_coefficients(void** state) {
  REFUSED("joint=hinge", "'arm'", "nothing says what the gear is", "eta_forward", "type");
  REFUSED("joint=hinge gamma_u=0.2", "'hinge'", "gamma_v is missing", "write its value");
  REFUSED("joint=hinge gamma_v=0.2", "'hinge'", "gamma_u is missing", "write its value");
  REFUSED("joint=hinge eta_backward=0.2", "'hinge'", "eta_forward is missing", "write its value");
  REFUSED(GOOD " eta_forward=0.5", "'hinge'", "gamma_u contradicts type efficiency", "remove one");
  REFUSED("joint=hinge+slide gamma_u=.1+.2+.3 gamma_v=1", "'gamma_u'",
          "it has 3 values for 2 joints");
  REFUSED("joint=hinge gamma_u=1x gamma_v=1", "'gamma_u'", "'1x' is not a number");
  REFUSED("joint=hinge gamma_u=nan gamma_v=1", "'gamma_u'", "not finite");
  REFUSED("joint=hinge gamma_u=0.1 gamma_v=inf", "'gamma_v'", "not finite");
  REFUSED("joint=hinge gamma_u=1 gamma_v=1", "'hinge'", "gamma_u = 1", "no motor can drive",
          "below 1");
  REFUSED("joint=hinge gamma_u=-1 gamma_v=2", "'hinge'", "gamma_u = -1", "above -1");
  REFUSED("joint=hinge gamma_u=0.5 gamma_v=-1", "'hinge'", "gamma_v = -1", "above -1");
  REFUSED("joint=hinge gamma_u=-0.2 gamma_v=0.1", "'hinge'", "both signs changed",
          "gamma_u = 0.2 and gamma_v = -0.1");
  REFUSED("joint=hinge eta_forward=0 eta_backward=0.5", "'hinge'", "eta_forward = 0",
          "no motor can drive", "above 0 and at most 1");
  REFUSED("joint=hinge eta_forward=-1 eta_backward=0.5", "'hinge'", "eta_forward = -1",
          "above 0 and at most 1");
  REFUSED("joint=hinge eta_forward=1.2 eta_backward=0.5", "'hinge'", "eta_forward = 1.2",
          "creates energy");
  REFUSED("joint=hinge eta_forward=0.9 eta_backward=1.5", "'hinge'", "eta_backward = 1.5",
          "creates energy");
}


// every other description of the core, one value for all joints or one per joint
static void test_descriptions(void** state) {
  REFUSED("joint=hinge type=helical mu=0.1", "'arm'", "'type'", "'helical' is unknown", "leadscrew",
          "worm", "spur");
  REFUSED("joint=hinge+slide type=worm+spur+worm", "'type'", "it has 3 values for 2 joints");
  REFUSED("joint=hinge mu=0.1", "'hinge'", "mu is given, but the type of the gear is not",
          "leadscrew");
  REFUSED("joint=hinge type=worm lead_angle=5 pressure_angle=.3 mu=.1", "'hinge'", "lead_angle = 5",
          "radians", "0.0872665");
  REFUSED("joint=hinge type=worm lead_angle=.1 pressure_angle=.3 mu=-.1", "'hinge'", "mu = -0.1",
          "at least 0");
  REFUSED("joint=hinge type=leadscrew mu=.1", "'hinge'", "lead_angle is missing", "rad");
  REFUSED("joint=hinge type=spur radius_in=.02 radius_out=.04 pressure_angle=.35 mu=.1 contact=1.6",
          "'hinge'", "contact = 1.6", "not the contact ratio");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 coulomb=-1", "'hinge'", "coulomb = -1", "at least 0");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 static_ratio=.5", "'hinge'", "static_ratio = 0.5",
          "at least 1");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 stribeck_friction=1", "'hinge'",
          "stribeck_velocity is missing", "rad/s");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 motor_coulomb=1", "'hinge'", "ratio is missing");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 armature=1", "'armature'", "attribute of the joint");
  REFUSED("joint=hinge gamma_u=.1 gamma_v=.1 motor_viscous=1", "'motor_viscous'", "damping=");
  REFUSED("joint=hinge+slide gamma_u=.1+.2 gamma_v=.1 coulomb=1+-2", "'slide'", "coulomb = -2");
}


// The engine keeps 500 characters of a plugin's message while a model is compiled: the first
// problem is complete, with the command that lists the others.
static void test_severalProblems(void** state) {
  char xml[2000], more[1000], error[3000] = "";
  instance(xml, sizeof(xml), "arm", "joint=elbow+hinge gamma_u=x gamma_v=2 solver=magic");
  instance(more, sizeof(more), "leg", "joint=slide eta_forward=-1 static_ratio=0");
  strncat(xml, more, sizeof(xml) - strlen(xml) - 1);
  assert_null(tryModel(error, sizeof(error), frame, "integrator='RK4'", xml));
  assert_true(linesWith(error, "'elbow' is not in the model; use the name of a hinge") >= 1);
  assert_true(linesWith(error, "and 5 more problems: 'mjgear check' lists them") >= 1);
}


static void test_settings(void** state) {
  REFUSED(GOOD " solver=magic", "'solver'", "'magic'", "newton", "enumeration");
  REFUSED(GOOD " tolerance=0", "'tolerance'", "between 0 and 1");
  REFUSED(GOOD " tolerance=1", "'tolerance'", "between 0 and 1");
  REFUSED(GOOD " tolerance=1e-9+1e-9", "'tolerance'", "give one");
  REFUSED(GOOD " iterations=0", "'iterations'", "positive integer");
  REFUSED(GOOD " iterations=1.5", "'iterations'", "positive integer");
  refused("", GOOD " solver=newton", "joint=slide gamma_u=0 gamma_v=0 solver=lemke",
          (const char* const[]){"mjgear.transmission", "'leg'", "'solver'", "'arm'", NULL});
  refused("", GOOD " maxiter=4", "joint=slide gamma_u=0 gamma_v=0 maxiter=5",
          (const char* const[]){"mjgear.transmission", "'leg'", "'maxiter'", "'arm'", NULL});

  // a key that does not exist is refused by the engine, which names it
  refused("", GOOD " gama_u=1", NULL, (const char* const[]){"gama_u", "mjgear.transmission", NULL});
}


static void test_integrators(void** state) {
  const char* const rk4[] = {"mjgear.transmission, instance 'arm'", "RK4", "implicitfast", NULL};
  refused("integrator='RK4'", GOOD, NULL, rk4);

  // elements that move the joints behind the solver
  const char* const noslip[] = {"mjgear.transmission, instance 'arm'", "noslip_iterations=\"0\"",
                                NULL};
  refused("noslip_iterations='1'", GOOD, NULL, noslip);
  refused("noslip_iterations='5' integrator='implicitfast' cone='elliptic'", GOOD, NULL, noslip);

  const char* const pgs[] = {"mjgear.transmission, instance 'arm'", "warmstart",
                             "solver=\"Newton\"", NULL};
  refused("solver='PGS'><flag warmstart='disable'/></option><option", GOOD, NULL, pgs);

  // changed after loading: one warning, and the simulation continues
  char xml[1000];
  const char* text;
  instance(xml, sizeof(xml), "arm", GOOD);
  mjModel* m = makeModel(frame, "", xml);
  mjData* d = mj_makeData(m);
  m->opt.integrator = mjINT_RK4;
  countWarnings(NULL);
  mj_step(m, d);
  mj_step(m, d);
  assert_int_equal(countWarnings(&text), 1);
  assert_non_null(strstr(text, "integrator"));
  mj_deleteData(d);
  mj_deleteModel(m);
}


// an unnamed instance in a body is named by that body
static void test_unnamed(void** state) {
  char error[1000] = "";
  assert_null(tryModel(
      error, sizeof(error),
      "<mujoco><extension><plugin plugin='mjgear.transmission'/></extension><worldbody>"
      "<body name='upper'><plugin plugin='mjgear.transmission'><config key='joint' value='j'/>"
      "<config key='gamma_u' value='x'/></plugin><joint name='j'/><geom size='.1'/></body>"
      "</worldbody></mujoco>"));
  assert_int_not_equal(linesWith(error, "instance 0 of body 'upper': key 'gamma_u'"), 0);
}


// a joint or tendon with frictionloss in addition to its gear: one line that names it, once a
// model
static void test_loss(void** state) {
  static const char* const text =
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='a b'/><config key='tendon' value='t'/>"
      "<config key='coulomb' value='1'/></instance></plugin></extension><worldbody>"
      "<body><joint name='a' frictionloss='%g'/><geom size='.1'/></body>"
      "<body><joint name='b' frictionloss='%g'/><geom size='.1'/></body>"
      "<body><joint name='c' frictionloss='1'/><geom size='.1'/></body></worldbody>"
      "<tendon><fixed name='t' frictionloss='%g'><joint joint='c' "
      "coef='2'/></fixed></tendon></mujoco>";
  static const struct {
    double loss[3];
    const char* words[2];
  } cases[] = {{{0, 0, 0}, {NULL, NULL}},
               {{0, 0.3, 0}, {"joint 'b' has frictionloss 0.3", "'coulomb'"}},
               {{0, 0, 0.5}, {"tendon 't' has frictionloss 0.5", "instance 'g'"}},
               {{0.2, 0.3, 0.5}, {"joint 'a' has frictionloss 0.2", "so have 2 others"}}};
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(text, cases[k].loss[0], cases[k].loss[1], cases[k].loss[2]);
    mjData *d = mj_makeData(m), *other = mj_makeData(m);
    const char* warning;
    assert_int_equal(countWarnings(&warning), k > 0);
    for (int i = 0; i < 2 && k; i++) {
      assert_non_null(strstr(warning, cases[k].words[i]));
    }
    mj_deleteData(d);
    mj_deleteData(other);
    mj_deleteModel(m);
  }

  // a gear without friction equals a joint without one: no warning beside frictionloss
  mjModel* m = makeModel(
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='a'/><config key='coulomb' value='0'/></instance></plugin>"
      "</extension><worldbody><body><joint name='a' frictionloss='1'/><geom size='.1'/></body>"
      "</worldbody></mujoco>");
  mjData* d = mj_makeData(m);
  const char* warning;
  assert_int_equal(countWarnings(&warning), 0);
  mj_deleteData(d);
  mj_deleteModel(m);

  // a gap without gear friction gives no warning either
  m = makeModel(
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='a'/><config key='backlash' value='exact'/><config "
      "key='half_gap' value='.01'/><config key='stiffness' value='100'/><config "
      "key='rotor_inertia' value='.1'/></instance></plugin></extension><worldbody><body>"
      "<joint name='a' frictionloss='1'/><geom size='.1'/></body></worldbody></mujoco>");
  d = mj_makeData(m);
  assert_int_equal(countWarnings(&warning), 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// the words in a model file
static void test_types(void** state) {
  static const char* const keys[] = {
      "<config key='type' value='planetary'/><config key='teeth_sun' value='20'/><config "
      "key='teeth_ring' "
      "value='60'/><config key='mesh_efficiency' value='0.98'/>",
      "<config key='type' value='wedge'/><config key='input_angle' value='0.1'/><config "
      "key='output_angle' "
      "value='1.4'/><config key='mu' value='0.12'/>",
      "<config key='type' value='strain_wave'/><config key='ratio' value='100'/><config "
      "key='rated_torque' "
      "value='40'/><config key='rated_efficiency' value='0.75'/><config key='no_load_torque' "
      "value='0.03'/>",
      "<config key='type' value='capstan'/><config key='wrap_angle' value='3.14'/><config key='mu' "
      "value='0.2'/>",
      "<config key='type' value='loss'/><config key='mu_avg' value='0.2'/><config key='mu_dif' "
      "value='0.1'/>",
  };
  for (int i = 0; i < 5; i++) {
    mjModel* m = makeModel(
        "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'><config "
        "key='joint' "
        "value='j'/>%s</instance></plugin></extension><worldbody><body><joint name='j' axis='0 1 "
        "0' "
        "armature='0.1'/><geom size='0.1' pos='0.3 0 0'/></body></worldbody></mujoco>",
        keys[i]);
    mjData* d = mj_makeData(m);
    for (int k = 0; k < 100; k++) {
      mj_step(m, d);
    }

    // the wedge cannot be driven back
    assert_true(isfinite(d->qvel[0]) && (d->qvel[0] == 0) == (i == 1));
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),         cmocka_unit_test(test_joints),
      cmocka_unit_test(test_elements),     cmocka_unit_test(test_coefficients),
      cmocka_unit_test(test_descriptions), cmocka_unit_test(test_severalProblems),
      cmocka_unit_test(test_settings),     cmocka_unit_test(test_integrators),
      cmocka_unit_test(test_types),        cmocka_unit_test(test_unnamed),
      cmocka_unit_test(test_loss),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

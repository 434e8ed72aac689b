// Every refusal of the configuration: one line that names what, where and the remedy.

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

  // all words stand in one line
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
  (void)state;
  static const char* const good[] = {
      GOOD,
      "joint=hinge+slide gamma_u=0.2 gamma_v=1.05+0.3",
      "joint=slide eta_forward=0.8 eta_backward=0.5",
      "joint=slide eta_forward=1 eta_backward=1",
      "joint=slide eta_forward=0.4 eta_backward=-0.3",
      GOOD " solver=gauss_seidel coupling=lagged tolerance=1e-9 iterations=40",
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
  (void)state;
  REFUSED("gamma_u=0.2 gamma_v=0.2", "'arm'", "'joint'", "list the hinge or slide joints");
  REFUSED("joint=elbow gamma_u=0.2 gamma_v=0.2", "'arm'", "'joint'", "'elbow'", "not in the model");
  REFUSED("joint=ball gamma_u=0.2 gamma_v=0.2", "'arm'", "'ball'", "a ball joint",
          "hinge or a slide");
  REFUSED("joint=free gamma_u=0.2 gamma_v=0.2", "'arm'", "'free'", "a free joint",
          "hinge or a slide");
  REFUSED("joint=hinge+hinge gamma_u=0.2 gamma_v=0.2", "'hinge' already has a gear", "once");
  refused("", GOOD, GOOD,
          (const char* const[]){"mjgear.transmission", "'leg'", "'hinge'", "'arm'",
                                "name each joint once", NULL});
}


static void test_coefficients(void** state) {
  (void)state;
  REFUSED("joint=hinge", "'gamma_u'", "missing", "eta_forward");
  REFUSED("joint=hinge gamma_u=0.2", "'gamma_v'", "missing beside 'gamma_u'");
  REFUSED("joint=hinge gamma_v=0.2", "'gamma_u'", "missing beside 'gamma_v'");
  REFUSED("joint=hinge eta_forward=0.2", "'eta_backward'", "missing beside 'eta_forward'");
  REFUSED("joint=hinge eta_backward=0.2", "'eta_forward'", "missing beside 'eta_backward'");
  REFUSED(GOOD " eta_forward=0.5", "'gamma_u'", "contradicts key 'eta_forward'", "not both");
  REFUSED("joint=hinge+slide gamma_u=.1+.2+.3 gamma_v=1", "'gamma_u'", "3 values for 2 joints");
  REFUSED("joint=hinge gamma_u=1x gamma_v=1", "'gamma_u'", "'1x' is not a number");
  REFUSED("joint=hinge gamma_u=nan gamma_v=1", "'gamma_u'", "not finite");
  REFUSED("joint=hinge gamma_u=0.1 gamma_v=inf", "'gamma_v'", "not finite");
  REFUSED("joint=hinge gamma_u=1 gamma_v=1", "'gamma_u'", "'hinge'", "motor cannot drive",
          "below 1");
  REFUSED("joint=hinge gamma_u=-1 gamma_v=2", "'gamma_u'", "'hinge'", "above -1");
  REFUSED("joint=hinge gamma_u=0.5 gamma_v=-1", "'gamma_v'", "'hinge'", "above -1");
  REFUSED("joint=hinge gamma_u=-0.2 gamma_v=0.1", "'hinge'", "sum is not negative");
  REFUSED("joint=hinge eta_forward=0 eta_backward=0.5", "'eta_forward'", "'hinge'", "(0, 1]");
  REFUSED("joint=hinge eta_forward=-1 eta_backward=0.5", "'eta_forward'", "'hinge'", "(0, 1]");
  REFUSED("joint=hinge eta_forward=1.2 eta_backward=0.5", "'eta_forward'", "creates energy");
  REFUSED("joint=hinge eta_forward=0.9 eta_backward=1.5", "'eta_backward'", "creates energy");
}


static void test_settings(void** state) {
  (void)state;
  REFUSED(GOOD " solver=magic", "'solver'", "'magic'", "newton", "enumeration");
  REFUSED(GOOD " coupling=loose", "'coupling'", "'loose'", "implicit", "lagged");
  REFUSED(GOOD " tolerance=0", "'tolerance'", "between 0 and 1");
  REFUSED(GOOD " tolerance=1e-9+1e-9", "'tolerance'", "give one");
  REFUSED(GOOD " iterations=0", "'iterations'", "positive integer");
  REFUSED(GOOD " iterations=1.5", "'iterations'", "positive integer");
  refused("", GOOD " solver=newton", "joint=slide gamma_u=0 gamma_v=0 solver=lemke",
          (const char* const[]){"mjgear.transmission", "'leg'", "'solver'", "'arm'", NULL});
  refused("", GOOD " coupling=lagged", "joint=slide gamma_u=0 gamma_v=0 coupling=implicit",
          (const char* const[]){"mjgear.transmission", "'leg'", "'coupling'", "'arm'", NULL});

  // a key that does not exist is refused by the engine, which names it
  refused("", GOOD " gama_u=1", NULL, (const char* const[]){"gama_u", "mjgear.transmission", NULL});
}


static void test_integrators(void** state) {
  (void)state;
  const char* const rk4[] = {"mjgear.transmission", "RK4", "implicitfast", NULL};
  refused("integrator='RK4'", GOOD, NULL, rk4);

  // changed after loading: said once, and the simulation goes on
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


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good),         cmocka_unit_test(test_joints),
      cmocka_unit_test(test_coefficients), cmocka_unit_test(test_settings),
      cmocka_unit_test(test_integrators),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// What plays scenes: recordings, changes of MJCF, loading and playing. A wrong reference and the runs of another gear do not pass.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "command_line.h"
#include "core/fewer.h"
#include "load.h"
#include "play.h"
#include "with_plugin.h"

//---------------------------------- claims and recordings ------------------------------------------

// rows by their times, which repeated sums make as the engine does; extremes with both ends, none with a NaN between
static void rowsAreFoundByTime(void** state) {
  mjgTrajectory t = {0};
  assert_true(mjg_addColumn(&t, "time") == 0 && mjg_addColumn(&t, "square") == 1);
  double time = 0;
  for (int i = 0; i < 3000; i++, time += 0.001) {
    double* row = mjg_addRow(&t);
    row[0] = time;
    row[1] = (double)i * i;
  }
  for (int i = 0; i < 3000; i++) {
    assert_true(mjg_at(&t, "square", 0.001 * i) == (double)i * i);
    assert_true(mjg_at(&t, "square", 0.001 * i + 0.0004) == (double)i * i);
  }
  assert_true(mjg_at(&t, "square", -5) == 0 && mjg_at(&t, "square", 50) == 2999. * 2999);
  assert_true(mjg_lowest(&t, "square", 1.0, 1.5) == 1000. * 1000);
  assert_true(mjg_highest(&t, "square", 1.0, 1.5) == 1500. * 1500);
  assert_true(isnan(mjg_at(&t, "cube", 1)) && isnan(mjg_highest(&t, "cube", 0, 1)));
  assert_true(isnan(mjg_lowest(&t, "square", 5, 6)));
  t.data[2 * 1200 + 1] = NAN;
  assert_true(isnan(mjg_lowest(&t, "square", 1.0, 1.5)));
  assert_true(mjg_highest(&t, "square", 1.3, 1.5) == 1500. * 1500);
  mjg_freeTrajectory(&t);
  assert_true(isnan(mjg_at(&t, "square", 1)));
}


//---------------------------------- text -----------------------------------------------------------

// two instances, an entry that looks like another's, and comments with tags in them
static const char* const mjcf =
    "<mujoco>\n"
    "  <!-- <instance name=\"b\"><config key=\"x\" value=\"wrong\"/></instance> -->\n"
    "  <plugin plugin=\"p\"><instance name=\"a\"><config key=\"x\" value=\"1\"/></instance>\n"
    "  <instance\n name = 'b' ><config value='2 > 1' key='x'/>\n"
    "    <!-- > --><config key=\"name\" value=\"key='y'\"/></instance></plugin>\n"
    "</mujoco>\n";


// entries of an instance are replaced or added, and the rest of the text stays; what cannot be changed is refused
static void settingsChangeText(void** state) {
  static const char* const change[][5] = {
      {"a", "x", "3 4", "value=\"1\"", "value=\"3 4\""},
      {"b", "x", "5", "'2 > 1'", "'5'"},
      {"a", "y", "7", "value=\"1\"/>", "value=\"1\"/><config key=\"y\" value=\"7\"/>"},
      {"b", "y", "7", "\"key='y'\"/>", "\"key='y'\"/><config key=\"y\" value=\"7\"/>"},
      {"plugin", "y", "7", "<plugin", "<plugin y=\"7\""},
      {"instance:b", "name", "c", "'b'", "'c'"}};
  static const char* const refused[][3] = {{NULL, "c", "1"},
                                           {NULL, "a", "\"/><evil/>"},
                                           {"<instance name=\"a\"", "a", "1"},
                                           {"<!-- <instance name=\"a\"/>", "a", "1"},
                                           {"", "a", "1"}};
  for (size_t i = 0; i < sizeof(change) / sizeof(*change); i++) {
    char error[256] = "", expected[1024];
    const char *from = change[i][3], *place = strstr(mjcf, from);
    mjgSetting setting = {change[i][0], change[i][1], change[i][2]};
    char* changed = mjg_setConfig(mjcf, &setting, error, sizeof error);
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(place - mjcf), mjcf, change[i][4],
             place + strlen(from));
    assert_string_equal(error, "");
    assert_string_equal(changed, expected);
    free(changed);
  }
  for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
    char error[256] = "";
    mjgSetting setting = {refused[i][1], "x", refused[i][2]};
    assert_null(mjg_setConfig(refused[i][0] ? refused[i][0] : mjcf, &setting, error, sizeof error));
    assert_true(strlen(error) > 0 && (i > 0 || strstr(error, "'c'")));
  }
}


//---------------------------------- scenes ---------------------------------------------------------

static mjModel* load(const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting,
                     int nsetting) {
  char error[2048] = "";
  mjModel* m = mjg_loadScene(scene, variant, setting, nsetting, error, sizeof error);
  if (!m) {
    fail_msg("%s", error);
  }
  return m;
}


static void isSet(const mjModel* m, const char* instance, const char* key, const char* value) {
  assert_string_equal(mj_getPluginConfig(m, mj_name2id(m, mjOBJ_PLUGIN, instance), key), value);
}


// names are those of files, pages find what they show, and each case loads with its settings
static void scenesAreComplete(void** state) {
  static const char* const reserved[] = {"claims", "differences", "joints", "about"};
  assert_true(mjg_nscene >= 3);
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    char path[4096];
    mjg_scenePath(path, sizeof path, scene);
    assert_ptr_equal(mjg_findScene(scene->name), scene);
    assert_int_equal(access(path, R_OK), 0);
    assert_true(scene->caption && scene->duration > 0);
    assert_true((!scene->reference || scene->tolerance > 0) && (scene->column || !scene->measure));
    assert_true(scene->moment >= 0 && scene->moment <= 1);
    assert_true(!scene->shown || mjg_findCase(scene, scene->shown));
    assert_null(strpbrk(scene->name, "/ "));
    assert_null(strpbrk(scene->caption, "\"\t\n"));
    for (int k = 0; k < scene->nvariant; k++) {
      const mjgCase* variant = &scene->variant[k];
      assert_ptr_equal(mjg_findCase(scene, variant->name), variant);
      assert_null(strpbrk(variant->name, "/ "));
      for (int r = 0; r < 4; r++) {
        assert_string_not_equal(variant->name, reserved[r]);
      }
      mjModel* m = load(scene, variant, NULL, 0);
      char text[1024], *rest = text;
      snprintf(text, sizeof text, "%s", variant->settings ? variant->settings : "");
      for (char* word; (word = strtok_r(rest, ";", &rest));) {
        mjgSetting s;
        assert_int_equal(mjg_readSetting(&s, word + strspn(word, " ")), 0);
        if (mj_name2id(m, mjOBJ_PLUGIN, s.instance) >= 0) {
          isSet(m, s.instance, s.key, s.value);
        }
      }
      mj_deleteModel(m);
    }
  }
  assert_true(!mjg_findScene("nothing") && !mjg_findCase(mjg_scenes[0], "nothing"));
}


// settings take precedence over those of a case; data start at the keyframe; each fault is one line with the word that is wrong
static void scenesAreLoaded(void** state) {
  const mjgScene* rod = mjg_findScene("rod");
  const mjgSetting setting[] = {{"gear", "gamma_v", "0.7"}, {"gear", "tolerance", "1e-9"}};
  mjModel* m = load(rod, &rod->variant[0], setting, 2);
  isSet(m, "gear", "gamma_v", "0.7");
  isSet(m, "gear", "tolerance", "1e-9");
  isSet(m, "gear", "gamma_u", "0.2");
  mjData* d = mjg_startScene(m);
  assert_true(d->qpos[0] == 0.15);
  mj_deleteData(d);
  mj_deleteModel(m);

  const struct {
    mjgScene scene;
    mjgSetting setting;
    const char* word;
  } fault[] = {
      {*rod, {"geer", "gamma_v", "1"}, "geer"},
      {*rod, {"gear", "gamma_w", "1"}, "gamma_w"},
      {*rod, {"gear", "joint", "elbow"}, "elbow"},
      {{.name = "x", .xml = "./nowhere.xml"}, {0}, "./nowhere.xml: No such file"},
      {{.name = "x", .xml = MJGEAR_SOURCE_DIR "/scenes/scene.h"}, {0}, "XML"},
  };
  char error[2048] = "";
  for (size_t i = 0; i < sizeof(fault) / sizeof(*fault); i++) {
    assert_null(
        mjg_loadScene(&fault[i].scene, NULL, &fault[i].setting, i < 3, error, sizeof error));
    assert_true(!strchr(error, '\n') && strstr(error, fault[i].word));
  }
  assert_int_equal(mjg_loadPlugin("/nowhere.so", error, sizeof error), -1);
  assert_non_null(strstr(error, "/nowhere.so"));
}


static void timesAreReached(void** state) {
  double time = 0;
  for (int i = 0; i < 900; i++, time += 0.001) {
    assert_false(mjg_reached(time, 0.9));
  }
  assert_true(time != 0.9 && mjg_reached(time, 0.9));
}


//---------------------------------- playing --------------------------------------------------------

#define FORCE(time) ((time) < 0.5 ? 40.0 : 0.0)

static double fault = 0;  // added to the reference's velocity in each step


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  (void)variant;
  d->ctrl[0] = FORCE(d->time);
}


static void measure(double* value, const mjModel* m, const mjData* d) {
  (void)m;
  value[2] = 2 * d->xpos[5];
}


// a mass of 2 kg under 10 m/s2 of gravity
static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  (void)variant;
  v[0] += m->opt.timestep * (FORCE(time) / 2 - 10) + fault;
  q[0] += m->opt.timestep * v[0];
  return 0;
}


static const mjgScene slider = {.name = "slider",
                                .xml = MJGEAR_SOURCE_DIR "/tests/data/slider.xml",
                                .input = input,
                                .column = "height=body:mass.z nowhere=geom:none.x mine",
                                .measure = measure,
                                .reference = reference};


// play a case for a time, with a bad velocity at its end where asked for; returns the largest difference from the reference
static double play(mjgPlay* play, const mjgScene* scene, const mjgCase* variant,
                   const mjgSetting* setting, double duration, int compare, int breaks) {
  char error[2048] = "";
  mjModel* m = load(scene, variant, setting, setting != NULL);
  mjData* d = mjg_startScene(m);
  assert_int_equal(mjg_openPlay(play, scene, variant, m, d, compare, error, sizeof error), 0);
  while (d->time < duration - m->opt.timestep / 2) {
    assert_int_equal(mjg_stepPlay(play, error, sizeof error), 0);
  }
  if (breaks) {
    d->qvel[0] = NAN;
    assert_int_equal(mjg_stepPlay(play, error, sizeof error), -1);
    assert_non_null(strstr(error, "0.01 s"));
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  return play->difference;
}


// the first row is the keyframe, with the force that acts from there on; what has no object is no number
static void stateThenForceAreRecorded(void** state) {
  mjgPlay one;
  assert_true(play(&one, &slider, NULL, NULL, 1, 1, 0) < 1e-12);
  const mjgTrajectory* t = &one.trajectory;
  const char* const names[] = {"time",           "q_slide", "v_slide", "motor_slide",
                               "friction_slide", "place_0", "place_1", "place_2",
                               "height",         "nowhere", "mine",    "difference"};
  assert_true(t->ncolumn == 12 && t->nrow == 100);
  for (int i = 0; i < 12; i++) {
    assert_string_equal(t->name[i], names[i]);
  }
  assert_true(mjg_at(t, "q_slide", 0) == 3 && mjg_at(t, "v_slide", 0) == -1);
  assert_true(mjg_at(t, "motor_slide", 0) == 40 && mjg_at(t, "motor_slide", 0.6) == 0);
  assert_true(fabs(mjg_at(t, "v_slide", 0.5) - (-1 + 10 * 0.5)) < 1e-12);
  for (int i = 0; i < 100; i++) {
    const double* row = t->data + 12 * i;
    assert_true(isnan(row[4]) && row[5] == 0 && row[6] == 0);
    assert_true(row[7] == row[1] && row[8] == row[1] && isnan(row[9]) && row[10] == 2 * row[1]);
  }
  mjg_closePlay(&one);
}


// differences from a wrong reference are seen, and none is where nothing is compared; what the engine gives up ends with a line
static void aWrongReferenceIsSeen(void** state) {
  mjgPlay one;
  fault = 1e-9;
  double difference = play(&one, &slider, NULL, NULL, 1, 1, 0);
  assert_true(difference > 0.9e-7 && difference < 1.1e-7);
  assert_true(mjg_at(&one.trajectory, "difference", 0.495) > 4e-8);
  mjg_closePlay(&one);
  fault = NAN;
  assert_true(isinf(play(&one, &slider, NULL, NULL, 1, 1, 0)));
  mjg_closePlay(&one);
  assert_true(play(&one, &slider, NULL, NULL, 1, 0, 0) == 0);
  mjg_closePlay(&one);
  fault = 0;
  play(&one, &slider, NULL, NULL, 0.01, 1, 1);
  mjg_closePlay(&one);
}


#define MAXCASE 16

// number of claims that fail for the given runs
static int failures(const mjgScene* scene, const mjgTrajectory* run) {
  mjgClaims claims = {0};
  mjg_claimAll(&claims, scene, run);
  int n = claims.nfailed;
  assert_true(claims.n > 0);
  mjg_freeClaims(&claims);
  return n;
}


// claims hold for the engine's runs; another gear, or the same in all cases, cannot support them
static void claimsNeedTheirRuns(void** state) {
  static const struct {
    const char* name;
    mjgSetting other;
  } row[] = {{"rod", {0}},
             {"wall", {0}},
             {"wall-contact", {0}},
             {"two-loads", {0}},
             {"convergence", {0}},
             {"gripper", {"screw", "mu", "0.02"}},
             {"arm", {"worm", "mu", "0.02"}},
             {"humanoid", {"legs", "gamma_v", "0.4"}}};
  const int rows = fewer(sizeof(row) / sizeof(*row));
  for (int s = 0; s < rows; s++) {
    const mjgScene* scene = mjg_findScene(row[s].name);
    int n = scene->nvariant ? scene->nvariant : 1, flg_other = row[s].other.key != NULL;
    assert_true(n <= MAXCASE && (n > 3 || flg_other));
    mjgPlay played[MAXCASE];
    mjgTrajectory run[MAXCASE], wrong[MAXCASE];
    for (int other = 0; other <= flg_other; other++) {
      const mjgSetting* setting = other ? &row[s].other : NULL;
      for (int i = 0; i < n; i++) {
        const mjgCase* variant = scene->nvariant ? &scene->variant[i] : NULL;
        double off = play(&played[i], scene, variant, setting, scene->duration, 1, 0);
        assert_true(off <= scene->tolerance);
        run[i] = played[i].trajectory;
      }
      assert_int_equal(failures(scene, run) > 0, other);
      for (int k = 0; k < n && !flg_other; k++) {
        for (int i = 0; i < n; i++) {
          wrong[i] = run[k];
          wrong[i].variant = &scene->variant[i];
        }
        assert_true(failures(scene, wrong) > 0);
      }
      for (int i = 0; i < n; i++) {
        mjg_closePlay(&played[i]);
      }
    }
  }
}


static void ignore(const char* warning) {
  (void)warning;
}


int main(void) {
  mju_user_warning = ignore;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rowsAreFoundByTime),    cmocka_unit_test(settingsChangeText),
      cmocka_unit_test(scenesAreComplete),     cmocka_unit_test(scenesAreLoaded),
      cmocka_unit_test(timesAreReached),       cmocka_unit_test(stateThenForceAreRecorded),
      cmocka_unit_test(aWrongReferenceIsSeen), cmocka_unit_test(claimsNeedTheirRuns),
  };
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

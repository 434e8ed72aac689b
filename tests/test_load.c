// Loading the plugin and scenes: settings arrive in the model, and every fault is one line.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "with_plugin.h"

// 1 if the gears of an instance have this configuration
static int hasSetting(const mjModel* m, const char* instance, const char* key, const char* value) {
  const char* found = mj_getPluginConfig(m, mj_name2id(m, mjOBJ_PLUGIN, instance), key);
  return found && !strcmp(found, value);
}


// load, or fail with the loader's message
static mjModel* load(const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting,
                     int nsetting) {
  char error[2048] = "";
  mjModel* m = mjg_loadScene(scene, variant, setting, nsetting, error, sizeof error);
  if (!m) {
    fail_msg("%s", error);
  }
  return m;
}


static void every_case_loads_with_its_settings(void** state) {
  (void)state;
  for (int i = 0; i < mjg_nscene; i++) {
    for (int k = 0; k < mjg_scenes[i]->nvariant; k++) {
      const mjgCase* variant = &mjg_scenes[i]->variant[k];
      mjModel* m = load(mjg_scenes[i], variant, NULL, 0);
      for (int s = 0; s < mjgMAXSETTING && variant->setting[s].instance; s++) {
        const mjgSetting* given = &variant->setting[s];
        assert_true(hasSetting(m, given->instance, given->key, given->value));
      }
      mj_deleteModel(m);
    }
  }
}


static void settings_take_precedence(void** state) {
  (void)state;
  const mjgScene* rod = mjg_findScene("rod");
  assert_non_null(rod);
  const mjgSetting setting[] = {{"gear", "gamma_v", "0.7"}, {"gear", "tolerance", "1e-9"}};
  mjModel* m = load(rod, &rod->variant[0], setting, 2);
  assert_true(hasSetting(m, "gear", "gamma_v", "0.7"));
  assert_true(hasSetting(m, "gear", "tolerance", "1e-9"));
  assert_true(hasSetting(m, "gear", "gamma_u", "0.2"));
  mj_deleteModel(m);
}


// loading fails with one line that has that word in it
static void refused(const mjgScene* scene, const mjgSetting* setting, const char* word) {
  char error[2048] = "";
  assert_null(mjg_loadScene(scene, NULL, setting, setting != NULL, error, sizeof error));
  assert_null(strchr(error, '\n'));
  if (!strstr(error, word)) {
    fail_msg("'%s' is not in: %s", word, error);
  }
}


static void faults_are_one_line(void** state) {
  (void)state;
  const mjgScene* rod = mjg_findScene("rod");
  refused(rod, &(mjgSetting){"geer", "gamma_v", "1"}, "geer");
  refused(rod, &(mjgSetting){"gear", "gamma_w", "1"}, "gamma_w");
  refused(rod, &(mjgSetting){"gear", "joint", "elbow"}, "elbow");
  refused(&(mjgScene){.name = "x", .xml = "./nowhere.xml"}, NULL, "./nowhere.xml: No such file");
  refused(&(mjgScene){.name = "x", .xml = MJGEAR_SOURCE_DIR "/scenes/scene.h"}, NULL, "XML");

  char error[2048] = "";
  assert_int_equal(mjg_loadPlugin("/nowhere.so", error, sizeof error), -1);
  assert_non_null(strstr(error, "/nowhere.so"));
}


static void starts_at_the_keyframe(void** state) {
  (void)state;
  mjModel* m = load(mjg_findScene("rod"), NULL, NULL, 0);
  mjData* d = mjg_startScene(m);
  assert_true(d->qpos[0] == 0.15);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void ignore(const char* warning) {
  (void)warning;
}


int main(void) {
  mju_user_warning = ignore;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_loads_with_its_settings),
      cmocka_unit_test(settings_take_precedence),
      cmocka_unit_test(faults_are_one_line),
      cmocka_unit_test(starts_at_the_keyframe),
  };
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

#include "plugin_models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int warnings;
static char warning_text[1000];


static void onWarning(const char* text) {
  warnings++;
  snprintf(warning_text, sizeof(warning_text), "%s", text);
}


void loadPlugin(void) {
  mju_user_warning = onWarning;
  if (!mjp_getPlugin("mjgear.transmission", NULL)) {
    mj_loadPluginLibrary(MJGEAR_PLUGIN_PATH);
  }
  assert_non_null(mjp_getPlugin("mjgear.transmission", NULL));
}


static mjModel* compile(char* error, int error_size, const char* format, va_list args) {
  static char xml[40000];
  int length = vsnprintf(xml, sizeof(xml), format, args);
  assert_in_range(length, 1, sizeof(xml) - 1);
  mjSpec* spec = mj_parseXMLString(xml, NULL, error, error_size);
  if (!spec) {
    return NULL;
  }
  mjModel* m = mj_compile(spec, NULL);
  if (!m) {
    snprintf(error, (size_t)error_size, "%s", mjs_getError(spec));
  }
  mj_deleteSpec(spec);
  return m;
}


mjModel* tryModel(char* error, int error_size, const char* format, ...) {
  loadPlugin();
  va_list args;
  va_start(args, format);
  mjModel* m = compile(error, error_size, format, args);
  va_end(args);
  return m;
}


mjModel* makeModel(const char* format, ...) {
  char error[2000] = "";
  loadPlugin();
  va_list args;
  va_start(args, format);
  mjModel* m = compile(error, sizeof(error), format, args);
  va_end(args);
  if (!m) {
    fail_msg("model refused: %s", error);
  }
  return m;
}


int dofOf(const mjModel* m, const char* joint) {
  int id = mj_name2id(m, mjOBJ_JOINT, joint);
  assert_true(id >= 0);
  return m->jnt_dofadr[id];
}


double frictionOf(const mjModel* m, const mjData* d, const char* instance, int index) {
  int id = mj_name2id(m, mjOBJ_PLUGIN, instance);
  assert_true(id >= 0);
  return d->plugin_state[m->plugin_stateadr[id] + index];
}


int countWarnings(const char** text) {
  int count = warnings;
  warnings = 0;
  if (text) {
    *text = warning_text;
  }
  return count;
}

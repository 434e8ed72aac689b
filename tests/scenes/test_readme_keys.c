// doc/mjcf.md names every key that the plugin takes, with its unit.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "mjgear_text.h"
#include "with_plugin.h"

static char text[200000];


static void names_every_key_with_its_unit(void** state) {
  FILE* file = fopen(MJGEAR_SOURCE_DIR "/doc/mjcf.md", "r");
  assert_non_null(file);
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  assert_true(size > 0 && size < sizeof text - 1);

  int slot;
  const mjpPlugin* plugin = mjp_getPlugin(*state, &slot);
  assert_non_null(plugin);
  for (int i = 0; i < plugin->nattribute; i++) {
    const char* key = plugin->attributes[i];
    int known = mjg_keyFromName(key);
    const mjgKeyInfo* info = known >= 0 ? mjg_keyInfo(known) : NULL;

    // keys of the engine are in a sentence, others in a row of a table
    char row[200];
    if (!info) {
      snprintf(row, sizeof row, "| `%s` | ", key);
    } else if (info->engine) {
      snprintf(row, sizeof row, "`%s`", key);
    } else {
      snprintf(row, sizeof row, "| `%s` | %s |", key, info->unit);
    }
    if (!strstr(text, row)) {
      fail_msg("doc/mjcf.md lacks %s", row);
    }
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(names_every_key_with_its_unit, "mjgear.transmission"),
      cmocka_unit_test_prestate(names_every_key_with_its_unit, "mjgear.brake")};
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}

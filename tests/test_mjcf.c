// Changes to MJCF text: replaced, added and refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mjcf.h"

// two instances, an entry that looks like another's, and comments with tags in them
static const char* const text =
    "<mujoco>\n"
    "  <!-- <instance name=\"b\"><config key=\"x\" value=\"wrong\"/></instance> -->\n"
    "  <plugin plugin=\"p\"><instance name=\"a\"><config key=\"x\" value=\"1\"/></instance>\n"
    "  <instance\n name = 'b' ><config value='2 > 1' key='x'/>\n"
    "    <!-- > --><config key=\"name\" value=\"key='y'\"/></instance></plugin>\n"
    "</mujoco>\n";


// change one entry and compare with the text in which `from` is replaced by `to` once
static void check(const char* instance, const char* key, const char* value, const char* from,
                  const char* to) {
  char error[256] = "";
  char* changed = mjg_setConfig(text, &(mjgSetting){instance, key, value}, error, sizeof error);
  assert_string_equal(error, "");
  assert_non_null(changed);
  const char* place = strstr(text, from);
  assert_non_null(place);
  char expected[1024];
  snprintf(expected, sizeof expected, "%.*s%s%s", (int)(place - text), text, to,
           place + strlen(from));
  assert_string_equal(changed, expected);
  free(changed);
}


static void replaces_the_entry_of_that_instance(void** state) {
  (void)state;
  check("a", "x", "3 4", "value=\"1\"", "value=\"3 4\"");
  check("b", "x", "5", "'2 > 1'", "'5'");
}


static void adds_an_entry_that_is_not_there(void** state) {
  (void)state;
  check("a", "y", "7", "value=\"1\"/>", "value=\"1\"/><config key=\"y\" value=\"7\"/>");
  check("b", "y", "7", "\"key='y'\"/>", "\"key='y'\"/><config key=\"y\" value=\"7\"/>");
}


static void refuses_what_it_cannot_do(void** state) {
  (void)state;
  char error[256];
  assert_null(mjg_setConfig(text, &(mjgSetting){"c", "x", "1"}, error, sizeof error));
  assert_non_null(strstr(error, "'c'"));
  assert_null(mjg_setConfig(text, &(mjgSetting){"a", "x", "\"/><evil/>"}, error, sizeof error));
  assert_null(mjg_setConfig("<instance name=\"a\"", &(mjgSetting){"a", "x", "1"}, error, 256));
  assert_null(
      mjg_setConfig("<!-- <instance name=\"a\"/>", &(mjgSetting){"a", "x", "1"}, error, 256));
  assert_null(mjg_setConfig("", &(mjgSetting){"a", "x", "1"}, error, 256));
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replaces_the_entry_of_that_instance),
      cmocka_unit_test(adds_an_entry_that_is_not_there),
      cmocka_unit_test(refuses_what_it_cannot_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

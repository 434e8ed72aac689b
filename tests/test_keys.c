// names of keys and types, and the report that collects what is wrong

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear_params.h"


static void test_keyTable(void** state) {
  (void)state;
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    assert_non_null(info->name);
    assert_true(strlen(info->name) > 1 && strlen(info->unit) > 0 && strlen(info->text) > 3);
    assert_true(info->min < info->max);
    assert_int_equal(mjg_keyFromName(info->name), key);
    assert_int_equal(mjg_keyNearest(info->name), key);
  }
  assert_null(mjg_keyInfo(-1));
  assert_null(mjg_keyInfo(mjgNKEY));
  assert_int_equal(mjg_keyFromName("gamma"), -1);
  assert_int_equal(mjg_keyFromName(NULL), -1);
}


static void test_nearestKey(void** state) {
  (void)state;
  assert_int_equal(mjg_keyNearest("gama_v"), mjgKEY_GAMMA_V);
  assert_int_equal(mjg_keyNearest("eta_foward"), mjgKEY_ETA_FORWARD);
  assert_int_equal(mjg_keyNearest("columb"), mjgKEY_COULOMB);
  assert_int_equal(mjg_keyNearest("staticratio"), mjgKEY_STATIC_RATIO);
  assert_int_equal(mjg_keyNearest("colour"), -1);
  assert_int_equal(mjg_keyNearest(""), -1);
  assert_int_equal(mjg_keyNearest(NULL), -1);
  assert_int_equal(mjg_keyNearest("a_name_that_is_longer_than_any_key_has"), -1);
}


static void test_types(void** state) {
  (void)state;
  for (int type = 0; type < mjgNTYPE; type++) {
    assert_int_equal(mjg_typeFromName(mjg_typeName(type)), type);
  }
  assert_null(mjg_typeName(mjgNTYPE));
  assert_int_equal(mjg_typeFromName("helical"), -1);
  assert_int_equal(mjg_typeFromName(NULL), -1);
}


// lines are cut, never written past the end; the count stays right
static void test_report(void** state) {
  (void)state;
  char text[24];
  memset(text, 'x', sizeof(text));
  mjgReport report;
  mjg_startReport(&report, text, 20);
  assert_string_equal(text, "");
  mjg_refuse(&report, "key %s", "a");
  report.where = "here";
  mjg_refuse(&report, "key %s", "b");
  assert_string_equal(text, "key a\nhere: key b\n");
  mjg_refuse(&report, "one more");
  mjg_refuse(&report, "and another");
  assert_int_equal(report.count, 4);
  assert_string_equal(text, "key a\nhere: key b\nh");
  assert_int_equal(text[20], 'x');

  // without memory it counts
  mjg_startReport(&report, NULL, 100);
  mjg_refuse(&report, "nothing");
  assert_int_equal(report.count, 1);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keyTable),
      cmocka_unit_test(test_nearestKey),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_report),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// names of keys and types, and the report that collects mistakes

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "system.h"

#include "mjgear_text.h"


static void test_keyTable(void** state) {
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
  assert_int_equal(mjg_keyNearest("gama_v"), mjgKEY_GAMMA_V);
  assert_int_equal(mjg_keyNearest("eta_foward"), mjgKEY_ETA_FORWARD);
  assert_int_equal(mjg_keyNearest("columb"), mjgKEY_COULOMB);
  assert_int_equal(mjg_keyNearest("staticratio"), mjgKEY_STATIC_RATIO);
  assert_int_equal(mjg_keyNearest("colour"), -1);
  assert_int_equal(mjg_keyNearest("strib"), mjgKEY_STRIBECK_FRICTION);  // the first that begins so
  assert_int_equal(mjg_keyNearest("st"), -1);
  assert_int_equal(mjg_keyNearest(""), -1);
  assert_int_equal(mjg_keyNearest(NULL), -1);
  assert_int_equal(mjg_keyNearest("a_name_that_is_longer_than_any_key_has"), -1);
}


static void test_types(void** state) {
  for (int type = 0; type < mjgNTYPE; type++) {
    assert_int_equal(mjg_typeFromName(mjg_typeName(type)), type);
  }
  assert_null(mjg_typeName(mjgNTYPE));
  assert_int_equal(mjg_typeFromName("helical"), -1);
  assert_int_equal(mjg_typeFromName(NULL), -1);
}


// lines are cut, never written past the end; the count stays right
static void test_report(void** state) {
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
  text[0] = 'x';
  mjg_startReport(&report, text, 0);
  mjg_refuse(&report, "nothing");
  assert_true(report.count == 1 && text[0] == 'x');
}


// an unknown key leaves a description unchanged
static void test_giveUnknownKey(void** state) {
  static mjgDescription before, room[3];
  mjg_defaultDescription(&before);
  memset(room, 1, sizeof(room));
  mjg_defaultDescription(room + 1);
  mjg_give(room + 1, -1, 5);
  mjg_give(room + 1, mjgNKEY, 5);
  mjg_give(room + 1, mjg_keyFromName("no such key"), 5);
  assert_memory_equal(room + 1, &before, sizeof(before));
  const unsigned char *outside = (const unsigned char*)room,
                      *behind = (const unsigned char*)(room + 2);
  for (size_t i = 0; i < sizeof(before); i++) {
    assert_int_equal(outside[i], 1);
    assert_int_equal(behind[i], 1);
  }
}


// numbers have a decimal point in any locale
static void test_locale(void** state) {
  if (!enterGerman()) {
    skip();
  }
  char text[100];
  snprintf(text, sizeof(text), "%.1f", 0.5);
  assert_string_equal(text, "0,5");
  const char* end;
  assert_true(mjg_readNumber("0.5", &end) == 0.5 && !*end);
  assert_true(mjg_readNumber("-1.25e-3 next", &end) == -1.25e-3);
  assert_string_equal(end, " next");
  assert_true(mjg_readNumber("0,5", &end) == 0);
  assert_string_equal(end, ",5");
  const char* word = "none";
  mjg_readNumber(word, &end);
  assert_ptr_equal(end, word);
  assert_true(mjg_readNumber("7.5", NULL) == 7.5);
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  mjg_refuse(&report, "gamma_u = %g", 1.5);
  assert_string_equal(text, "gamma_u = 1.5\n");

  // and the setting of the process stays
  snprintf(text, sizeof(text), "%.1f", 0.5);
  assert_string_equal(text, "0,5");
  setlocale(LC_ALL, "C");
}


// incomplete or invalid UTF-8 is refused
static void lettersAreWhole(void** state) {
  static const char* const wrong[][2] = {{"a\xc3", "a?\n"},
                                         {"\xc3\xa9", "\xc3\xa9\n"},
                                         {"\xe2\x82z", "??z\n"},
                                         {"\xff\x80x", "??x\n"},
                                         {"\xf0\x9f\x98", "???\n"},
                                         {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80\n"},
                                         {"\xe2\x82\xac", "\xe2\x82\xac\n"}};
  char text[12];
  mjgReport report;
  for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
    mjg_startReport(&report, text, sizeof(text));
    mjg_refuse(&report, "%s", wrong[k][0]);
    assert_string_equal(text, wrong[k][1]);
  }

  // cut by its own buffer
  char small[4];
  mjg_startReport(&report, small, sizeof(small));
  mjg_refuse(&report, "ab\xc3\xa9");
  assert_string_equal(small, "ab?");
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lettersAreWhole),     cmocka_unit_test(test_keyTable),
      cmocka_unit_test(test_giveUnknownKey), cmocka_unit_test(test_locale),
      cmocka_unit_test(test_nearestKey),     cmocka_unit_test(test_types),
      cmocka_unit_test(test_report),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// tables as text: accepted ones, and refusals in one line each

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear_text.h"


static void test_names(void** state) {
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    assert_int_equal(mjg_tableFromName(mjg_tableName(kind)), kind);
    assert_int_equal(mjg_keyFromName(mjg_tableName(kind)), -1);
  }
  assert_null(mjg_tableName(-1));
  assert_null(mjg_tableName(mjgNTABLE));
  assert_int_equal(mjg_tableFromName("coulomb"), -1);
  assert_int_equal(mjg_tableFromName(NULL), -1);
}


static void test_reading(void** state) {
  mjgTable table;
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  assert_int_equal(
      mjg_readTable(&table, &report, mjgTABLE_COULOMB_TEMPERATURE, " -10 3,20 1;\n40 0.5 "), 0);
  assert_int_equal(table.n, 3);
  assert_true(table.x[0] == -10 && table.x[1] == 20 && table.x[2] == 40);
  assert_true(table.factor[0] == 3 && table.factor[1] == 1 && table.factor[2] == 0.5);
  char text[400] = "";
  for (int k = 0; k < mjgMAXPOINT; k++) {
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d %d ", k, 2 * k);
  }
  assert_int_equal(mjg_readTable(&table, &report, mjgTABLE_GAMMA_TORQUE, text), 0);
  assert_int_equal(table.n, mjgMAXPOINT);
  assert_true(table.x[mjgMAXPOINT - 1] == 7 && table.factor[mjgMAXPOINT - 1] == 14);
  assert_int_equal(report.count, 0);
  strcat(text, "99 1");
  const struct {
    const char *text, *word;
  } wrong[] = {{"", "empty"},           {" , ", "empty"},         {"0", "without a factor"},
               {"0 1 2", "without"},    {"0 1 2 -1", "negative"}, {"0 1 0 2", "order"},
               {"1 1 0 2", "order"},    {"-1 1", "below 0"},      {"0 1 x 2", "no number"},
               {"0 1 2rpm 2", "units"}, {"0 nan", "finite"},      {"0 1 inf 2", "finite"},
               {text, "8 points"}};
  const mjgTable before = table;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    char lines[500];
    mjg_startReport(&report, lines, sizeof(lines));
    assert_int_equal(mjg_readTable(&table, &report, mjgTABLE_COULOMB_SPEED, wrong[i].text), -1);
    assert_int_equal(report.count, 1);
    if (!strstr(lines, wrong[i].word) || !strstr(lines, "coulomb_speed") || !strchr(lines, ';')) {
      fail_msg("'%s': %s", wrong[i].text, lines);
    }
    assert_memory_equal(&table, &before, sizeof(table));
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_reading)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

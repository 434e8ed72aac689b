// Recorded motions: look-up by time, extremes, and the text that is written.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "trajectory.h"


// 0, 0.001, ... by repeated sums, as the engine does it; second column is the square of the row
static mjgTrajectory squares(int n) {
  mjgTrajectory t = {0};
  assert_int_equal(mjg_addColumn(&t, "time"), 0);
  assert_int_equal(mjg_addColumn(&t, "square"), 1);
  double time = 0;
  for (int i = 0; i < n; i++) {
    double* row = mjg_addRow(&t);
    assert_non_null(row);
    row[0] = time;
    row[1] = (double)i * i;
    time += 0.001;
  }
  return t;
}


static void finds_rows_by_time(void** state) {
  (void)state;
  mjgTrajectory t = squares(3000);
  assert_int_equal(t.nrow, 3000);
  for (int i = 0; i < 3000; i++) {
    assert_true(mjg_at(&t, "square", 0.001 * i) == (double)i * i);
    assert_true(mjg_at(&t, "square", 0.001 * i + 0.0004) == (double)i * i);
  }
  assert_true(mjg_at(&t, "square", -5) == 0);
  assert_true(mjg_at(&t, "square", 50) == 2999. * 2999);
  assert_true(isnan(mjg_at(&t, "cube", 1)));
  mjg_freeTrajectory(&t);
  assert_true(isnan(mjg_at(&t, "square", 1)));
}


static void finds_extremes_with_both_ends(void** state) {
  (void)state;
  mjgTrajectory t = squares(2000);
  assert_true(mjg_lowest(&t, "square", 1.0, 1.5) == 1000. * 1000);
  assert_true(mjg_highest(&t, "square", 1.0, 1.5) == 1500. * 1500);
  assert_true(isnan(mjg_lowest(&t, "square", 5, 6)));
  assert_true(isnan(mjg_highest(&t, "cube", 0, 1)));

  // NaN is not accepted
  t.data[2 * 1200 + 1] = NAN;
  assert_true(isnan(mjg_lowest(&t, "square", 1.0, 1.5)));
  assert_true(mjg_highest(&t, "square", 1.3, 1.5) == 1500. * 1500);
  mjg_freeTrajectory(&t);
}


static void writes_every_digit(void** state) {
  (void)state;
  mjgTrajectory t = {0};
  mjg_addColumn(&t, "time");
  mjg_addColumn(&t, "a,\"b\"");
  double* row = mjg_addRow(&t);
  row[0] = 0.5;
  row[1] = 0.1 + 0.2;
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  mjg_writeNames(&t, file);
  mjg_writeLastRow(&t, file);
  assert_int_equal(fclose(file), 0);
  assert_string_equal(text, "time,\"a,\"\"b\"\"\"\n0.5,0.30000000000000004\n");
  free(text);

  // rows are forgotten, columns are not
  mjg_clearRows(&t);
  assert_int_equal(t.nrow, 0);
  row = mjg_addRow(&t);
  assert_true(row[0] == 0 && mjg_at(&t, "time", 7) == 0);
  mjg_freeTrajectory(&t);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_rows_by_time),
      cmocka_unit_test(finds_extremes_with_both_ends),
      cmocka_unit_test(writes_every_digit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

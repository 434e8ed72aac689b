// every status has a text

#include <string.h>

#include "fixture.h"


static void lines(void** state) {
  for (int a = mjgERR_SIZE; a <= mjgITERATION_LIMIT; a++) {
    assert_true(strlen(mjg_statusString(a)) > 5);
    assert_string_not_equal(mjg_statusString(a), "unknown status");
    for (int b = mjgERR_SIZE; b < a; b++) {
      assert_string_not_equal(mjg_statusString(a), mjg_statusString(b));
    }
  }
  assert_string_equal(mjg_statusString(mjgITERATION_LIMIT + 1), "unknown status");
  assert_string_equal(mjg_statusString(-99), "unknown status");
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

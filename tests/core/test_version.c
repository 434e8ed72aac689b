// the version of the headers equals the version of the library

#include "fixture.h"
#include "mjgear_version.h"


static void same(void** state) {
  assert_string_equal(mjg_version(), MJGEAR_VERSION);
  int major, minor, patch, length = 0;
  assert_int_equal(sscanf(mjg_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
  assert_true(major >= 0 && minor >= 0 && patch >= 0 && !mjg_version()[length]);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The paper's projection: it finds the solution if its fixed point converges; otherwise it reports
// that it did not

#include "against_oracle.h"


static void wellPosed(void** state) {
  assert_int_equal(againstOracle(mjgPROJECTION, 0.4, 200, 1e-8), 0);
}


static void illPosed(void** state) {
  assert_true(againstOracle(mjgPROJECTION, 2, 60, 1e-6) < 60);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wellPosed), cmocka_unit_test(illPosed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

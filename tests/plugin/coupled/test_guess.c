// Guessed pieces, against all solutions of steps of two joints

#include "two_joints.h"


// where each gear can be driven back there is one solution; from states that are not near a guess is right now and then
static void test_guess(void** state) {
  (void)state;
  Sum sum = run(GUESS, 1);
  assert_true(sum.solved > sum.steps / 8);
  assert_int_equal(sum.several, 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_guess)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

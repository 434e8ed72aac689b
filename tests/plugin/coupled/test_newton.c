// Newton on pieces and states, against all solutions of steps of two joints

#include "two_joints.h"


// gears that can be driven back: one solution, found by Newton alone nearly always from states that are not near
static void test_unique(void** state) {
  (void)state;
  Sum sum = run(NEWTON, 1, 1);
  assert_true(sum.solved >= 0.95 * sum.steps);
  assert_int_equal(sum.several, 0);
}


// gears that lock, of which several solutions may exist: what is found is one of them. With static friction besides the
// dense problem is asked
static void test_locking(void** state) {
  (void)state;
  Sum lock = run(NEWTON, 1, 0), sticks = run(DENSE, 1.6, 0);
  assert_true(lock.solved >= 0.8 * lock.steps);
  assert_true(sticks.solved >= 0.8 * sticks.steps);
}


// the dense problem that the core solves gives the same; it stands behind Newton
static void test_dense(void** state) {
  (void)state;
  Sum sum = run(DENSE, 1, 0);
  assert_true(sum.solved >= 0.8 * sum.steps);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unique), cmocka_unit_test(test_locking),
                                     cmocka_unit_test(test_dense)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

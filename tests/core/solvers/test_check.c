// invalid arguments, beyond the refusals of test_solve.c

#include "fixture.h"


// without joints there is nothing to do, but blocks that do not fit are refused
static void noJoints(void** state) {
  Room room;
  openRoom(&room);
  int empty[2] = {0, 0}, wrong[2] = {1, -1};
  mjgProblem problem = {0};
  mjgSolution solution = {0};
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work), mjgSOLVED);
  problem.nblock = 2;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work),
                   mjgERR_ARGUMENT);
  problem.block = wrong;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work),
                   mjgERR_ARGUMENT);
  problem.block = empty;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work), mjgSOLVED);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noJoints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

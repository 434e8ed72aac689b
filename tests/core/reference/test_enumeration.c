// every combination of pieces: always a solution, and large problems are refused

#include "against_oracle.h"


static void findsOne(void** state) {
  assert_int_equal(againstOracle(mjgENUMERATION, 0.95, 200, 1e-9), 0);
  assert_int_equal(againstOracle(mjgENUMERATION, 3, 200, 1e-8), 0);
}


static void tooLarge(void** state) {
  Room room;
  openRoom(&room);
  room.settings.solver = mjgENUMERATION;
  uint64_t seed = 1;
  oracleProblem p;
  oracleDraw draw = {.n = mjgMAXENUM + 1, .gamma_max = 0.5};
  oracle_draw(&p, &draw, &seed);
  assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                   mjgERR_SIZE);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(findsOne), cmocka_unit_test(tooLarge)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

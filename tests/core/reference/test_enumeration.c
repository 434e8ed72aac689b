// every combination of pieces: always a solution, and large problems are refused

#include <math.h>
#include <string.h>

#include "against_oracle.h"
#include "mjgear_backlash.h"


static void findsOne(void** state) {
  (void)state;
  assert_int_equal(againstOracle(mjgENUMERATION, 0.95, 200, 1e-9), 0);
  assert_int_equal(againstOracle(mjgENUMERATION, 3, 200, 1e-8), 0);
}


static void tooLarge(void** state) {
  (void)state;
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


// with couplings the combinations are tried again and again: fewer joints, but as many couplings as there are
static void coupled(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  room.settings.solver = mjgENUMERATION;
  uint64_t seed = 1;
  oracleProblem p;
  oracleDraw draw = {.n = mjgMAXENUM + 1, .gamma_max = 0.5, .decades = 1};
  oracle_draw(&p, &draw, &seed);
  int n = draw.n;
  mjgBacklash law = {.model = mjgDEADZONE, .half_gap = 0.01, .stiffness = 10};
  mjgCoupling coupling = {.law = &law, .h = 1e-3, .blend = 0.5};
  const mjgCoupling* row[mjgMAXENUM + 1] = {NULL};
  p.problem.coupling = row;
  for (int couplings = 1; couplings <= n; couplings++) {
    row[n - couplings] = &coupling;
    int status = mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work);
    assert_int_equal(status == mjgERR_SIZE, n - couplings > mjgMAXENUMCOUPLED);
    if (status >= 0 && couplings > 1) {
      double t[mjgMAXENUM + 1];
      memcpy(t, room.t, sizeof(t));
      mjgSettings newton;
      mjg_defaultSettings(&newton);
      assert_in_range(mjg_solve(&room.solution, NULL, &p.problem, &newton, room.work), 0, 1);
      for (int i = 0; i < n; i++) {
        assert_near(t[i], room.t[i], 1e-8 * (fabs(t[i]) + fabs(p.phi[i])));
      }
    }
  }
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(findsOne), cmocka_unit_test(tooLarge),
                                     cmocka_unit_test(coupled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

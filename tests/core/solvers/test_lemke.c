// Lemke's homotopy against every solution of small problems

#include <math.h>

#include "fixture.h"


static void endsAtASolution(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  room.settings.solver = mjgLEMKE;
  uint64_t seed = 21;
  for (int k = 0; k < 800; k++) {
    oracleProblem p;
    oracleDraw draw = {.n = 1 + k % 4, .gamma_max = k % 2 ? 0.95 : 2.5, .decades = 1};
    oracle_draw(&p, &draw, &seed);
    int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
    assert_true(status == mjgSOLVED || status == mjgJAMMED);
    double all[oracleMAXSOLUTION][oracleMAXN], nearest = INFINITY, size = 0;
    int count = oracle_enumerate(all, &p.problem), n = p.problem.n;
    assert_true(count > 0 && (status == mjgJAMMED || count == 1));
    for (int i = 0; i < n; i++) {
      size = fmax(size, fabs(room.t[i]));
    }
    for (int s = 0; s < count; s++) {
      double far = 0;
      for (int i = 0; i < n; i++) {
        far = fmax(far, fabs(all[s][i] - room.t[i]));
      }
      nearest = fmin(nearest, far);
    }
    assert_true(nearest <= 1e-8 * size);
  }
  closeRoom(&room);
}


// a limit that is too low is reported, with the best iterate
static void limit(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  room.settings.solver = mjgLEMKE;
  room.settings.iterations = 1;
  uint64_t seed = 2;
  int stopped = 0;
  for (int k = 0; k < 50; k++) {
    oracleProblem p;
    oracleDraw draw = {.n = 6, .gamma_max = 0.9, .decades = 1};
    oracle_draw(&p, &draw, &seed);
    int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
    stopped += status == mjgITERATION_LIMIT;
    assert_true(status == mjgITERATION_LIMIT || room.info.residual <= 1e-12);
  }
  assert_true(stopped > 25);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(endsAtASolution),
      cmocka_unit_test(limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

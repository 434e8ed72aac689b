// A method against every solution of small problems, found by trying all combinations of pieces.

#ifndef MJGEAR_TESTS_AGAINST_ORACLE_H_
#define MJGEAR_TESTS_AGAINST_ORACLE_H_

#include <math.h>

#include "fixture.h"


// solves problems of up to 4 joints with gamma_v up to gamma_max; a solved result is one of the
// solutions to within tolerance. Returns the number of problems that were not solved
static inline int againstOracle(int solver, double gamma_max, int count, double tolerance) {
  Room room;
  openRoom(&room);
  room.settings.solver = solver;
  uint64_t seed = 17;
  int unsolved = 0;
  for (int k = 0; k < count; k++) {
    oracleProblem p;
    oracleDraw draw = {.n = 1 + k % 4, .gamma_max = gamma_max, .coulomb = k % 3 == 0};
    oracle_draw(&p, &draw, &seed);
    int n = p.problem.n;
    int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
    assert_true(status >= 0);
    for (int i = 0; i < n; i++) {
      assert_true(isfinite(room.t[i]) && isfinite(room.v[i]) && isfinite(room.lambda[i]));
      assert_true(room.t[i] * room.v[i] >= 0);
    }
    if (status == mjgITERATION_LIMIT) {
      unsolved++;
      continue;
    }
    double all[oracleMAXSOLUTION][oracleMAXN], nearest = INFINITY, size = 0;
    int found = oracle_enumerate(all, &p.problem);
    assert_true(status == mjgJAMMED || found == 1);
    for (int s = 0; s < found; s++) {
      double far = 0;
      for (int i = 0; i < n; i++) {
        far = fmax(far, fabs(all[s][i] - room.t[i]));
        size = fmax(size, fabs(all[s][i]));
      }
      nearest = fmin(nearest, far);
    }
    assert_true(nearest <= tolerance * size);
  }
  closeRoom(&room);
  return unsolved;
}

#endif  // MJGEAR_TESTS_AGAINST_ORACLE_H_

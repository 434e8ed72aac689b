// The jamming rule: all solvers that claim it agree, it equals its definition, and jammed joints
// are named.

#include <math.h>
#include <string.h>

#include "fewer.h"
#include "fixture.h"


// newton, lemke and enumeration have the same result where there are several
static void sameAnswer(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem p;
  static double all[oracleMAXSOLUTION][oracleMAXN];
  uint64_t seed = 1;
  int several = 0, kept = 0;
  for (int k = 0; k < fewer(8000); k++) {
    oracleDraw draw = {.n = 1 + k % 4, .gamma_max = 3, .decades = 4, .coulomb = k % 5 == 0};
    oracle_draw(&p, &draw, &seed);
    if (oracle_enumerate(all, &p.problem) < 2) {
      continue;
    }
    several++;
    double t[3][oracleMAXN];
    const int solver[3] = {mjgNEWTON, mjgLEMKE, mjgENUMERATION};
    for (int m = 0; m < 3; m++) {
      room.settings.solver = solver[m];
      int status = mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work);
      assert_int_equal(status, mjgJAMMED);
      memcpy(t[m], room.t, sizeof(room.t));
      assert_true(distance(t[m], t[0], &p.problem) < 1e-8);
    }

    // a warm start at a solution that the joints' own laws agree with stays there
    room.settings.solver = mjgNEWTON;
    room.settings.warm_start = 1;
    assert_int_equal(mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work),
                     mjgJAMMED);
    int stays = distance(room.t, t[0], &p.problem) < 1e-8;
    kept += stays && room.info.factorizations <= 2;
    room.settings.warm_start = 0;
  }
  print_message("%d problems with several solutions, %d kept by a warm start\n", several, kept);
  assert_true(kept > 0.9 * several);
  assert_true(several > fewer(800));
  closeRoom(&room);
}


// The definition, walked in small steps: enumerate the solutions for v* = theta v*, go from each theta
// to the nearest solution of the next. If all steps are small, the path skipped no
// solution, and its end must be the result.
static void endOfThePath(void** state) {
  enum {
    nstep = 400
  };
  Room room;
  openRoom(&room);
  static oracleProblem p;
  static double all[oracleMAXSOLUTION][oracleMAXN];
  uint64_t seed = 2;
  int followed = 0, folded = 0;
  for (int k = 0; k < 3000 && followed < 60; k++) {
    oracleDraw draw = {.n = 2 + k % 2, .gamma_max = 3, .decades = 0, .coulomb = k % 2};
    oracle_draw(&p, &draw, &seed);
    if (oracle_enumerate(all, &p.problem) < 2) {
      continue;
    }
    double v[oracleMAXN], t[oracleMAXN] = {0}, size = 0;
    memcpy(v, p.v, sizeof(v));
    assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                     mjgJAMMED);
    for (int i = 0; i < draw.n; i++) {
      size = fmax(size, sqrt(p.A[i * draw.n + i]) * fabs(room.t[i]));
    }

    int ok = 1;
    for (int step = 1; step <= nstep && ok; step++) {
      for (int i = 0; i < draw.n; i++) {
        p.v[i] = v[i] * step / nstep;
      }
      int count = oracle_enumerate(all, &p.problem), best = -1;
      double nearest = INFINITY;
      for (int j = 0; j < count; j++) {
        double far = 0;
        for (int i = 0; i < draw.n; i++) {
          far = fmax(far, sqrt(p.A[i * draw.n + i]) * fabs(all[j][i] - t[i]));
        }
        if (far < nearest) {
          nearest = far;
          best = j;
        }
      }
      ok = nearest <= 0.02 * size;
      if (ok) {
        memcpy(t, all[best], sizeof(t));
      }
    }
    if (!ok) {
      // the path turns back here, which small steps in theta cannot follow
      folded++;
      continue;
    }
    followed++;
    memcpy(p.v, v, sizeof(v));
    assert_true(distance(room.t, t, &p.problem) < 1e-7);
  }
  print_message("%d paths followed, %d with folds left out\n", followed, folded);
  assert_true(followed >= 60);
  closeRoom(&room);
}


// Small changes of the data make small changes of the result, except for the few problems at the
// end of a branch, where another result is right too.
static void continuousInTheData(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem p;
  uint64_t seed = 3;
  int total = 0, jumped = 0;
  for (int k = 0; k < 5000; k++) {
    oracleDraw draw = {.n = 1 + k % 6, .gamma_max = 3, .decades = 2};
    oracle_draw(&p, &draw, &seed);
    if (mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work) != mjgJAMMED) {
      continue;
    }
    double t[oracleMAXN];
    memcpy(t, room.t, sizeof(t));
    for (int i = 0; i < draw.n; i++) {
      p.v[i] *= 1 + 1e-10 * oracle_normal(&seed);
      p.phi[i] *= 1 + 1e-10 * oracle_normal(&seed);
    }
    assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                     mjgJAMMED);
    total++;
    jumped += distance(room.t, t, &p.problem) > 1e-5;
  }
  print_message("%d of %d results jumped by a change of 1e-10\n", jumped, total);
  assert_true(total > 2000 && jumped <= 2);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sameAnswer),
      cmocka_unit_test(endOfThePath),
      cmocka_unit_test(continuousInTheData),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

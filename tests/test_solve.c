// mjg_solve against the enumeration of tests/oracle.c and against closed forms.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear.h"
#include "oracle.h"


// room for a result and a workspace
typedef struct Room_ {
  double t[oracleMAXN], v[oracleMAXN], lambda[oracleMAXN];
  int mode[oracleMAXN];
  mjgSolution solution;
  mjgWorkspace* work;
  void* memory;
} Room;


static void openRoom(Room* room) {
  size_t size = mjg_memsize(oracleMAXN, oracleMAXN);
  room->memory = malloc(size);
  room->work = mjg_create(room->memory, size, oracleMAXN, oracleMAXN);
  room->solution = (mjgSolution){room->t, room->v, room->lambda, room->mode};
  assert_non_null(room->work);
}


static void randomAgainstEnumeration(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  uint64_t seed = 1;
  static oracleProblem p;
  static double all[oracleMAXSOLUTION][oracleMAXN];
  int solvers[] = {mjgNEWTON, mjgGAUSS_SEIDEL, mjgLEMKE};
  int failed[3] = {0}, wrong[3] = {0}, total = 0, several = 0, inadmissible[3] = {0};
  for (int k = 0; k < 12000; k++) {
    oracleDraw draw = {.n = 1 + k % 4,
                       .gamma_max = k % 3 ? 3 : 0.99,
                       .decades = 8,
                       .rest = k % 5 == 0,
                       .coulomb = k % 7 == 0};
    oracle_draw(&p, &draw, &seed);
    int count = oracle_enumerate(all, &p.problem);
    assert_true(count >= 1);
    several += count > 1;
    total++;
    for (int m = 0; m < 3; m++) {
      mjgSettings settings;
      mjg_defaultSettings(&settings);
      settings.solver = solvers[m];
      mjgInfo info;
      int status = mjg_solve(&room.solution, &info, &p.problem, &settings, room.work);
      assert_true(status >= 0);
      if (status > mjgJAMMED) {
        failed[m]++;
        if (m != 1)
          printf("fail n=%d k=%d count=%d res=%g\n", draw.n, k, count, info.residual);
        continue;
      }
      double residual = oracle_residual(&p.problem, room.t, room.v);
      wrong[m] += !(residual <= 1e-11);
      (void)inadmissible;
      for (int i = 0; i < draw.n; i++) {
        assert_true(room.t[i] * room.v[i] >= 0);
      }
    }
  }
  printf("total %d several %d failed %d %d %d wrong %d %d %d\n", total, several, failed[0],
         failed[1], failed[2], wrong[0], wrong[1], wrong[2]);
  assert_int_equal(failed[0], 0);
  assert_int_equal(wrong[0], 0);
  assert_int_equal(wrong[1], 0);
  free(room.memory);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(randomAgainstEnumeration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// a block from the caller's units and back: residuals that are reported, numbers that overflow, static friction

#include <float.h>
#include <math.h>

#include "fixture.h"
#include "inclusion.h"
#include "mjgear_backlash.h"
#include "problem_file.h"


// problems with an exact solution, for which a solver knows only a bound of the residual
static void boundsAreNotResiduals(void** state) {
  Room room;
  openRoom(&room);
  char error[256];
  size_t size;
  char* text =
      mjg_loadText(&size, MJGEAR_SOURCE_DIR "/tests/data/near_ties.txt", error, sizeof(error));
  assert_non_null(text);
  mjgReader reader;
  mjgRecord record = {0};
  mjg_openReader(&reader, text, size);
  int count = 0;
  for (; mjg_readProblem(&record, &reader) == 1; count++) {
    int status = mjg_solve(&room.solution, &room.info, &record.problem, &room.settings, room.work);
    assert_true(status == mjgSOLVED || status == mjgJAMMED);
    mjgInclusion inclusion;
    mjg_inclusion(&inclusion, &record.problem, &room.solution);
    assert_true(inclusion.residual <= 1e-12);
    assert_true(room.info.residual <= 1e-12);
  }
  assert_int_equal(count, 2);
  mjg_clearRecord(&record);
  free(text);
  closeRoom(&room);
}


// friction of any size: every status has finite numbers, and a solved one is a
// solution
static void finiteResults(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 1;
  int unsolved = 0;
  for (int k = 0; k < 200; k++) {
    oracleProblem p;
    oracleDraw draw = {.n = 1 + k % 5, .gamma_max = 1.5, .decades = 1, .coulomb = 1};
    oracle_draw(&p, &draw, &seed);
    int n = p.problem.n;
    double factor = pow(10, oracle_uniform(&seed, -150, 150));
    for (int i = 0; i < n; i++) {
      p.v[i] *= factor;
    }
    room.settings.iterations = 100;
    room.settings.solver = k % 2 ? mjgNEWTON : mjgPROJECTION;
    int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
    assert_true(status >= 0);
    assert_true(room.info.residual >= 0);
    unsolved += status == mjgITERATION_LIMIT;
    for (int i = 0; i < n; i++) {
      assert_true(isfinite(room.t[i]) && isfinite(room.v[i]) && isfinite(room.lambda[i]));
    }
  }
  assert_true(unsolved > 0 && unsolved < 200);
  closeRoom(&room);
}


// static bounds, from any start, also without the test for uniqueness: a slipping
// joint has its sliding bound, a resting one at most its static one
static void staticFriction(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 7;
  int held = 0, released = 0;
  for (int k = 0; k < 3000; k++) {
    oracleProblem p;
    oracleDraw draw = {
        .n = 1 + k % 6, .gamma_max = k % 3 ? 0.9 : 2, .decades = 1, .coulomb = k % 2};
    oracle_draw(&p, &draw, &seed);
    int n = p.problem.n;
    double ratio[6], v0[6];
    for (int i = 0; i < n; i++) {
      ratio[i] = oracle_uniform(&seed, 1, 2);
      v0[i] = oracle_uniform(&seed, 0, 1) < 0.5 ? 0 : oracle_normal(&seed);
      room.t[i] = oracle_normal(&seed) * fabs(p.phi[i]);
    }
    p.problem.static_ratio = ratio;
    p.problem.v0 = v0;
    room.settings.warm_start = k % 2;
    room.settings.skip_uniqueness = k % 4 == 3;
    int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
    assert_true(status == mjgSOLVED || status == mjgJAMMED);
    for (int i = 0; i < n; i++) {
      double w = p.v[i], lambda = p.phi[i], size = fabs(p.phi[i]) + fabs(room.t[i]);
      double speed = fabs(p.v[i]);
      for (int j = 0; j < n; j++) {
        w -= p.A[i * n + j] * room.t[j];
        speed += fabs(p.A[i * n + j] * room.t[j]);
        lambda += p.alpha[i] * p.A[i * n + j] * room.t[j] - (i == j ? p.beta[i] * room.t[i] : 0);
        size += fabs(p.alpha[i] * p.A[i * n + j] * room.t[j]);
      }
      assert_near(room.v[i], w, 1e-10 * speed);
      double bound = fabs(lambda) + (p.problem.coulomb ? p.coulomb[i] : 0);
      if (room.mode[i]) {
        assert_near(room.t[i], room.mode[i] * bound, 1e-10 * (size + bound));
        assert_true(room.mode[i] * room.v[i] > 0);
        released += v0[i] * room.mode[i] <= 0;
      } else {
        double limit = room.t[i] * v0[i] > 0 ? 1 : ratio[i];
        assert_true(fabs(room.t[i]) <= limit * bound + 1e-10 * (size + bound));
        held += fabs(room.t[i]) > 1.01 * bound;
      }
    }
  }
  assert_true(held > 50 && released > 50);
  closeRoom(&room);
}


// One joint with p = -0.8, pushed by 10: with a static ratio of 1.5 it may slip with the
// friction at which it first meets the bound, 1.5/(1 + 1.2), and it may also hold, since the
// bound at 10 is 1.5 |1 - 8|. With 1.2, which leaves r |p| below 1, it can only slip
static void staticFrictionHasTwoAnswers(void** state) {
  Room room;
  openRoom(&room);
  double v[1] = {10}, A[1] = {1}, phi[1] = {1}, P[1] = {-0.8}, ratio[1] = {1.5};
  mjgProblem p = {.n = 1, .v = v, .A = A, .phi = phi, .P = P, .static_ratio = ratio};
  for (int start = 0; start < 2; start++) {
    room.settings.warm_start = start;
    room.t[0] = 10;
    ratio[0] = 1.5;
    assert_int_equal(mjg_solve(&room.solution, NULL, &p, &room.settings, room.work), mjgJAMMED);
    ratio[0] = 1.2;
    assert_int_equal(mjg_solve(&room.solution, NULL, &p, &room.settings, room.work), mjgSOLVED);
    assert_near(room.t[0], 1 / 1.8, 1e-15);
  }
  closeRoom(&room);
}


// A mirrored problem has the same status and the mirrored friction, even if only one direction has
// a static ratio
static void mirrored(void** state) {
  Room room;
  openRoom(&room);
  double v, A = 1, phi, P = -0.8, ratio = 1.5, v0, t[2];
  mjgProblem p = {
      .n = 1, .v = &v, .A = &A, .phi = &phi, .P = &P, .static_ratio = &ratio, .v0 = &v0};
  for (int before = -1; before <= 1; before += 2) {
    int status[2];
    for (int k = 0; k < 2; k++) {
      int side = k ? 1 : -1;
      v = 10 * side;
      phi = side;
      v0 = before * side;
      status[k] = mjg_solve(&room.solution, NULL, &p, &room.settings, room.work);
      t[k] = room.t[0];
    }
    assert_int_equal(status[0], status[1]);
    assert_near(t[0], -t[1], 1e-14);
  }
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mirrored),
      cmocka_unit_test(boundsAreNotResiduals),
      cmocka_unit_test(finiteResults),
      cmocka_unit_test(staticFriction),
      cmocka_unit_test(staticFrictionHasTwoAnswers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

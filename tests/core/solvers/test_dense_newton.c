// The header for other programs. Its matrices equal the core's to the last bit, its
// solutions satisfy the definition in both precisions, and C and C++ give the same bits
// in any scope.

#include <float.h>
#include <math.h>
#include <string.h>

#include "dense_newton_plain.h"
#include "fixture.h"
#include "inclusion.h"
#include "solvers/dense.h"
#include "solvers/dense_newton.h"


enum {
  kMost = 48  // below the size from which the core uses OpenBLAS
};

// a result and scratch, for both precisions
typedef struct Result_ {
  double t[oracleMAXN], v[oracleMAXN], lambda[oracleMAXN];
  int mode[oracleMAXN];
  int steps;
} Result;


static void matricesRoundAlike(void** state) {
  uint64_t seed = 3;
  static double A[kMost * kMost], K[kMost * (kMost + mjgiSIMD)];
  double x[kMost], y[kMost], z[kMost];
  int pivot[kMost], other[kMost];
  for (int n = 1; n <= kMost; n++) {
    for (int i = 0; i < n; i++) {
      x[i] = oracle_normal(&seed);
      for (int j = 0; j < n; j++) {
        A[i * n + j] = K[i * mjgi_rowStride(n) + j] = oracle_normal(&seed);
      }
    }
    mjgi_mulMatVec(y, A, x, n);
    plainMulMatVec(z, A, x, n);
    assert_memory_equal(y, z, (size_t)n * sizeof(double));
    memcpy(y, x, sizeof(y));
    assert_int_equal(mjgi_lu(K, x, pivot, n), plainLu(A, y, other, n));
    assert_memory_equal(x, y, (size_t)n * sizeof(double));
    assert_memory_equal(pivot, other, (size_t)n * sizeof(int));
  }
}


// the problem without null members, as mjgi_denseNewton requires
static void complete(oracleProblem* p, double ratio[oracleMAXN], double v0[oracleMAXN],
                     uint64_t* seed) {
  for (int i = 0; i < p->problem.n; i++) {
    ratio[i] = oracle_uniform(seed, 0, 1) < 0.5 ? 1 : 1.4;
    v0[i] = oracle_uniform(seed, 0, 1) < 0.5 ? 0 : p->v[i];
    if (!p->problem.coulomb) {
      p->coulomb[i] = 0;
    }
  }
  p->problem.P = NULL;
  p->problem.coulomb = p->coulomb;
  p->problem.static_ratio = ratio;
  p->problem.v0 = v0;
}


static void solveDouble(Result* r, const mjgProblem* p,
                        int (*newton)(double*, double*, double*, int*, const double*, const double*,
                                      const double*, const double*, const double*, const double*,
                                      const double*, const double*, int, double*, int*, int),
                        int flg_release) {
  double number[mjgiDENSE_NUMBERS(oracleMAXN)];
  int integer[mjgiDENSE_INTEGERS(oracleMAXN)];
  memset(r, 0, sizeof(*r));
  r->steps = newton(r->t, r->v, r->lambda, r->mode, p->A, p->v, p->phi, p->alpha, p->beta,
                    p->coulomb, p->static_ratio, p->v0, p->n, number, integer, flg_release);
}


static void narrow(float* to, const double* from, int n) {
  for (int i = 0; i < n; i++) {
    to[i] = (float)from[i];
  }
}


static void solveFloat(Result* r, const mjgProblem* p,
                       int (*newton)(float*, float*, float*, int*, const float*, const float*,
                                     const float*, const float*, const float*, const float*,
                                     const float*, const float*, int, float*, int*, int)) {
  enum {
    n1 = oracleMAXN
  };
  float number[mjgiDENSE_NUMBERS(n1)], A[n1 * n1];
  float v[n1] = {0}, phi[n1] = {0}, alpha[n1] = {0}, beta[n1] = {0}, c[n1] = {0};
  float ratio[n1] = {0}, v0[n1] = {0}, t[n1] = {0}, next[n1], lambda[n1];
  int integer[mjgiDENSE_INTEGERS(n1)], n = p->n;
  narrow(A, p->A, n * n);
  narrow(v, p->v, n);
  narrow(phi, p->phi, n);
  narrow(alpha, p->alpha, n);
  narrow(beta, p->beta, n);
  narrow(c, p->coulomb, n);
  narrow(ratio, p->static_ratio, n);
  narrow(v0, p->v0, n);
  memset(r, 0, sizeof(*r));
  r->steps =
      newton(t, next, lambda, r->mode, A, v, phi, alpha, beta, c, ratio, v0, n, number, integer, 1);
  for (int i = 0; i < n; i++) {
    r->t[i] = t[i];
    r->v[i] = next[i];
    r->lambda[i] = lambda[i];
  }
}


// every result with status solved satisfies the inclusion; problems with one solution are solved, with the same
// friction as the core's
static void solutions(void** state) {
  uint64_t seed = 11;
  double ratio[oracleMAXN], v0[oracleMAXN];
  Room room;
  openRoom(&room);
  int unsolved = 0, count = 4000;
  for (int k = 0; k < count; k++) {
    oracleProblem p;
    int hard = k % 2;
    oracleDraw draw = {.n = 1 + k % oracleMAXN,
                       .gamma_max = hard ? 3 : 0.95,
                       .decades = hard ? 2 : 1,
                       .rest = k % 3 == 0,
                       .coulomb = k % 5 == 0};
    oracle_draw(&p, &draw, &seed);
    complete(&p, ratio, v0, &seed);
    int unique =
        mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work) == mjgSOLVED;

    for (int single = 0; single < 2; single++) {
      Result r;
      if (single) {
        solveFloat(&r, &p.problem, plainFloat);
      } else {
        solveDouble(&r, &p.problem, plainDouble, 1);
      }
      double epsilon = single ? FLT_EPSILON : DBL_EPSILON;
      if (r.steps < 0) {
        unsolved++;
        assert_true(single || !unique);
        continue;
      }
      mjgInclusion inclusion;
      mjgSolution solution = {r.t, r.v, r.lambda, r.mode};
      mjg_inclusion(&inclusion, &p.problem, &solution);
      assert_true(inclusion.residual <= 1e3 * p.problem.n * epsilon);
      assert_true(inclusion.power >= 0);
      assert_int_equal(inclusion.nmode, 0);
      double size = 0;
      for (int i = 0; i < p.problem.n; i++) {
        size = fmax(size, fabs(room.t[i]));
        assert_true(r.mode[i] != 0 || r.v[i] == 0);
      }
      for (int i = 0; unique && !single && i < p.problem.n; i++) {
        assert_near(r.t[i], room.t[i], 1e-8 * size);
      }
    }
  }

  // Newton and sweeps need not solve a problem with several solutions; their status is
  // checked
  assert_true(unsolved <= count / 50);
  closeRoom(&room);
}


// joints that slip do so on their static bound, until they are asked to break away
static void staticBoundsHold(void** state) {
  uint64_t seed = 23;
  double ratio[oracleMAXN], v0[oracleMAXN];
  int on[2] = {0, 0};
  for (int k = 0; k < 1000; k++) {
    oracleProblem p;
    oracleDraw draw = {
        .n = 1 + k % oracleMAXN, .gamma_max = 0.5, .decades = 1, .rest = 1, .coulomb = 1};
    oracle_draw(&p, &draw, &seed);
    complete(&p, ratio, v0, &seed);
    for (int held = 0; held < 2; held++) {
      Result r;
      solveDouble(&r, &p.problem, plainDouble, !held);
      assert_true(r.steps >= 0);
      for (int i = 0; i < p.problem.n; i++) {
        if (r.mode[i] != 0) {
          double bound = fabs(r.lambda[i]) + p.coulomb[i];
          double factor = held && r.mode[i] * v0[i] <= 0 ? ratio[i] : 1;
          assert_near(fabs(r.t[i]), factor * bound, 1e-9 * (bound + fabs(p.phi[i])));
          on[held] += factor > 1;
        }
      }
    }
  }
  assert_int_equal(on[0], 0);
  assert_true(on[1] > 200);
}


#ifdef mjgTEST_SCOPED
static void sameBitsInAnyScope(void** state) {
  uint64_t seed = 5;
  double ratio[oracleMAXN], v0[oracleMAXN];
  for (int k = 0; k < 500; k++) {
    oracleProblem p;
    oracleDraw draw = {.n = 1 + k % oracleMAXN, .gamma_max = 1.5, .decades = 1, .coulomb = k % 2};
    oracle_draw(&p, &draw, &seed);
    complete(&p, ratio, v0, &seed);
    Result a, b;
    solveDouble(&a, &p.problem, plainDouble, 1);
    solveDouble(&b, &p.problem, scopedDouble, 1);
    assert_memory_equal(&a, &b, sizeof(a));
    solveFloat(&a, &p.problem, plainFloat);
    solveFloat(&b, &p.problem, scopedFloat);
    assert_memory_equal(&a, &b, sizeof(a));
  }
}
#endif


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matricesRoundAlike),
      cmocka_unit_test(solutions),
      cmocka_unit_test(staticBoundsHold),
#ifdef mjgTEST_SCOPED
      cmocka_unit_test(sameBitsInAnyScope),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

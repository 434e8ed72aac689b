// Problem families and the chains behind them, against closed forms.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains.h"
#include "problems.h"

#define PI 3.14159265358979323846


static void assertClose(double a, double b, double scale) {
  if (!(fabs(a - b) <= 1e-12 * scale)) {
    fail_msg("%.17g and %.17g differ by more than 1e-12 of %g", a, b, scale);
  }
}


// moments of the generators over many draws
static void randomNumbers(void** state) {
  mjgRandom random = {3};
  double mean = 0, square = 0, uniform = 0, decades = 0;
  int hits = 0, counts[5] = {0};
  const int draws = 100000;
  for (int i = 0; i < draws; i++) {
    double x = mjg_normal(&random);
    mean += x / draws;
    square += x * x / draws;
    x = mjg_uniform(&random, 2, 4);
    assert_true(x >= 2 && x < 4);
    uniform += x / draws;
    decades += log10(mjg_logUniform(&random, 1e-2, 1e4)) / draws;
    hits += mjg_chance(&random, 0.25);
    counts[mjg_integer(&random, 5)]++;
  }
  assert_true(fabs(mean) < 0.02 && fabs(square - 1) < 0.03);
  assert_true(fabs(uniform - 3) < 0.02 && fabs(decades - 1) < 0.03);
  assert_true(abs(hits - draws / 4) < draws / 100);
  for (int i = 0; i < 5; i++) {
    assert_true(abs(counts[i] - draws / 5) < draws / 100);
  }
}


// the planar arm of the textbooks
static void twoLinkArm(void** state) {
  mjgChain chain;
  mjg_newChain(&chain, 2);
  assert_int_equal(chain.n, 2);
  const double l1 = 0.7, c1 = 0.3, c2 = 0.4, m1 = 2, m2 = 3, I1 = 0.05, I2 = 0.08, g = 9.81;
  const double q1 = 0.6, q2 = -1.1, fx = 5, fy = -7;
  chain.gravity[1] = -g;
  chain.force[0] = fx;
  chain.force[1] = fy;
  chain.link[0] =
      (mjgLink){.axis = {0, 0, 1}, .center = {c1, 0, 0}, .mass = m1, .inertia = {9, 9, I1}};
  chain.link[1] = (mjgLink){.axis = {0, 0, 1},
                            .offset = {l1, 0, 0},
                            .center = {c2, 0, 0},
                            .mass = m2,
                            .inertia = {9, 9, I2}};
  chain.q[0] = q1;
  chain.q[1] = q2;
  double M[4], tau[2];
  mjg_chainDynamics(M, tau, &chain);
  assertClose(M[0], m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2 * l1 * c2 * cos(q2)) + I1 + I2, 3);
  assertClose(M[1], m2 * (c2 * c2 + l1 * c2 * cos(q2)) + I2, 1);
  assertClose(M[3], m2 * c2 * c2 + I2, 1);
  assert_true(M[1] == M[2]);

  // gravity, and a force on the last center, with the Jacobian of the arm's tip
  double x2 = c2 * cos(q1 + q2), y2 = c2 * sin(q1 + q2);
  double x1 = l1 * cos(q1) + x2, y1 = l1 * sin(q1) + y2;
  assertClose(tau[0], (m1 * c1 + m2 * l1) * g * cos(q1) + m2 * g * x2 - (-y1 * fx + x1 * fy), 50);
  assertClose(tau[1], m2 * g * x2 - (-y2 * fx + x2 * fy), 20);
  mjg_freeChain(&chain);
}


// a slide below a hinge out of the plane
static void slideOnHinge(void** state) {
  mjgChain chain;
  mjg_newChain(&chain, 2);
  const double m1 = 1.5, m2 = 2.5, reach = 0.8, g = 9.81;
  chain.gravity[2] = -g;
  chain.link[0] = (mjgLink){.axis = {0, 1, 0}, .mass = m1, .inertia = {0.1, 0.2, 0.3}};
  chain.link[1] = (mjgLink){.axis = {1, 0, 0}, .mass = m2, .inertia = {0.4, 0.5, 0.6}, .slide = 1};
  chain.q[0] = -PI / 3;
  chain.q[1] = reach;
  double M[4], tau[2];
  mjg_chainDynamics(M, tau, &chain);
  assertClose(M[0], 0.2 + 0.5 + m2 * reach * reach, 3);
  assertClose(M[1], 0, 1);
  assertClose(M[3], m2, 3);

  // a turn about y lowers points on x
  assertClose(tau[0], -m2 * g * reach * cos(PI / 3), 20);
  assertClose(tau[1], m2 * g * sin(PI / 3), 30);
  mjg_freeChain(&chain);
}


// one joint: v*, (29), (32) and P = rho
static void oneJointProblem(void** state) {
  mjgChain chain;
  mjgRecord record = {0};
  mjg_newChain(&chain, 1);
  chain.h = 1e-3;
  chain.link[0] = (mjgLink){.axis = {0, 0, 1}, .inertia = {0, 0, 2}, .slide = 0};
  chain.rotor[0] = 0.5;
  chain.gamma_u[0] = 0.3;
  chain.gamma_v[0] = 1.2;
  chain.v[0] = 0.25;
  chain.tau_u[0] = 7;
  assert_int_equal(mjg_chainProblem(&record, &chain), 1);
  double rho = (0.3 * 0.5 - 1.2 * 2) / 2.5;
  assertClose(record.v[0], 0.25 + 1e-3 * 7 / 2.5, 1);
  assertClose(record.A[0], 1e-3 / 2.5, 1e-3);
  assertClose(record.phi[0], 0.3 * 7 - rho * 7, 10);
  assertClose(record.alpha[0] * record.A[0] - record.beta[0], rho, 1);
  assert_true(record.v0[0] == 0.25);
  mjg_clearRecord(&record);
  mjg_freeChain(&chain);
}


static void inverse(void** state) {
  const double M[9] = {4, 1, -2, 1, 5, 0.5, -2, 0.5, 3};
  double W[9];
  assert_int_equal(mjg_invert(W, M, 3), 1);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) {
        sum += M[3 * i + k] * W[3 * k + j];
      }
      assertClose(sum, i == j, 1);
      assert_true(W[3 * i + j] == W[3 * j + i]);
    }
  }
  const double singular[4] = {1, 2, 2, 4};
  assert_int_equal(mjg_invert(W, singular, 2), 0);
}


// trees side by side equal single trees
static void forest(void** state) {
  mjgRandom random = {5};
  mjgChain chain[3];
  mjgRecord all = {0}, one = {0};
  for (int k = 0; k < 3; k++) {
    mjg_randomChain(&chain[k], k + 2, mjgGAMMA_LOCKING, &random);
  }
  assert_int_equal(mjg_forestProblem(&all, chain, 3), 1);
  assert_int_equal(all.problem.n, 9);
  assert_int_equal(all.problem.nblock, 3);
  int first = 0, entry = 0;
  for (int k = 0; k < 3; k++) {
    int n = k + 2;
    assert_int_equal(mjg_chainProblem(&one, &chain[k]), 1);
    assert_int_equal(all.block[k], n);
    assert_memory_equal(all.v + first, one.v, (size_t)n * sizeof(double));
    assert_memory_equal(all.phi + first, one.phi, (size_t)n * sizeof(double));
    assert_memory_equal(all.A + entry, one.A, (size_t)(n * n) * sizeof(double));
    first += n;
    entry += n * n;
    mjg_freeChain(&chain[k]);
  }
  mjg_clearRecord(&one);
  mjg_clearRecord(&all);
}


// all pivots of elimination are positive for the symmetric part, which has the quadratic
// form of A
static int isPositiveDefinite(const double* A, int n) {
  double* S = malloc((size_t)(n * n) * sizeof(double));
  assert_non_null(S);
  int positive = 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      S[i * n + j] = (A[i * n + j] + A[j * n + i]) / 2;
    }
  }
  for (int k = 0; k < n; k++) {
    positive &= S[k * n + k] > 0;
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j < n; j++) {
        S[i * n + j] -= S[i * n + k] * S[k * n + j] / S[k * n + k];
      }
    }
  }
  free(S);
  return positive;
}


static void everyKindIsSound(void** state) {
  mjgRecord record = {0}, again = {0};
  for (int kind = 0; kind < mjgNKIND; kind++) {
    for (int seed = 0; seed < 300; seed++) {
      int n = 1 + seed % 12;
      mjgRandom random = {(uint64_t)seed}, same = {(uint64_t)seed};
      assert_int_equal(mjg_randomProblem(&record, kind, n, &random), 1);
      assert_int_equal(record.problem.n, n);
      assert_int_equal(record.problem.nblock, 0);
      assert_true(isPositiveDefinite(record.A, n));
      for (int i = 0; i < n; i++) {
        assert_true(isfinite(record.v[i]) && isfinite(record.phi[i]));
        assert_true(!record.coulomb || record.coulomb[i] >= 0);
        assert_true(!record.static_ratio || record.static_ratio[i] >= 1);
        if (mjg_isUnique(kind)) {
          assert_true(record.beta[i] >= 0 && record.beta[i] < 1 && record.alpha[i] >= 0);
          assert_null(record.coulomb);
        }
      }

      // the same seed gives the same bits
      assert_int_equal(mjg_randomProblem(&again, kind, n, &same), 1);
      assert_string_equal(record.name, again.name);
      assert_memory_equal(record.v, again.v, (size_t)n * sizeof(double));
      assert_memory_equal(record.A, again.A, (size_t)(n * n) * sizeof(double));
      assert_memory_equal(record.phi, again.phi, (size_t)n * sizeof(double));
    }
  }
  mjg_clearRecord(&record);
  mjg_clearRecord(&again);
  assert_null(mjg_kindName(mjgNKIND));
  assert_null(mjg_kindName(-1));
}


// a planted solution solves the problem to round-off
static void plantedSolutions(void** state) {
  mjgRandom random = {11};
  mjgRecord record = {0};
  int nstuck = 0, nslip = 0;
  for (int count = 0; count < 1000; count++) {
    int n = 1 + count % 12;
    assert_int_equal(mjg_randomProblem(&record, mjgKIND_TIE, n, &random), 1);
    assert_non_null(record.t);
    for (int i = 0; i < n; i++) {
      double v = record.v[i], change = 0, size = 0, slack = fabs(record.v[i]);
      for (int j = 0; j < n; j++) {
        change += record.A[i * n + j] * record.t[j];
        slack += fabs(record.A[i * n + j] * record.t[j]);
      }
      v -= change;
      double lambda = record.phi[i] + record.alpha[i] * change - record.beta[i] * record.t[i];
      size = fabs(record.phi[i]) + record.alpha[i] * slack + fabs(record.t[i]) + 1e-300;

      // within the bound, and on its side where the joint moves
      assert_true(fabs(record.t[i]) <= fabs(lambda) + 1e-12 * size);
      if (fabs(v) > 1e-12 * slack) {
        assertClose(record.t[i], v > 0 ? fabs(lambda) : -fabs(lambda), size);
        nslip++;
      } else {
        nstuck++;
      }
    }
  }
  assert_true(nslip > 1000 && nstuck > 1000);
  mjg_clearRecord(&record);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(randomNumbers),    cmocka_unit_test(twoLinkArm),
      cmocka_unit_test(slideOnHinge),     cmocka_unit_test(oneJointProblem),
      cmocka_unit_test(inverse),          cmocka_unit_test(forest),
      cmocka_unit_test(everyKindIsSound), cmocka_unit_test(plantedSolutions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

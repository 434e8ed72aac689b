// Dense kernels: products of matrices with their computed inverses.

#include "solvers/dense.h"

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "solvers/simd.h"

enum {
  maxn = 152
};
static double A[maxn * maxn], B[maxn * maxn], x[maxn], b[maxn];
static int pivot[maxn];
static const int sizes[] = {1, 2, 3, 6, 7, 8, 12, 20, 31, 32, 33, 60, 63, 64, 65, 96, 120, 150};


// random matrix; symmetric positive definite on request
static void draw(int n, int definite, uint64_t* seed) {
  for (int i = 0; i < n * n; i++) {
    B[i] = oracle_normal(seed);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = i == j ? 1 : 0;
      for (int k = 0; k < n && definite; k++) {
        sum += B[i * n + k] * B[j * n + k];
      }
      A[i * n + j] = definite ? sum : B[i * n + j];
    }
    b[i] = oracle_normal(seed);
  }
}


// |A x - b| against the size of its terms
static void assertSolves(int n) {
  for (int i = 0; i < n; i++) {
    double sum = 0, size = fabs(b[i]);
    for (int j = 0; j < n; j++) {
      sum += A[i * n + j] * x[j];
      size += fabs(A[i * n + j] * x[j]);
    }
    assert_near(sum, b[i], 1e-12 * n * size);
  }
}


// A in lanes, with arbitrary numbers behind its rows
static void toLanes(int n) {
  int ld = mjgi_simdEnd(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < ld; j++) {
      B[i * ld + j] = j < n ? A[i * n + j] : 1e300;
    }
  }
}


static void lu(void** state) {
  uint64_t seed = 1;
  for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
    int n = sizes[k];
    draw(n, 0, &seed);
    toLanes(n);
    memcpy(x, b, sizeof(b));
    assert_int_equal(mjgi_lu(B, x, pivot, n), 1);
    assertSolves(n);

    // another right side, with the same factors
    for (int i = 0; i < n; i++) {
      x[i] = b[i] = oracle_normal(&seed);
    }
    mjgi_luSolve(x, B, pivot, n);
    assertSolves(n);
  }

  // a row that is the sum of others, and nothing at all
  draw(5, 0, &seed);
  for (int j = 0; j < 5; j++) {
    A[20 + j] = A[j] + A[5 + j];
  }
  toLanes(5);
  assert_int_equal(mjgi_lu(B, x, pivot, 5), 0);
  memset(A, 0, sizeof(A));
  toLanes(5);
  assert_int_equal(mjgi_lu(B, x, pivot, 5), 0);
}


// known determinants: a lower triangle, whose diagonal gives the sign, with permuted rows
static void sign(void** state) {
  uint64_t seed = 3;
  for (int k = 0; k < 300; k++) {
    int n = 1 + k % 9, order[9], expected = 1;
    double L[81];
    for (int i = 0; i < n; i++) {
      order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
      int j = (int)oracle_uniform(&seed, 0, i + 1), swap = order[i];
      expected = i == j ? expected : -expected;
      order[i] = order[j];
      order[j] = swap;
    }
    for (int i = 0; i < n; i++) {
      double diagonal =
          oracle_uniform(&seed, 0.5, 2) * (oracle_uniform(&seed, 0, 1) < 0.5 ? -1 : 1);
      expected = diagonal < 0 ? -expected : expected;
      for (int j = 0; j < n; j++) {
        L[order[i] * n + j] = j < i ? oracle_uniform(&seed, -1, 1) : (j == i ? diagonal : 0);
      }
    }
    assert_int_equal(mjgi_inverse(L, pivot, n), expected);
  }
}


static void cholesky(void** state) {
  uint64_t seed = 2;
  for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
    int n = sizes[k];
    draw(n, 1, &seed);
    memcpy(B, A, sizeof(A));
    memcpy(x, b, sizeof(b));
    // values below the diagonal are not read
    for (int i = 0; i < n; i++) {
      for (int j = i + 1; j < n; j++) {
        B[j * n + i] = NAN;
      }
    }
    assert_int_equal(mjgi_cholesky(B, n), 1);
    mjgi_choleskySolve(x, B, n);
    assertSolves(n);

    // one eigenvalue below zero
    memcpy(B, A, sizeof(A));
    B[n * n - 1] -= 1e3 * n;
    assert_int_equal(mjgi_cholesky(B, n), 0);
  }
}


static void symmetry(void** state) {
  double M[4] = {1e-8, 1, 1, 1e12};
  double U[4];
  assert_int_equal(mjgi_factorMass(U, M, 2), 1);
  M[1] = 1.1;
  assert_int_equal(mjgi_factorMass(U, M, 2), 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lu),
      cmocka_unit_test(sign),
      cmocka_unit_test(cholesky),
      cmocka_unit_test(symmetry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

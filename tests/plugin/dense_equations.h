// Linear equations by elimination with row exchanges, for tests that hold sparse ones against them.

#ifndef MJGEAR_DENSE_EQUATIONS_H_
#define MJGEAR_DENSE_EQUATIONS_H_

#include <math.h>

// solve A x = x, n x n with rows ld numbers apart; A is lost. Returns 0 if it is singular
static inline int solveEquations(double* A, int ld, double* x, int n) {
  for (int k = 0; k < n; k++) {
    int most = k;
    for (int i = k + 1; i < n; i++) {
      most = fabs(A[i * ld + k]) > fabs(A[most * ld + k]) ? i : most;
    }
    if (!(fabs(A[most * ld + k]) > 1e-13)) {
      return 0;
    }
    for (int j = 0; j < n; j++) {
      double keep = A[k * ld + j];
      A[k * ld + j] = A[most * ld + j];
      A[most * ld + j] = keep;
    }
    double keep = x[k];
    x[k] = x[most];
    x[most] = keep;
    for (int i = k + 1; i < n; i++) {
      double factor = A[i * ld + k] / A[k * ld + k];
      for (int j = k; j < n; j++) {
        A[i * ld + j] -= factor * A[k * ld + j];
      }
      x[i] -= factor * x[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      x[k] -= A[k * ld + j] * x[j];
    }
    x[k] /= A[k * ld + k];
  }
  return 1;
}

#endif  // MJGEAR_DENSE_EQUATIONS_H_

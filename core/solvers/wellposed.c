// The step has exactly one solution if
//
//     [(beta - 1)/alpha]  <  A  <  [(beta + 1)/alpha]          (order of symmetric matrices)
//
// where alpha > 0, the left side only where beta > 1. In a combination of pieces the row of a
// slipping joint is proportional to A_i - d_i e_i, d_i = (beta_i + 1)/alpha_i where the load
// opposes, else (beta_i - 1)/alpha_i: the matrix is quasidefinite, with a determinant of one sign
// for all pieces, and a piecewise linear map of this kind is one-to-one. doc/theory_existence.md
// has the proof of both directions. sigma_max(P) < 1, (57), is a special case.

#include <math.h>

#include "solvers/dense.h"
#include "solvers/solvers.h"

// asymmetry, with a unit diagonal, of symmetric data from other programs
static const double kSkew = 1e-10;

// entries of P follow from A to this share of their row's size
static const double kFactor = 1e-10;


// Set the limits of A on joint i, lower < A < upper; if no A meets them, upper is 0.
static void limits(double* lower, double* upper, double alpha, double beta) {
  // a joint whose alpha is negative exchanges the roles of aiding and opposing load
  if (alpha < 0) {
    alpha = -alpha;
    beta = -beta;
  }
  *lower = 0;
  *upper = INFINITY;
  if (beta <= -1 || (alpha == 0 && beta >= 1)) {
    *upper = 0;
  } else if (alpha > 0) {
    *lower = mjgi_max(0, (beta - 1) / alpha);
    *upper = (beta + 1) / alpha;
  }
}


// Returns 1 if A is above its lower limits (side -1) or below its upper ones (side 1), by more than
// skew. Joints without an upper limit are left out there.
static int isDefinite(double* S, const double* A, const double* alpha, const double* beta, int n,
                      int side, double skew) {
  int size = 0;
  for (int i = 0; i < n; i++) {
    size += side < 0 || alpha[i] != 0;
  }
  double sign = -0.5 * side;
  for (int i = 0, row = 0; i < n; i++) {
    if (side > 0 && alpha[i] == 0) {
      continue;
    }
    double lower, upper;
    limits(&lower, &upper, alpha[i], beta[i]);
    for (int j = i, column = row; j < n; j++) {
      if (side < 0 || alpha[j] != 0) {
        S[row * size + column++] = sign * (A[i * n + j] + A[j * n + i]);
      }
    }
    S[row * size + row] += (side > 0 ? upper : -lower) - skew;
    row++;
  }
  return mjgi_cholesky(S, size);
}


int mjgi_wellPosed(const double* A, const double* alpha, const double* beta, int n, double* S) {
  // diagonal dominance decides most cases: skew bounds the part of A that is not symmetric
  int dominant = 1, has_lower = 0;
  double skew = 0;
  for (int i = 0; i < n; i++) {
    double lower, upper;
    limits(&lower, &upper, alpha[i], beta[i]);
    if (upper <= 1 || lower >= 1) {
      return 0;
    }
    double off = 0, row_skew = 0;
    for (int j = 0; j < n; j++) {
      off += fabs(A[i * n + j]);
      row_skew += fabs(A[i * n + j] - A[j * n + i]);
    }
    off -= 1;
    skew = mjgi_max(skew, row_skew / 2);
    has_lower |= lower > 0;
    dominant &= upper - 1 > off + skew && (lower == 0 || 1 - lower > off + skew);
  }
  int symmetric = skew < kSkew;
  return (dominant && symmetric) ||
         (isDefinite(S, A, alpha, beta, n, 1, skew) &&
          ((!has_lower && symmetric) || isDefinite(S, A, alpha, beta, n, -1, skew)));
}


int mjgi_factorP(double* alpha, double* beta, const double* A, const double* P, int n) {
  for (int i = 0; i < n; i++) {
    const double* a = A + i * n;
    const double* p = P + i * n;

    // alpha from the largest entry beside the diagonal, or from P_ii alone
    int largest = -1;
    for (int j = 0; j < n; j++) {
      if (j != i && a[j] != 0 && (largest < 0 || fabs(a[j]) > fabs(a[largest]))) {
        largest = j;
      }
    }
    alpha[i] = largest >= 0 ? p[largest] / a[largest] : 0;
    beta[i] = alpha[i] * a[i] - p[i];
    double size = fabs(p[i]) + fabs(alpha[i] * a[i]);
    for (int j = 0; j < n; j++) {
      size = mjgi_max(size, fabs(p[j]));
    }
    for (int j = 0; j < n; j++) {
      if (j != i && !(fabs(p[j] - alpha[i] * a[j]) <= kFactor * size)) {
        return 0;
      }
    }
  }
  return 1;
}

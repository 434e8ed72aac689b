#include "dense.h"

#include <float.h>
#include <math.h>
#include <stddef.h>


void mjg_mulMatVec(double* restrict y, const double* restrict A, const double* restrict x, int n) {
  for (int i = 0; i < n; i++, A += n) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      sum += A[j] * x[j];
    }
    y[i] = sum;
  }
}


int mjg_isSymmetric(const double* A, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double a = A[i * n + j], b = A[j * n + i];
      double size = sqrt(fabs(A[i * n + i])) * sqrt(fabs(A[j * n + j]));
      if (!(fabs(a - b) <= 1e-10 * size)) {
        return 0;
      }
    }
  }
  return 1;
}


// body of mjg_lu, to be compiled for constant n
static inline int factorize(double* A, int* pivot, int n) {
  // a pivot below this is rounding
  double largest = 0;
  for (int i = 0; i < n * n; i++) {
    largest = mjg_max(largest, fabs(A[i]));
  }
  double smallest = largest * n * DBL_EPSILON;

  for (int k = 0; k < n; k++) {
    double* row = A + k * n;
    if (pivot) {
      // largest entry of the column
      int best = k;
      for (int i = k + 1; i < n; i++) {
        if (fabs(A[i * n + k]) > fabs(A[best * n + k])) {
          best = i;
        }
      }
      pivot[k] = best;
      for (int j = 0; best != k && j < n; j++) {
        double swap = row[j];
        row[j] = A[best * n + j];
        A[best * n + j] = swap;
      }
    }
    if (!(fabs(row[k]) > smallest)) {
      return 0;
    }

    // eliminate below
    double inv = 1 / row[k];
    row[k] = inv;
    for (int i = k + 1; i < n; i++) {
      double* target = A + i * n;
      double f = target[k] * inv;
      target[k] = f;
      for (int j = k + 1; j < n; j++) {
        target[j] -= f * row[j];
      }
    }
  }
  return 1;
}


// body of mjg_luSolve
static inline void substitute(double* x, const double* LU, const int* pivot, int n) {
  for (int i = 0; pivot && i < n; i++) {
    double swap = x[i];
    x[i] = x[pivot[i]];
    x[pivot[i]] = swap;
  }
  for (int i = 1; i < n; i++) {
    double sum = x[i];
    for (int j = 0; j < i; j++) {
      sum -= LU[i * n + j] * x[j];
    }
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int j = n - 1; j > i; j--) {
      sum -= LU[i * n + j] * x[j];
    }
    x[i] = sum * LU[i * n + i];
  }
}


// the sizes of most robots get a body of their own, in which the compiler unrolls the loops
#define FOR_CONSTANT_SIZE(call, n) \
  switch (n) {                     \
    case 1:                        \
      call(1);                     \
    case 2:                        \
      call(2);                     \
    case 3:                        \
      call(3);                     \
    case 4:                        \
      call(4);                     \
    case 5:                        \
      call(5);                     \
    case 6:                        \
      call(6);                     \
    case 7:                        \
      call(7);                     \
    default:                       \
      call(n);                     \
  }


int mjg_lu(double* A, int* pivot, int n) {
#define FACTORIZE(size) return pivot ? factorize(A, pivot, size) : factorize(A, NULL, size)
  FOR_CONSTANT_SIZE(FACTORIZE, n)
}


void mjg_luSolve(double* x, const double* LU, const int* pivot, int n) {
#define SUBSTITUTE(size)          \
  substitute(x, LU, pivot, size); \
  return
  FOR_CONSTANT_SIZE(SUBSTITUTE, n)
}


int mjg_cholesky(double* A, int n) {
  for (int i = 0; i < n; i++) {
    double* row = A + i * n;
    for (int j = 0; j < i; j++) {
      const double* other = A + j * n;
      double sum = row[j];
      for (int k = 0; k < j; k++) {
        sum -= row[k] * other[k];
      }
      row[j] = sum * other[j];
    }

    // what is left of the diagonal
    double diag = row[i];
    for (int k = 0; k < i; k++) {
      diag -= row[k] * row[k];
    }
    if (!(diag > row[i] * n * DBL_EPSILON)) {
      return 0;
    }
    row[i] = 1 / sqrt(diag);
  }
  return 1;
}


void mjg_choleskySolve(double* x, const double* L, int n) {
  for (int i = 0; i < n; i++) {
    double sum = x[i];
    for (int j = 0; j < i; j++) {
      sum -= L[i * n + j] * x[j];
    }
    x[i] = sum * L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    double xi = x[i] * L[i * n + i];
    x[i] = xi;
    for (int j = 0; j < i; j++) {
      x[j] -= L[i * n + j] * xi;
    }
  }
}


// power iteration on A'A from a vector that is in general position
double mjg_sigmaMax(const double* A, int n, double* x, double* y) {
  double largest = 0;
  for (int i = 0; i < n * n; i++) {
    largest = mjg_max(largest, fabs(A[i]));
  }
  if (largest == 0) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    x[i] = 1 + 0.25 * sin(i + 1.0);
  }

  double sigma = 0;
  for (int iter = 0; iter < 1000; iter++) {
    // x := x / |x|, y = A x / largest
    double norm = 0;
    for (int i = 0; i < n; i++) {
      norm += x[i] * x[i];
    }
    norm = sqrt(norm);
    if (norm == 0) {
      break;
    }
    for (int i = 0; i < n; i++) {
      x[i] /= norm;
    }
    double square = 0;
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) {
        sum += A[i * n + j] / largest * x[j];
      }
      y[i] = sum;
      square += sum * sum;
    }

    // the norm of A x grows towards the singular value
    double last = sigma;
    sigma = sqrt(square);
    if (fabs(sigma - last) <= 1e-13 * sigma) {
      break;
    }
    for (int j = 0; j < n; j++) {
      x[j] = 0;
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        x[j] += A[i * n + j] / largest * y[i];
      }
    }
  }
  return sigma * largest;
}

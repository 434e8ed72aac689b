#include "dense.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

// From these sizes on the matrix product of OpenBLAS makes elimination and Cholesky faster than loops
// (measured: at 120 they take 0.70 and 0.50 of the time, with blocks of 16).
enum {
  mjgBLOCKED_LU = 56,
  mjgBLOCKED_CHOLESKY = 32,
  mjgBLOCK = 16
};

// OpenBLAS never splits a product of up to so many multiplications between threads (its interface/gemm.c;
// how many threads it may use otherwise is a setting of the whole process and not ours to change:
// dgetrf with its default of all cores takes 75 times as long at 120). A call takes a buffer from a
// pool of its own, guarded by a lock of its own.
enum {
  mjgUNSPLIT = 4 * 65536
};

extern void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const double* alpha, const double* A, const int* lda, const double* B,
                   const int* ldb, const double* beta, double* C, const int* ldc);


// C -= L U, or L U' if flg_transpose; C is nrow x ncol, the sum runs over nk, rows are ld apart
static void subtractProduct(double* C, const double* L, const double* U, int flg_transpose,
                            int nrow, int ncol, int nk, int ld) {
  const double minus = -1, one = 1;
  int most = mjgUNSPLIT / (ncol * nk);
  most = most > 1 ? most : 1;
  for (int row = 0; row < nrow; row += most) {
    int count = nrow - row < most ? nrow - row : most;
    // in the column-major eyes of BLAS all matrices are transposed
    const double* part = flg_transpose ? L + row : L + row * ld;
    dgemm_("N", flg_transpose ? "T" : "N", &ncol, &count, &nk, &minus, U, &ld, part, &ld, &one,
           C + row * ld, &ld);
  }
}


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


// bring the largest entry of column k on or below the diagonal into row k; returns the row it was in
static inline int choosePivot(double* A, int k, int n) {
  int best = k;
  for (int i = k + 1; i < n; i++) {
    if (fabs(A[i * n + k]) > fabs(A[best * n + k])) {
      best = i;
    }
  }
  for (int j = 0; best != k && j < n; j++) {
    double swap = A[k * n + j];
    A[k * n + j] = A[best * n + j];
    A[best * n + j] = swap;
  }
  return best;
}


// body of mjg_lu, to be compiled for constant n: eliminate within the columns first .. last - 1 of an
// n x n matrix; rows are exchanged as a whole
static inline int factorize(double* A, int* pivot, int n, int first, int last, double smallest) {
  for (int k = first; k < last; k++) {
    double* restrict row = A + k * n;
    if (pivot) {
      pivot[k] = choosePivot(A, k, n);
    }
    if (!(fabs(row[k]) > smallest)) {
      return 0;
    }

    // eliminate below, in fours that begin at the same columns for all k: loads that straddle what two
    // stores wrote would wait for both
    double inv = 1 / row[k];
    row[k] = inv;
    int begin = (k + 4) & ~3;
    begin = begin < last ? begin : last;
    for (int i = k + 1; i < n; i++) {
      double* restrict target = A + i * n;
      double f = target[k] * inv;
      target[k] = f;
      for (int j = k + 1; j < begin; j++) {
        target[j] -= f * row[j];
      }
      for (int j = begin; j < last; j++) {
        target[j] -= f * row[j];
      }
    }
  }
  return 1;
}


// block column by block column: the rows to its right, then what is below them by one product
static int factorizeBlocked(double* A, int* pivot, int n, double smallest) {
  for (int first = 0; first < n; first += mjgBLOCK) {
    int last = first + mjgBLOCK < n ? first + mjgBLOCK : n;
    if (!factorize(A, pivot, n, first, last, smallest)) {
      return 0;
    }
    for (int k = first; k < last; k++) {
      const double* row = A + k * n;
      for (int i = k + 1; i < last; i++) {
        double* target = A + i * n;
        double f = target[k];
        for (int j = last; j < n; j++) {
          target[j] -= f * row[j];
        }
      }
    }
    if (last < n) {
      subtractProduct(A + last * n + last, A + last * n + first, A + first * n + last, 0, n - last,
                      n - last, last - first, n);
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


// largest absolute value, in four parts that do not wait for each other
static double largestEntry(const double* A, int n) {
  double most[4] = {0};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) {
      double size = fabs(A[i + k]);
      most[k] = size > most[k] ? size : most[k];
    }
  }
  for (; i < n; i++) {
    most[0] = mjg_max(most[0], fabs(A[i]));
  }
  return mjg_max(mjg_max(most[0], most[1]), mjg_max(most[2], most[3]));
}


int mjg_lu(double* A, int* pivot, int n) {
  // a pivot below this is rounding
  double smallest = largestEntry(A, n * n) * n * DBL_EPSILON;
  if (n >= mjgBLOCKED_LU) {
    return factorizeBlocked(A, pivot, n, smallest);
  }
#define FACTORIZE(size)                                       \
  return pivot ? factorize(A, pivot, size, 0, size, smallest) \
               : factorize(A, NULL, size, 0, size, smallest)
  FOR_CONSTANT_SIZE(FACTORIZE, n)
}


void mjg_luSolve(double* x, const double* LU, const int* pivot, int n) {
#define SUBSTITUTE(size)          \
  substitute(x, LU, pivot, size); \
  return
  FOR_CONSTANT_SIZE(SUBSTITUTE, n)
}


// Gauss-Jordan: each pass exchanges one unknown for one right side
int mjg_inverse(double* A, int* pivot, int n) {
  double largest = 0;
  for (int i = 0; i < n * n; i++) {
    largest = mjg_max(largest, fabs(A[i]));
  }
  double smallest = largest * n * DBL_EPSILON;
  for (int k = 0; k < n; k++) {
    double* row = A + k * n;
    pivot[k] = choosePivot(A, k, n);
    if (!(fabs(row[k]) > smallest)) {
      return 0;
    }
    double inv = 1 / row[k];
    row[k] = 1;
    for (int j = 0; j < n; j++) {
      row[j] *= inv;
    }
    for (int i = 0; i < n; i++) {
      if (i != k) {
        double* target = A + i * n;
        double f = target[k];
        target[k] = 0;
        for (int j = 0; j < n; j++) {
          target[j] -= f * row[j];
        }
      }
    }
  }

  // exchanged rows are exchanged columns of the inverse
  for (int k = n - 1; k >= 0; k--) {
    for (int i = 0; pivot[k] != k && i < n; i++) {
      double swap = A[i * n + k];
      A[i * n + k] = A[i * n + pivot[k]];
      A[i * n + pivot[k]] = swap;
    }
  }
  return 1;
}


// rows first .. last - 1 of U in all columns, and what they contribute to each other; the first column
// of the lower triangle keeps the diagonal, against which rounding is measured
static inline int choleskyRows(double* A, int n, int first, int last) {
  for (int k = first; k < last; k++) {
    double* row = A + k * n;
    double diagonal = k > 0 ? row[0] : row[k];
    if (!(row[k] > diagonal * n * DBL_EPSILON)) {
      return 0;
    }
    double inv = 1 / sqrt(row[k]);
    row[k] = inv;
    for (int j = k + 1; j < n; j++) {
      row[j] *= inv;
    }
    for (int i = k + 1; i < last; i++) {
      double* target = A + i * n;
      double f = row[i];
      for (int j = i; j < n; j++) {
        target[j] -= f * row[j];
      }
    }
  }
  return 1;
}


// block row by block row: what is below follows by products, one for each block of rows, because
// the lower triangle is of no use
static int choleskyBlocked(double* A, int n) {
  for (int first = 0; first < n; first += mjgBLOCK) {
    int last = first + mjgBLOCK < n ? first + mjgBLOCK : n;
    if (!choleskyRows(A, n, first, last)) {
      return 0;
    }
    for (int row = last; row < n; row += mjgBLOCK) {
      int count = row + mjgBLOCK < n ? mjgBLOCK : n - row;
      subtractProduct(A + row * n + row, A + first * n + row, A + first * n + row, 1, count,
                      n - row, last - first, n);
    }
  }
  return 1;
}


int mjg_cholesky(double* A, int n) {
  for (int i = 1; i < n; i++) {
    A[i * n] = A[i * n + i];
  }
  if (n >= mjgBLOCKED_CHOLESKY) {
    return choleskyBlocked(A, n);
  }
#define CHOLESKY(size) return choleskyRows(A, size, 0, size)
  FOR_CONSTANT_SIZE(CHOLESKY, n)
}


void mjg_choleskySolve(double* x, const double* U, int n) {
  for (int i = 0; i < n; i++) {
    x[i] *= U[i * n + i];
    for (int j = i + 1; j < n; j++) {
      x[j] -= U[i * n + j] * x[i];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int j = n - 1; j > i; j--) {
      sum -= U[i * n + j] * x[j];
    }
    x[i] = sum * U[i * n + i];
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

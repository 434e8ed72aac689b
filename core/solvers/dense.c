#include "solvers/dense.h"

#include <float.h>
#include <math.h>

#include "solvers/simd.h"

// From these sizes on, products of OpenBLAS in blocks of 16 are faster: 0.70 and 0.50 at 120.
enum {
  mjgiBLOCKED_LU = 56,
  mjgiBLOCKED_CHOLESKY = 32,
  mjgiBLOCK = 16
};

// OpenBLAS does not split a product of so many multiplications between threads (interface/gemm.c).
// Their number is a setting of the process: dgetrf with all cores takes 75 times as long at 120.
enum {
  mjgiUNSPLIT = 4 * 65536
};

// PyPI's scipy-openblas32 prefixes its functions, so that several may live in a process
#ifdef BLAS_SYMBOL_PREFIX
#define mjgiJOIN_(prefix, name) prefix##name
#define mjgiJOIN(prefix, name)  mjgiJOIN_(prefix, name)
#define dgemm_                  mjgiJOIN(BLAS_SYMBOL_PREFIX, dgemm_)
#endif

// asymmetry of a symmetric matrix, relative to the diagonal: sums in another order differ by less
static const double kSymmetric = 1e-10;

extern void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const double* alpha, const double* A, const int* lda, const double* B,
                   const int* ldb, const double* beta, double* C, const int* ldc);


// C -= L U, or L U' if flg_transpose; C is nrow x ncol, the sum over nk, rows are ld apart
static void subtractProduct(double* C, const double* L, const double* U, int flg_transpose,
                            int nrow, int ncol, int nk, int ld) {
  const double minus = -1, one = 1;
  int most = mjgiUNSPLIT / (ncol * nk);
  most = most > 1 ? most : 1;
  for (int row = 0; row < nrow; row += most) {
    int count = nrow - row < most ? nrow - row : most;
    // to column-major BLAS all matrices are transposed
    const double* part = flg_transpose ? L + row : L + row * ld;
    dgemm_("N", flg_transpose ? "T" : "N", &ncol, &count, &nk, &minus, U, &ld, part, &ld, &one,
           C + row * ld, &ld);
  }
}


// Compute rows i .. i + count - 1 of y = A x, for constant count, as independent sums.
static inline void mulRows(double* restrict y, const double* restrict A, const double* restrict x,
                           int n, int count) {
  mjgiSimd sum[mjgiSIMD] = {{0}};
  int j = 0;
  for (; j + mjgiSIMD <= n; j += mjgiSIMD) {
    for (int r = 0; r < count; r++) {
      sum[r] += *(const mjgiSimd*)(A + r * n + j) * *(const mjgiSimd*)(x + j);
    }
  }
  for (int r = 0; r < count; r++) {
    y[r] = (sum[r][0] + sum[r][2]) + (sum[r][1] + sum[r][3]);
  }
  for (; j < n; j++) {
    for (int r = 0; r < count; r++) {
      y[r] += A[r * n + j] * x[j];
    }
  }
}


void mjgi_mulMatVec(double* restrict y, const double* restrict A, const double* restrict x, int n) {
  int i = 0;
  for (; i + mjgiSIMD <= n; i += mjgiSIMD) {
    mulRows(y + i, A + i * n, x, n, mjgiSIMD);
  }
  for (; i < n; i++) {
    mulRows(y + i, A + i * n, x, n, 1);
  }
}


// Returns 1 if A is symmetric up to round-off.
static int isSymmetric(const double* A, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double a = A[i * n + j], b = A[j * n + i];
      double size = sqrt(fabs(A[i * n + i])) * sqrt(fabs(A[j * n + j]));
      if (!(fabs(a - b) <= kSymmetric * size)) {
        return 0;
      }
    }
  }
  return 1;
}


// row of the largest entry of column k on or below the diagonal
static inline int findPivot(const double* A, int k, int n, int ld) {
  const double* entry = A + k * ld + k;
  double largest = fabs(*entry);
  int best = k;
  for (int i = k + 1; i < n; i++) {
    entry += ld;
    if (fabs(*entry) > largest) {
      largest = fabs(*entry);
      best = i;
    }
  }
  return best;
}


static void exchange(double* x, double* y, int n) {
  for (int j = 0; j < n; j++) {
    double swap = x[j];
    x[j] = y[j];
    y[j] = swap;
  }
}


// Make row k of U from lane begin on, and eliminate it below, with the right side's entry z.
static inline __attribute__((always_inline)) void eliminate(double* A, double* x, double z, int k,
                                                            int n, int ld, int begin, int count,
                                                            double inv) {
  mjgiSimd u[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    mjgiSimd* from = (mjgiSimd*)(A + k * ld + begin) + c;
    u[c] = *from * inv;

    // entries up to the diagonal are unchanged
    if (c == 0 && begin <= k) {
      mjgiSimd right = *mjgi_simdFrom(k + 1 - begin);
      u[c] *= right;
      *from = *from * (1 - right) + u[c];
    } else {
      *from = u[c];
    }
  }
  double* row = A + k * ld;
  for (int i = k + 1; i < n; i++) {
    row += ld;
    double f = row[k];
    mjgiSimd* target = (mjgiSimd*)(row + begin);
    for (int c = 0; c < count; c++) {
      target[c] -= f * u[c];
    }
    x[i] -= f * z;
  }
}


// Eliminate within columns first .. last - 1, which end with a lane or the matrix. Rows are
// exchanged as a whole; columns of L need no work, because U has ones on its diagonal.
static inline __attribute__((always_inline)) int factorize(double* A, double* x, int* pivot, int n,
                                                           int ld, int first, int last,
                                                           double smallest) {
  for (int k = first; k < last; k++) {
    int best = pivot ? findPivot(A, k, n, ld) : k;
    if (best != k) {
      exchange(A + k * ld, A + best * ld, n);
      exchange(x + k, x + best, 1);
    }
    if (pivot) {
      pivot[k] = best;
    }
    double* diagonal = A + k * ld + k;
    if (!(fabs(*diagonal) > smallest)) {
      return 0;
    }

    // wide rows are eliminated in parts, the right side with the first
    double inv = 1 / *diagonal, z = x[k] * inv;
    x[k] = z;
    int begin = mjgi_simdBegin(k + 1), end = mjgi_simdEnd(last);
    if (begin == end) {
      for (int i = k + 1; i < n; i++) {
        x[i] -= A[i * ld + k] * z;
      }
    }
#define ELIMINATE(count)                           \
  eliminate(A, x, z, k, n, ld, begin, count, inv); \
  z = 0
    mjgiFOR_SIMD(ELIMINATE, begin, end)* diagonal = inv;
  }
  return 1;
}


// Factor block column by block column: the rows to its right, then the rest by one product.
static int factorizeBlocked(double* A, double* x, int* pivot, int n, int ld, double smallest) {
  for (int first = 0; first < n; first += mjgiBLOCK) {
    int last = first + mjgiBLOCK < n ? first + mjgiBLOCK : n;
    if (!factorize(A, x, pivot, n, ld, first, last, smallest)) {
      return 0;
    }
    for (int k = first; k < last; k++) {
      double* row = A + k * ld;
      for (int j = last; j < n; j++) {
        row[j] *= row[k];
      }
      for (int i = k + 1; i < last; i++) {
        double* target = A + i * ld;
        double f = target[k];
        for (int j = last; j < n; j++) {
          target[j] -= f * row[j];
        }
      }
    }
    if (last < n) {
      subtractProduct(A + last * ld + last, A + last * ld + first, A + first * ld + last, 0,
                      n - last, n - last, last - first, ld);
    }
  }
  return 1;
}


static inline void substituteBack(double* x, const double* LU, int n, int ld) {
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int j = n - 1; j > i; j--) {
      sum -= LU[i * ld + j] * x[j];
    }
    x[i] = sum;
  }
}


// constant sizes of most robots, for which the compiler unrolls the loops
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


// Returns the largest absolute value of n columns, by four independent maxima.
static double largestEntry(const double* A, int n, int ld) {
  double most[mjgiSIMD] = {0};
  for (int i = 0; i < n; i++, A += ld) {
    int j = 0;
    for (; j + mjgiSIMD <= n; j += mjgiSIMD) {
      for (int k = 0; k < mjgiSIMD; k++) {
        double size = fabs(A[j + k]);
        most[k] = size > most[k] ? size : most[k];
      }
    }
    for (; j < n; j++) {
      most[0] = mjgi_max(most[0], fabs(A[j]));
    }
  }
  return mjgi_max(mjgi_max(most[0], most[1]), mjgi_max(most[2], most[3]));
}


int mjgi_lu(double* A, double* x, int* pivot, int n) {
  // a pivot below this is round-off
  int ld = mjgi_simdEnd(n);
  double smallest = largestEntry(A, n, ld) * n * DBL_EPSILON;
  if (n >= mjgiBLOCKED_LU) {
    if (!factorizeBlocked(A, x, pivot, n, ld, smallest)) {
      return 0;
    }
    substituteBack(x, A, n, ld);
    return 1;
  }
#define SOLVE(size)                                                           \
  if (!factorize(A, x, pivot, size, mjgi_simdEnd(size), 0, size, smallest)) { \
    return 0;                                                                 \
  }                                                                           \
  substituteBack(x, A, size, mjgi_simdEnd(size));                             \
  return 1
  FOR_CONSTANT_SIZE(SOLVE, n)
}


void mjgi_luSolve(double* x, const double* LU, const int* pivot, int n) {
  int ld = mjgi_simdEnd(n);
  for (int i = 0; pivot && i < n; i++) {
    exchange(x + i, x + pivot[i], 1);
  }
  for (int i = 0; i < n; i++) {
    double sum = x[i];
    for (int j = 0; j < i; j++) {
      sum -= LU[i * ld + j] * x[j];
    }
    x[i] = sum * LU[i * ld + i];
  }
  substituteBack(x, LU, n, ld);
}


// Gauss-Jordan
int mjgi_inverse(double* A, int* pivot, int n) {
  double smallest = largestEntry(A, n, n) * n * DBL_EPSILON;
  int sign = 1;
  for (int k = 0; k < n; k++) {
    double* row = A + k * n;
    pivot[k] = findPivot(A, k, n, n);
    if (pivot[k] != k) {
      exchange(row, A + pivot[k] * n, n);
    }
    if (!(fabs(row[k]) > smallest)) {
      return 0;
    }
    sign = (pivot[k] != k) != (row[k] < 0) ? -sign : sign;
    double inv = 1 / row[k];
    row[k] = 1;
    for (int j = 0; j < n; j++) {
      row[j] *= inv;
    }
    for (int i = 0; i < n; i++) {
      double* target = A + i * n;
      double f = target[k];
      if (i != k && f != 0) {
        target[k] = 0;
        mjgi_addScaled(target, row, -f, n);
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
  return sign;
}


// Compute rows first .. last - 1 of U; the first column below the diagonal keeps the diagonal.
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


// Factor block row by block row, with one product for each block of rows below.
static int choleskyBlocked(double* A, int n) {
  for (int first = 0; first < n; first += mjgiBLOCK) {
    int last = first + mjgiBLOCK < n ? first + mjgiBLOCK : n;
    if (!choleskyRows(A, n, first, last)) {
      return 0;
    }
    for (int row = last; row < n; row += mjgiBLOCK) {
      int count = row + mjgiBLOCK < n ? mjgiBLOCK : n - row;
      subtractProduct(A + row * n + row, A + first * n + row, A + first * n + row, 1, count,
                      n - row, last - first, n);
    }
  }
  return 1;
}


int mjgi_cholesky(double* A, int n) {
  for (int i = 1; i < n; i++) {
    A[i * n] = A[i * n + i];
  }
  if (n >= mjgiBLOCKED_CHOLESKY) {
    return choleskyBlocked(A, n);
  }
#define CHOLESKY(size) return choleskyRows(A, size, 0, size)
  FOR_CONSTANT_SIZE(CHOLESKY, n)
}


int mjgi_factorMass(double* U, const double* A, int n) {
  for (int i = 0; i < n * n; i++) {
    U[i] = A[i];
  }
  return isSymmetric(A, n) && mjgi_cholesky(U, n);
}


void mjgi_choleskySolve(double* x, const double* U, int n) {
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

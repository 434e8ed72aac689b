// Dense linear algebra: loops for small matrices, blocks by OpenBLAS for large ones. Matrices are
// row-major and square. Nothing allocates.

#ifndef MJGEAR_DENSE_H_
#define MJGEAR_DENSE_H_

#include "solvers/simd.h"

// matrices of dense_newton.h
#define mjgiDENSE


// Returns the distance of the rows of a matrix in lanes.
static inline int mjgi_rowStride(int n) {
  return mjgi_simdEnd(n);
}


// Returns the larger of two numbers, in one instruction, unlike fmax; NaN is undefined.
static inline double mjgi_max(double a, double b) {
  return a > b ? a : b;
}


// y = A x
void mjgi_mulMatVec(double* y, const double* A, const double* x, int n);

// Factor A = P L U in place, with partial pivoting, or without (pivot null), which is stable for
// matrices that are quasidefinite up to scaled rows. A is in lanes (simd.h); the diagonal of L is
// stored inverted, that of U is 1. Also x := A^-1 x. Returns 0, and spoils x, if a pivot is below
// n * DBL_EPSILON of the largest entry, else 1.
int mjgi_lu(double* A, double* x, int* pivot, int n);

// x = (P L U)^-1 x for another right side
void mjgi_luSolve(double* x, const double* LU, const int* pivot, int n);

// A := A^-1 in place with partial pivoting. Returns the sign of the determinant, or 0 as mjgi_lu,
// and spoils A.
int mjgi_inverse(double* A, int* pivot, int n);

// Factor A = U' U in the upper triangle, with the diagonal of U inverted; the lower triangle is
// scratch. Returns 0 if A is not positive definite, else 1.
int mjgi_cholesky(double* A, int n);

// Factor a copy of A in U likewise; returns 0 also if A is not symmetric.
int mjgi_factorMass(double* U, const double* A, int n);

// x = (U' U)^-1 x
void mjgi_choleskySolve(double* x, const double* U, int n);

#endif  // MJGEAR_DENSE_H_

// Dense linear algebra: by hand where matrices are small, blocks by OpenBLAS where they
// are large. Matrices are row-major and square. Nothing here allocates.

#ifndef MJGEAR_DENSE_H_
#define MJGEAR_DENSE_H_

#include "solvers/simd.h"

// these are the matrices of dense_newton.h
#define mjgiDENSE


// numbers that the rows of a matrix in lanes are apart
static inline int mjgi_rowStride(int n) {
  return mjgi_simdEnd(n);
}


// larger of two numbers; unlike fmax it is one instruction, and has no opinion about NaN
static inline double mjgi_max(double a, double b) {
  return a > b ? a : b;
}


// y = A x
void mjgi_mulMatVec(double* y, const double* A, const double* x, int n);

// A = P L U in place, with partial pivoting; without it if pivot is null, which is stable
// for matrices that are quasidefinite up to a scaling of rows. A is in lanes (simd.h);
// the diagonal of L is stored inverted, that of U is 1. Solves one right side on the way:
// x := A^-1 x. Returns 0 if a pivot is not above n * DBL_EPSILON relative to the largest
// entry, x is spoilt then, else 1
int mjgi_lu(double* A, double* x, int* pivot, int n);

// x = (P L U)^-1 x for another right side
void mjgi_luSolve(double* x, const double* LU, const int* pivot, int n);

// A := A^-1 in place with partial pivoting; returns the sign of the determinant, or 0 as
// mjgi_lu does, A is spoilt then
int mjgi_inverse(double* A, int* pivot, int n);

// A = U' U in place in the upper triangle, with the diagonal of U stored inverted; reads
// the upper triangle only and uses the lower one. Returns 1, or 0 if A is not positive
// definite
int mjgi_cholesky(double* A, int n);

// the same of a copy in U, if A is symmetric too, as what a mass matrix is
int mjgi_factorMass(double* U, const double* A, int n);

// x = (U' U)^-1 x
void mjgi_choleskySolve(double* x, const double* U, int n);

// largest singular value of A; x and y are scratch
double mjgi_sigmaMax(const double* A, int n, double* x, double* y);

#endif  // MJGEAR_DENSE_H_

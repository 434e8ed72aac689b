// The yardstick: one dense symmetric positive definite solve of seven unknowns, written by hand.

#ifndef MJGEAR_BENCHMARKS_CHOLESKY_H_
#define MJGEAR_BENCHMARKS_CHOLESKY_H_

#ifdef __cplusplus
extern "C" {
#endif

// x = A^-1 b for a 7 x 7 matrix whose lower half is read: factor, then two triangular solves
void mjg_cholesky7(double x[7], const double A[49], const double b[7]);

#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_CHOLESKY_H_

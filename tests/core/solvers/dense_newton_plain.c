// compiled once with mjgREAL float, once without

#include "solvers/dense_newton.h"

#include "dense_newton_plain.h"

#ifdef mjgTEST_FLOAT
#define newton plainFloat
#else
#define newton plainDouble
#endif


int newton(mjgREAL* t, mjgREAL* v, mjgREAL* lambda, int* mode, const mjgREAL* A,
           const mjgREAL* v_free, const mjgREAL* phi, const mjgREAL* alpha, const mjgREAL* beta,
           const mjgREAL* coulomb, const mjgREAL* static_ratio, const mjgREAL* v0, int n,
           mjgREAL* number, int* integer, int flg_release) {
  return mjgi_denseNewton(t, v, lambda, mode, A, v_free, phi, alpha, beta, coulomb, static_ratio,
                          v0, n, number, integer, flg_release);
}


#ifndef mjgTEST_FLOAT
void plainMulMatVec(double* y, const double* A, const double* x, int n) {
  mjgi_mulMatVec(y, A, x, n);
}


int plainLu(double* LU, double* x, int* pivot, int n) {
  return mjgi_lu(LU, x, pivot, n);
}
#endif

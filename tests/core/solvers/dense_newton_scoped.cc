// both precisions in one program, each in a struct in the body of a function

#include "dense_newton_plain.h"


int scopedDouble(double* t, double* v, double* lambda, int* mode, const double* A,
                 const double* v_free, const double* phi, const double* alpha, const double* beta,
                 const double* coulomb, const double* static_ratio, const double* v0, int n,
                 double* number, int* integer, int flg_release) {
#define mjgREAL double
  struct Core {
#include "solvers/dense_newton.h"
  };
  return Core::mjgi_denseNewton(t, v, lambda, mode, A, v_free, phi, alpha, beta, coulomb,
                                static_ratio, v0, n, number, integer, flg_release);
}

#undef mjgREAL
#undef MJGEAR_LAW_H_
#undef MJGEAR_DENSE_NEWTON_H_


int scopedFloat(float* t, float* v, float* lambda, int* mode, const float* A, const float* v_free,
                const float* phi, const float* alpha, const float* beta, const float* coulomb,
                const float* static_ratio, const float* v0, int n, float* number, int* integer,
                int flg_release) {
#define mjgREAL float
  struct Core {
#include "solvers/dense_newton.h"
  };
  return Core::mjgi_denseNewton(t, v, lambda, mode, A, v_free, phi, alpha, beta, coulomb,
                                static_ratio, v0, n, number, integer, flg_release);
}

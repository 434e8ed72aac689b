// dense_newton.h as other programs compile it: with plain loops, in either precision.

#ifndef MJGEAR_TESTS_DENSE_NEWTON_PLAIN_H_
#define MJGEAR_TESTS_DENSE_NEWTON_PLAIN_H_

#ifdef __cplusplus
extern "C" {
#endif

// mjgi_denseNewton in double and single precision
int plainDouble(double* t, double* v, double* lambda, int* mode, const double* A,
                const double* v_free, const double* phi, const double* alpha, const double* beta,
                const double* coulomb, const double* static_ratio, const double* v0, int n,
                double* number, int* integer, int flg_release);
int plainFloat(float* t, float* v, float* lambda, int* mode, const float* A, const float* v_free,
               const float* phi, const float* alpha, const float* beta, const float* coulomb,
               const float* static_ratio, const float* v0, int n, float* number, int* integer,
               int flg_release);

// both, from structs in a function of a C++ program
int scopedDouble(double* t, double* v, double* lambda, int* mode, const double* A,
                 const double* v_free, const double* phi, const double* alpha, const double* beta,
                 const double* coulomb, const double* static_ratio, const double* v0, int n,
                 double* number, int* integer, int flg_release);
int scopedFloat(float* t, float* v, float* lambda, int* mode, const float* A, const float* v_free,
                const float* phi, const float* alpha, const float* beta, const float* coulomb,
                const float* static_ratio, const float* v0, int n, float* number, int* integer,
                int flg_release);

// y = A x and x = A^-1 x by the plain loops; LU and pivot stay for inspection
void plainMulMatVec(double* y, const double* A, const double* x, int n);
int plainLu(double* LU, double* x, int* pivot, int n);

#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_TESTS_DENSE_NEWTON_PLAIN_H_

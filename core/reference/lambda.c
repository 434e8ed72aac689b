#include <math.h>
#include <string.h>

#include "solvers/check.h"
#include "solvers/dense.h"
#include "solvers/simd.h"
#include "solvers/workspace.h"


// Newton ends where signs repeat, or this far below the tolerance, where signs of rounding may not
static const double kBelow = 1e-3;

// of Phi, the default of mjgSettings
static const double kTolerance = 1e-12;

// default limits: Newton on n signs rarely takes more than n steps, a fixed point converges linearly
enum {
  mjgiNEWTON = 100,
  mjgiFIXED_POINT = 100000
};


// largest |lambda - P |lambda| - phi| relative to the terms; next (nullable) gets phi + P |lambda|
static double residual(double* next, const double* lambda, const double* phi, const double* P,
                       int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double sum = phi[i], size = fabs(phi[i]) + fabs(lambda[i]);
    for (int j = 0; j < n; j++) {
      sum += P[i * n + j] * fabs(lambda[j]);
      size += fabs(P[i * n + j] * lambda[j]);
    }
    if (next) {
      next[i] = sum;
    }
    double error = fabs(lambda[i] - sum);
    if (!isfinite(size)) {
      return INFINITY;
    }
    if (!(error <= worst * size)) {
      worst = error / size;
    }
  }
  return worst;
}


// lambda = (I - P [sgn lambda])^-1 phi until the signs repeat
static int newton(double* lambda, double* x, double* K, int* pivot, int* factorizations,
                  const double* phi, const double* P, int n, int iterations, double tolerance) {
  int ld = mjgi_simdEnd(n);
  for (int iter = 1; iter <= iterations; iter++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        K[i * ld + j] = (i == j) - (lambda[j] < 0 ? -P[i * n + j] : P[i * n + j]);
      }
      x[i] = phi[i];
    }
    (*factorizations)++;
    if (!mjgi_lu(K, x, pivot, n)) {
      return iter;
    }
    int same = 1;
    for (int i = 0; i < n; i++) {
      same &= (x[i] < 0) == (lambda[i] < 0);
      lambda[i] = x[i];
    }
    if (same || residual(NULL, lambda, phi, P, n) <= tolerance * kBelow) {
      return iter;
    }
  }
  return iterations;
}


int mjg_lambda(double* lambda, mjgInfo* info, const double* phi, const double* P, int n, int method,
               int iterations, double tolerance, mjgWorkspace* work) {
  if (n < 0 || !work || (n > 0 && (!lambda || !phi || !P)) || iterations < 0 || !(tolerance >= 0) ||
      (method != mjgLAMBDA_NEWTON && method != mjgLAMBDA_FIXED_POINT)) {
    return mjgERR_ARGUMENT;
  }
  if (n > work->nmax) {
    return mjgERR_WORKSPACE;
  }
  size_t nv = (size_t)n;
  if (!mjgi_allFinite(phi, nv) || !mjgi_allFinite(P, nv * nv)) {
    return mjgERR_NOT_FINITE;
  }

  // start as Remark 3 says; the result is written at the end, so that phi may be the output
  mjgiBlock* b = &work->block;
  double* x = b->z;
  for (int i = 0; i < n; i++) {
    x[i] = phi[i];
  }
  mjgInfo result = {.status = mjgSOLVED, .sigma_max = -1};
  if (method == mjgLAMBDA_NEWTON) {
    result.iterations = newton(x, b->x, b->K, b->pivot, &result.factorizations, phi, P, n,
                               iterations > 0 ? iterations : mjgiNEWTON, tolerance);
  } else {
    int limit = iterations > 0 ? iterations : mjgiFIXED_POINT;
    while (result.iterations < limit && residual(b->x, x, phi, P, n) > tolerance) {
      memcpy(x, b->x, (size_t)n * sizeof(double));
      result.iterations++;
    }
  }
  if (!mjgi_allFinite(x, nv)) {
    return mjgERR_NOT_FINITE;
  }
  result.residual = residual(NULL, x, phi, P, n);
  if (!(result.residual <= tolerance)) {
    result.status = mjgITERATION_LIMIT;
  }
  for (int i = 0; i < n; i++) {
    lambda[i] = x[i];
  }
  if (info) {
    *info = result;
  }
  return result.status;
}


int mjg_Phi(double* Phi, const double* s, const double* phi, const double* P, int n,
            mjgWorkspace* work) {
  if (n < 0 || !work || (n > 0 && (!Phi || !s || !phi || !P))) {
    return mjgERR_ARGUMENT;
  }
  if (n > work->nmax) {
    return mjgERR_WORKSPACE;
  }

  // (59): [s] lambda(phi, P [s])
  double* Ps = work->matrix;
  double* keep = work->block.y;
  for (int i = 0; i < n; i++) {
    if (!isfinite(s[i])) {
      return mjgERR_NOT_FINITE;
    }
    if (fabs(s[i]) > 1) {
      return mjgERR_ARGUMENT;
    }
    keep[i] = s[i];
    for (int j = 0; j < n; j++) {
      Ps[i * n + j] = P[i * n + j] * s[j];
    }
  }
  double* lambda = work->block.w;
  int status = mjg_lambda(lambda, NULL, phi, Ps, n, mjgLAMBDA_NEWTON, 0, kTolerance, work);
  if (status < 0) {
    return status;
  }

  // the friction bound is the load's size, the direction of motion gives the sign
  for (int i = 0; i < n; i++) {
    Phi[i] = keep[i] * fabs(lambda[i]);
  }
  return status;
}

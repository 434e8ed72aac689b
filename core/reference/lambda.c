#include <math.h>
#include <string.h>

#include "mjgear_paper.h"
#include "solvers/dense.h"
#include "solvers/simd.h"
#include "solvers/solvers.h"
#include "solvers/workspace.h"


// Newton ends when signs repeat, or at this share of the tolerance, where signs are round-off
static const double kBelow = 1e-3;

// tolerance of Phi, the default of mjgSettings
static const double kTolerance = 1e-12;

// default limits: Newton on n signs rarely takes more than n steps
enum {
  mjgiNEWTON = 100,
  mjgiFIXED_POINT = 100000
};


// largest |lambda - P |lambda| - phi| relative to the terms; next gets phi + P |lambda|
static double residual(double* next, const double* lambda, const double* phi, const double* P,
                       int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double sum = phi[i], size = fabs(phi[i]) + fabs(lambda[i]);
    for (int j = 0; j < n; j++) {
      sum += P[i * n + j] * fabs(lambda[j]);
      size += fabs(P[i * n + j] * lambda[j]);
    }
    next[i] = sum;
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


// lambda := (I - P [sgn lambda])^-1 phi. Returns 0 if signs are unchanged or the matrix is
// singular.
static int newton(double* lambda, mjgiBlock* b, const double* phi, const double* P, int n) {
  int ld = mjgi_simdEnd(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      b->K[i * ld + j] = (i == j) - (lambda[j] < 0 ? -P[i * n + j] : P[i * n + j]);
    }
    b->x[i] = phi[i];
  }
  if (!mjgi_lu(b->K, b->x, b->pivot, n)) {
    return 0;
  }
  int changed = 0;
  for (int i = 0; i < n; i++) {
    changed |= (b->x[i] < 0) != (lambda[i] < 0);
    lambda[i] = b->x[i];
  }
  return changed;
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

  // start as in Remark 3; phi may be the output
  mjgiBlock* b = &work->block;
  double* x = b->z;
  for (int i = 0; i < n; i++) {
    x[i] = phi[i];
  }
  mjgInfo result = {.status = mjgSOLVED};
  int by_newton = method == mjgLAMBDA_NEWTON, goes_on = n > 0;
  int limit = iterations > 0 ? iterations : by_newton ? mjgiNEWTON : mjgiFIXED_POINT;
  double enough = by_newton ? tolerance * kBelow : tolerance;
  while (goes_on && result.iterations < limit && residual(b->y, x, phi, P, n) > enough) {
    if (by_newton) {
      goes_on = newton(x, b, phi, P, n);
      result.factorizations++;
    } else {
      memcpy(x, b->y, nv * sizeof(double));
    }
    result.iterations++;
  }
  if (!mjgi_allFinite(x, nv)) {
    return mjgERR_NOT_FINITE;
  }
  result.residual = residual(b->y, x, phi, P, n);
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
  double* keep = work->block.t;
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

  for (int i = 0; i < n; i++) {
    Phi[i] = keep[i] * fabs(lambda[i]);
  }
  return status;
}

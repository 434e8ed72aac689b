#include <math.h>

#include "mjgear_paper.h"
#include "solvers/dense.h"
#include "solvers/solvers.h"
#include "solvers/workspace.h"


// Check the constants of n joints; returns mjgSOLVED or an error.
static int checkJoints(const mjgJoints* joints, int n) {
  if (n < 0 || (n > 0 && (!joints || !joints->gamma_u || !joints->gamma_v || !joints->inertia))) {
    return mjgERR_ARGUMENT;
  }
  size_t nv = (size_t)n;
  if (n > 0 && (!mjgi_allFinite(joints->gamma_u, nv) || !mjgi_allFinite(joints->gamma_v, nv) ||
                !mjgi_allFinite(joints->inertia, nv))) {
    return mjgERR_NOT_FINITE;
  }
  for (int i = 0; i < n; i++) {
    if (joints->inertia[i] < 0) {
      return mjgERR_ARGUMENT;
    }
  }
  return mjgSOLVED;
}


static double entry(const double* W, const mjgJoints* joints, size_t i, size_t j, size_t n) {
  double scale = (joints->gamma_u[i] + joints->gamma_v[i]) * joints->inertia[i];
  return scale * W[i * n + j] - (i == j ? joints->gamma_v[i] : 0);
}


int mjg_P(double* P, const double* W, const mjgJoints* joints, int n) {
  int status = checkJoints(joints, n);
  if (n > 0 && (!P || !W)) {
    return mjgERR_ARGUMENT;
  }
  if (status != mjgSOLVED) {
    return status;
  }

  // P may be W: write after checking all
  size_t nv = (size_t)n;
  for (size_t k = 0; k < nv * nv; k++) {
    if (!isfinite(entry(W, joints, k / nv, k % nv, nv))) {
      return mjgERR_NOT_FINITE;
    }
  }
  for (size_t k = 0; k < nv * nv; k++) {
    P[k] = entry(W, joints, k / nv, k % nv, nv);
  }
  return mjgSOLVED;
}


static int checkStep(const double* Mhat, const double* tau_u, const double* tau_v, const double* v,
                     const mjgJoints* joints, double h, int n) {
  if (n < 0 || (n > 0 && (!Mhat || !tau_u || !tau_v || !v))) {
    return mjgERR_ARGUMENT;
  }
  size_t nv = (size_t)n;
  if (!mjgi_allFinite(&h, 1) || !mjgi_allFinite(Mhat, nv * nv) || !mjgi_allFinite(tau_u, nv) ||
      !mjgi_allFinite(tau_v, nv) || !mjgi_allFinite(v, nv)) {
    return mjgERR_NOT_FINITE;
  }
  return h <= 0 ? mjgERR_ARGUMENT : checkJoints(joints, n);
}


// A = h M-hat^-1, (65), from the factor of M-hat; one column is one row
static void velocityEffect(double* A, const double* L, double h, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i * n + j] = i == j ? h : 0;
    }
    mjgi_choleskySolve(A + i * n, L, n);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double mean = 0.5 * (A[i * n + j] + A[j * n + i]);
      A[i * n + j] = mean;
      A[j * n + i] = mean;
    }
  }
}


int mjg_step(double* v_next, mjgSolution* solution, mjgInfo* info, const double* Mhat,
             const double* tau_u, const double* tau_v, const double* v, const mjgJoints* joints,
             double h, int n, const mjgSettings* settings, mjgWorkspace* work) {
  if (!work || (n > 0 && !v_next)) {
    return mjgERR_ARGUMENT;
  }
  if (n > work->nmax) {
    return mjgERR_WORKSPACE;
  }
  int status = checkStep(Mhat, tau_u, tau_v, v, joints, h, n);
  if (status != mjgSOLVED) {
    return status;
  }

  // factorize M-hat
  double* L = work->block.K;
  if (!mjgi_factorMass(L, Mhat, n)) {
    return mjgERR_NOT_PD;
  }

  double* A = work->matrix;
  velocityEffect(A, L, h, n);

  // acceleration without friction, v* of (66), phi of (62), and P of (52) by its factors
  double* acc = work->vector[0];
  double* vstar = work->vector[1];
  double* phi = work->vector[2];
  double* alpha = work->vector[3];
  for (int i = 0; i < n; i++) {
    acc[i] = tau_u[i] - tau_v[i];
  }
  mjgi_choleskySolve(acc, L, n);
  for (int i = 0; i < n; i++) {
    double gamma = joints->gamma_u[i] + joints->gamma_v[i];
    vstar[i] = v[i] + h * acc[i];
    phi[i] = gamma * (tau_u[i] - joints->inertia[i] * acc[i]);
    alpha[i] = gamma * joints->inertia[i] / h;
  }
  mjgProblem problem = {.n = n,
                        .v = vstar,
                        .A = A,
                        .phi = phi,
                        .alpha = alpha,
                        .beta = n > 0 ? joints->gamma_v : NULL};

  // results that the caller does not want stay in the workspace
  mjgSolution own = {work->vector[4], v_next, work->vector[5], work->mode};
  if (!solution) {
    return mjg_solve(&own, info, &problem, settings, work);
  }
  status = mjg_solve(solution, info, &problem, settings, work);
  for (int i = 0; status >= 0 && i < n; i++) {
    v_next[i] = solution->v[i];
  }
  return status;
}

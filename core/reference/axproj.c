#include "mjgear_paper.h"
#include "solvers/dense.h"
#include "solvers/solvers.h"
#include "solvers/workspace.h"


int mjg_axproj(double* y, mjgInfo* info, const double* v, const double* A, const double* phi,
               const double* P, int n, const mjgSettings* settings, mjgWorkspace* work) {
  if (n < 0 || !work || (n > 0 && (!y || !v || !A || !phi || !P))) {
    return mjgERR_ARGUMENT;
  }
  if (n > work->nmax) {
    return mjgERR_WORKSPACE;
  }

  // A must be a mass matrix
  if (!mjgi_allFinite(A, (size_t)n * (size_t)n)) {
    return mjgERR_NOT_FINITE;
  }
  if (!mjgi_factorMass(work->block.K, A, n)) {
    return mjgERR_NOT_PD;
  }

  mjgProblem problem = {.n = n, .v = v, .A = A, .phi = phi, .P = P};
  mjgSolution solution = {work->vector[0], work->vector[1], work->vector[2], work->mode};
  mjgSettings cold = settings ? *settings : (mjgSettings){.solver = -1};
  cold.warm_start = 0;
  mjgInfo result;
  int status = mjg_solve(&solution, &result, &problem, &cold, work);
  if (status < 0) {
    return status;
  }

  // y = v - v+, which may overflow
  for (int i = 0; i < n; i++) {
    solution.v[i] = v[i] - solution.v[i];
  }
  if (!mjgi_allFinite(solution.v, (size_t)n)) {
    return mjgERR_NOT_FINITE;
  }
  for (int i = 0; i < n; i++) {
    y[i] = solution.v[i];
  }
  if (info) {
    *info = result;
  }
  return status;
}

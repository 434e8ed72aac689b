#include "solvers/check.h"

#include "mjgear_backlash.h"
#include "solvers/simd.h"
#include "solvers/workspace.h"


// 0 x is 0 unless x is NaN or infinite
int mjgi_allFinite(const double* x, size_t count) {
  mjgiSimd sum = {0};
  double rest = 0;
  size_t i = 0;
  for (; i + mjgiSIMD <= count; i += mjgiSIMD) {
    sum += 0 * *(const mjgiSimd*)(x + i);
  }
  for (; i < count; i++) {
    rest += 0 * x[i];
  }
  return (sum[0] + sum[2]) + (sum[1] + sum[3]) + rest == 0;
}


// a coupling by itself: mjgSOLVED or an error
static int checkCoupling(const mjgCoupling* c) {
  const double number[] = {c->theta_d,  c->omega_d, c->theta_b, c->omega_s, c->inertia,
                           c->velocity, c->torque,  c->gamma_u, c->gamma_v, c->static_ratio};
  if (!mjgi_allFinite(number, sizeof(number) / sizeof(*number))) {
    return mjgERR_NOT_FINITE;
  }
  if (mjg_backlashError(c->law) || !(c->h > 0) || !(c->blend >= 0 && c->blend <= mjgMAXBLEND) ||
      c->inertia < 0 || !(c->coulomb >= 0)) {
    return mjgERR_ARGUMENT;
  }
  return mjgSOLVED;
}


int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work) {
  if (!problem || !work || problem->n < 0 || problem->nblock < 0) {
    return mjgERR_ARGUMENT;
  }
  int n = problem->n;
  if (n == 0) {
    return mjgSOLVED;
  }
  if (!problem->v || !problem->A || !problem->phi || (problem->nblock > 0 && !problem->block) ||
      (!problem->P && (!problem->alpha || !problem->beta))) {
    return mjgERR_ARGUMENT;
  }

  // sizes of the blocks
  int nblock = problem->nblock > 0 ? problem->nblock : 1;
  const int* block = problem->nblock > 0 ? problem->block : &problem->n;
  int left = n, largest = 0;
  size_t nmatrix = 0;
  for (int k = 0; k < nblock; k++) {
    if (block[k] < 0 || block[k] > left) {
      return mjgERR_ARGUMENT;
    }
    left -= block[k];
    largest = block[k] > largest ? block[k] : largest;
    nmatrix += (size_t)block[k] * (size_t)block[k];
  }
  if (left != 0) {
    return mjgERR_ARGUMENT;
  }
  if (n > work->n || largest > work->nmax) {
    return mjgERR_WORKSPACE;
  }

  // numbers
  size_t nv = (size_t)n;
  if (!mjgi_allFinite(problem->v, nv) || !mjgi_allFinite(problem->A, nmatrix) ||
      !mjgi_allFinite(problem->phi, nv) || (problem->P && !mjgi_allFinite(problem->P, nmatrix)) ||
      (!problem->P &&
       (!mjgi_allFinite(problem->alpha, nv) || !mjgi_allFinite(problem->beta, nv))) ||
      (problem->coulomb && !mjgi_allFinite(problem->coulomb, nv)) ||
      (problem->static_ratio && !mjgi_allFinite(problem->static_ratio, nv)) ||
      (problem->v0 && !mjgi_allFinite(problem->v0, nv))) {
    return mjgERR_NOT_FINITE;
  }
  for (int i = 0; i < n; i++) {
    if ((problem->coulomb && problem->coulomb[i] < 0) ||
        (problem->static_ratio && problem->static_ratio[i] < 1)) {
      return mjgERR_ARGUMENT;
    }
  }
  for (int i = 0; problem->coupling && i < n; i++) {
    int status = problem->coupling[i] ? checkCoupling(problem->coupling[i]) : mjgSOLVED;
    if (status != mjgSOLVED) {
      return status;
    }
  }
  const double* A = problem->A;
  for (int k = 0; k < nblock; k++) {
    for (int i = 0; i < block[k]; i++) {
      if (!(A[i * block[k] + i] > 0)) {
        return mjgERR_NOT_PD;
      }
    }
    A += (size_t)block[k] * (size_t)block[k];
  }
  return mjgSOLVED;
}

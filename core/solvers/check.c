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
      (c->inertia != 0 && !(c->inertia >= mjgMINROTOR)) || !(c->coulomb >= 0)) {
    return mjgERR_ARGUMENT;
  }
  return mjgSOLVED;
}


// are all rows of a block without couplings sound: the quick answer to what checkRow says one by one
static int areSound(const mjgProblem* p, int first, int n, const double* P) {
  const double *c = p->coulomb, *ratio = p->static_ratio, *v0 = p->v0;
  size_t count = (size_t)n;
  int low = 0;
  for (int i = first; c && i < first + n; i++) {
    low |= c[i] < 0;
  }
  for (int i = first; ratio && i < first + n; i++) {
    low |= ratio[i] < 1;
  }
  return !low && mjgi_allFinite(p->phi + first, count) &&
         (!c || mjgi_allFinite(c + first, count)) &&
         (!ratio || mjgi_allFinite(ratio + first, count)) &&
         (!v0 || mjgi_allFinite(v0 + first, count)) &&
         (P ? mjgi_allFinite(P, count * count)
            : mjgi_allFinite(p->alpha + first, count) && mjgi_allFinite(p->beta + first, count));
}


// row i by itself: of a coupling's row nothing but v* and A counts. P (nullable) is its row of n entries
static int checkRow(const mjgProblem* p, int i, const double* P, int n) {
  if (p->coupling && p->coupling[i]) {
    return checkCoupling(p->coupling[i]);
  }
  double sum = p->phi[i] * 0;
  sum += P ? 0 : 0 * p->alpha[i] + 0 * p->beta[i];
  sum += (p->coulomb ? 0 * p->coulomb[i] : 0) + (p->static_ratio ? 0 * p->static_ratio[i] : 0) +
         (p->v0 ? 0 * p->v0[i] : 0);
  if (sum != 0 || (P && !mjgi_allFinite(P, (size_t)n))) {
    return mjgERR_NOT_FINITE;
  }
  return (p->coulomb && p->coulomb[i] < 0) || (p->static_ratio && p->static_ratio[i] < 1)
             ? mjgERR_ARGUMENT
             : mjgSOLVED;
}


// sizes of the blocks against the problem and the workspace
static int checkBlocks(const mjgProblem* problem, const mjgWorkspace* work) {
  int left = problem->n, largest = problem->nblock > 0 ? 0 : problem->n;
  for (int k = 0; k < problem->nblock; k++) {
    int size = problem->block[k];
    if (size < 0 || size > left) {
      return mjgERR_ARGUMENT;
    }
    left -= size;
    largest = size > largest ? size : largest;
  }
  if (problem->nblock > 0 && left != 0) {
    return mjgERR_ARGUMENT;
  }
  return problem->n > work->n || largest > work->nmax ? mjgERR_WORKSPACE : mjgSOLVED;
}


int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work) {
  if (!problem || !work || problem->n < 0 || problem->nblock < 0 ||
      (problem->nblock > 0 && !problem->block)) {
    return mjgERR_ARGUMENT;
  }
  if (problem->n > 0 && (!problem->v || !problem->A || !problem->phi ||
                         (!problem->P && (!problem->alpha || !problem->beta)))) {
    return mjgERR_ARGUMENT;
  }
  int status = checkBlocks(problem, work);
  if (status != mjgSOLVED || problem->n == 0) {
    return status;
  }

  // numbers; what is wrong with a row counts before a diagonal that is not positive
  if (!mjgi_allFinite(problem->v, (size_t)problem->n)) {
    return mjgERR_NOT_FINITE;
  }
  int nblock = problem->nblock > 0 ? problem->nblock : 1, positive = 1;
  const int* block = problem->nblock > 0 ? problem->block : &problem->n;
  const double *A = problem->A, *P = problem->P;
  for (int k = 0, row = 0; k < nblock; k++) {
    int n = block[k];
    if (!mjgi_allFinite(A, (size_t)n * (size_t)n)) {
      return mjgERR_NOT_FINITE;
    }
    int sound = !problem->coupling && areSound(problem, row, n, P);
    for (int i = 0; i < n && !sound; i++) {
      status = checkRow(problem, row + i, P ? P + (size_t)i * (size_t)n : NULL, n);
      if (status != mjgSOLVED) {
        return status;
      }
    }
    for (int i = 0; i < n; i++) {
      // a coupling has the inertia of its rotor besides
      const mjgCoupling* coupling = problem->coupling ? problem->coupling[row + i] : NULL;
      positive &= A[(size_t)i * (size_t)(n + 1)] > 0 || (coupling && coupling->inertia > 0);
    }
    row += n;
    A += (size_t)n * (size_t)n;
    P = P ? P + (size_t)n * (size_t)n : NULL;
  }
  return positive ? mjgSOLVED : mjgERR_NOT_PD;
}

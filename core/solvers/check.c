#include "solvers/check.h"

#include <math.h>

#include "mjgear_backlash.h"
#include "solvers/simd.h"
#include "solvers/workspace.h"


// add 0 times n numbers to sum and to rest: 0 x is 0 unless x is NaN or infinite
static inline void addZeros(mjgiSimd* sum, double* rest, const double* x, size_t n) {
  mjgiSimd even = *sum, odd = {0};
  size_t i = 0;
  for (; i + 2 * mjgiSIMD <= n; i += 2 * mjgiSIMD) {
    even += 0 * *(const mjgiSimd*)(x + i);
    odd += 0 * *(const mjgiSimd*)(x + i + mjgiSIMD);
  }
  if (i + mjgiSIMD <= n) {
    odd += 0 * *(const mjgiSimd*)(x + i);
    i += mjgiSIMD;
  }
  for (; i < n; i++) {
    *rest += 0 * x[i];
  }
  *sum = even + odd;
}


int mjgi_allFinite(const double* x, size_t count) {
  mjgiSimd sum = {0};
  double rest = 0;
  addZeros(&sum, &rest, x, count);
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
      (c->inertia != 0 && !(c->inertia >= mjgMINROTOR)) || !(c->coulomb >= 0) ||
      fabs(c->theta_d) > mjgMAXTWIST || fabs(c->theta_b) > mjgMAXTWIST) {
    return mjgERR_ARGUMENT;
  }
  return mjgSOLVED;
}


// is a problem without couplings sound: the quick answer to what is asked row by row else
static int isSound(const mjgProblem* p) {
  const double *c = p->coulomb, *ratio = p->static_ratio, *A = p->A, *P = p->P;
  int nblock = p->nblock > 0 ? p->nblock : 1, sound = !p->coupling;
  size_t n = (size_t)p->n;
  mjgiSimd sum = {0};
  double rest = 0;
  addZeros(&sum, &rest, p->v, n);
  addZeros(&sum, &rest, p->phi, n);
  if (!P) {
    addZeros(&sum, &rest, p->alpha, n);
    addZeros(&sum, &rest, p->beta, n);
  }
  if (p->v0) {
    addZeros(&sum, &rest, p->v0, n);
  }
  if (c) {
    addZeros(&sum, &rest, c, n);
    for (size_t i = 0; i < n; i++) {
      sound &= c[i] >= 0;
    }
  }
  if (ratio) {
    addZeros(&sum, &rest, ratio, n);
    for (size_t i = 0; i < n; i++) {
      sound &= ratio[i] >= 1;
    }
  }
  for (int k = 0; k < nblock && sound; k++) {
    size_t size = p->nblock > 0 ? (size_t)p->block[k] : n;
    addZeros(&sum, &rest, A, size * size);
    if (P) {
      addZeros(&sum, &rest, P, size * size);
      P += size * size;
    }
    for (size_t i = 0; i < size; i++) {
      sound &= A[i * (size + 1)] > 0;
    }
    A += size * size;
  }
  return sound && (sum[0] + sum[2]) + (sum[1] + sum[3]) + rest == 0;
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


int mjgi_checkBlocks(int* most, const mjgProblem* problem) {
  if (!problem || problem->n < 0 || problem->nblock < 0 ||
      (problem->nblock > 0 && !problem->block)) {
    return mjgERR_ARGUMENT;
  }
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
  *most = largest;
  return mjgSOLVED;
}


int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work) {
  int largest, status = mjgi_checkBlocks(&largest, problem);
  if (status != mjgSOLVED || !work) {
    return mjgERR_ARGUMENT;
  }
  if (problem->n > 0 && (!problem->v || !problem->A || !problem->phi ||
                         (!problem->P && (!problem->alpha || !problem->beta)))) {
    return mjgERR_ARGUMENT;
  }
  if (problem->n > work->n || largest > work->nmax) {
    return mjgERR_WORKSPACE;
  }
  if (problem->n == 0 || isSound(problem)) {
    return mjgSOLVED;
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
    for (int i = 0; i < n; i++) {
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

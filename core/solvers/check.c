#include "solvers/check.h"

#include <math.h>

#include "mjgear_backlash.h"
#include "solvers/simd.h"
#include "solvers/workspace.h"


// 0 times the sum of n numbers: 0 unless one is NaN or infinite
static inline double zeroTimes(const double* x, size_t n) {
  mjgiSimd even = {0}, odd = {0};
  size_t i = 0;
  for (; i + 2 * mjgiSIMD <= n; i += 2 * mjgiSIMD) {
    even += 0 * *(const mjgiSimd*)(x + i);
    odd += 0 * *(const mjgiSimd*)(x + i + mjgiSIMD);
  }
  even += odd;
  double sum = (even[0] + even[2]) + (even[1] + even[3]);
  for (; i < n; i++) {
    sum += 0 * x[i];
  }
  return sum;
}


int mjgi_allFinite(const double* x, size_t count) {
  return zeroTimes(x, count) == 0;
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


// rows first .. first + n - 1: of a coupling's row nothing but v* and A counts. Sets positive to 0 if a diagonal entry
// of A is not
static int checkRows(int* positive, const mjgProblem* p, int first, int n, const double* A,
                     const double* P) {
  const mjgCoupling* const* coupling = p->coupling ? p->coupling + first : NULL;
  const double *phi = p->phi + first, *c = p->coulomb, *ratio = p->static_ratio, *v0 = p->v0;
  size_t size = (size_t)n;
  double sum = zeroTimes(A, size * size) + zeroTimes(p->v + first, size);
  sum += P && !coupling ? zeroTimes(P, size * size) : 0;
  int sound = 1;
  for (int i = 0; i < n; i++) {
    int row = first + i;
    double diagonal = A[(size_t)i * (size + 1)];
    if (coupling && coupling[i]) {
      int status = checkCoupling(coupling[i]);
      if (status != mjgSOLVED) {
        return status;
      }
      *positive &= diagonal > 0 || coupling[i]->inertia > 0;  // its rotor's inertia besides
      continue;
    }
    *positive &= diagonal > 0;
    double own = phi[i] + (P ? 0 : 0 * p->alpha[row] + 0 * p->beta[row]) + (v0 ? 0 * v0[row] : 0);
    own += (c ? 0 * c[row] : 0) + (ratio ? 0 * ratio[row] : 0);
    sound &= (!c || c[row] >= 0) && (!ratio || ratio[row] >= 1);
    sum += 0 * own + (P && coupling ? zeroTimes(P + (size_t)i * size, size) : 0);
  }
  return sum != 0 ? mjgERR_NOT_FINITE : sound ? mjgSOLVED : mjgERR_ARGUMENT;
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
  int positive = 1, nblock = problem->nblock > 0 ? problem->nblock : 1;
  const double *A = problem->A, *P = problem->P;
  for (int k = 0, row = 0; k < nblock && problem->n > 0; k++) {
    int n = problem->nblock > 0 ? problem->block[k] : problem->n;
    status = checkRows(&positive, problem, row, n, A, P);
    if (status != mjgSOLVED) {
      return status;
    }
    row += n;
    A += (size_t)n * (size_t)n;
    P = P ? P + (size_t)n * (size_t)n : NULL;
  }

  // numbers count before a diagonal that is not positive
  return positive ? mjgSOLVED : mjgERR_NOT_PD;
}

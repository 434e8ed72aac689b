#include "solvers/solvers.h"

#include <float.h>

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


int mjgi_nextBlock(mjgProblem* block, mjgiCursor* at, const mjgProblem* problem) {
  const mjgProblem* p = problem;
  if (at->block == (p->nblock > 0 ? p->nblock : p->n > 0)) {
    return 0;
  }
  int first = at->row, n = p->nblock > 0 ? p->block[at->block] : p->n;
  *block = *p;
  block->n = n;
  block->nblock = 0;
  if (first) {
    const double** vector[] = {&block->v,       &block->phi,          &block->alpha, &block->beta,
                               &block->coulomb, &block->static_ratio, &block->v0};
    for (size_t i = 0; i < sizeof(vector) / sizeof(*vector); i++) {
      *vector[i] = *vector[i] ? *vector[i] + first : NULL;
    }
    block->A += at->entry;
    block->P = p->P ? p->P + at->entry : NULL;
  }
  *at = (mjgiCursor){at->block + 1, first, first + n, at->entry + (size_t)n * (size_t)n};
  return 1;
}


// Check the numbers of a block. Sets positive to 0 if a diagonal entry of A is not positive.
static int checkNumbers(int* positive, const mjgProblem* block) {
  const mjgProblem* b = block;
  const double *c = b->coulomb, *ratio = b->static_ratio;
  size_t n = (size_t)b->n;
  double sum = zeroTimes(b->A, n * n) + zeroTimes(b->v, n);
  sum += b->P ? zeroTimes(b->P, n * n) : 0;
  int sound = 1;
  for (size_t i = 0; i < n; i++) {
    *positive &= b->A[i * (n + 1)] >= DBL_MIN;  // smaller numbers have no digits
    double own = b->phi[i] + (b->P ? 0 : 0 * b->alpha[i] + 0 * b->beta[i]);
    own += (b->v0 ? 0 * b->v0[i] : 0) + (c ? 0 * c[i] : 0) + (ratio ? 0 * ratio[i] : 0);
    sound &= (!c || c[i] >= 0) && (!ratio || ratio[i] >= 1);
    sum += 0 * own;
  }
  return sum != 0 ? mjgERR_NOT_FINITE : sound ? mjgSOLVED : mjgERR_ARGUMENT;
}


int mjgi_checkProblem(int* largest, const mjgProblem* problem, const mjgSolution* solution,
                      const mjgWorkspace* work) {
  if (!problem || !solution || !work || problem->n < 0 || problem->nblock < 0 ||
      (problem->nblock > 0 && !problem->block)) {
    return mjgERR_ARGUMENT;
  }
  int left = problem->n;
  *largest = problem->nblock > 0 ? 0 : problem->n;
  for (int k = 0; k < problem->nblock; k++) {
    int size = problem->block[k];
    if (size < 0 || size > left) {
      return mjgERR_ARGUMENT;
    }
    left -= size;
    *largest = size > *largest ? size : *largest;
  }
  if (problem->nblock > 0 && left != 0) {
    return mjgERR_ARGUMENT;
  }
  if (problem->n > 0 && (!problem->v || !problem->A || !problem->phi ||
                         (!problem->P && (!problem->alpha || !problem->beta)) || !solution->t ||
                         !solution->v || !solution->lambda || !solution->mode)) {
    return mjgERR_ARGUMENT;
  }
  if (problem->n > work->n || *largest > work->nmax) {
    return mjgERR_WORKSPACE;
  }
  int positive = 1;
  mjgProblem block;
  for (mjgiCursor at = {0}; mjgi_nextBlock(&block, &at, problem);) {
    int status = checkNumbers(&positive, &block);
    if (status != mjgSOLVED) {
      return status;
    }
  }
  return positive ? mjgSOLVED : mjgERR_NOT_PD;
}

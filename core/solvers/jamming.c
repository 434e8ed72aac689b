// The jamming rule selects one of several solutions: the end of the path from rest (lemke.c). If a
// joint there is not on the branch connected to stick, one-joint steps (44) follow.

#include <float.h>
#include <math.h>

#include "law/law.h"
#include "solvers/check.h"
#include "solvers/solvers.h"


// distance from the law, of its terms, within which a joint is on its branch
static const double kConnected = 1e-9;

// one-joint sweeps to another branch; they converge linearly or cycle
enum {
  mjgiSWEEPS = 100
};


// Returns 1 if the friction of every joint satisfies its own law.
static int connected(const mjgiBlock* b) {
  for (int i = 0; i < b->n; i++) {
    double size = fabs(b->t[i]) + fabs(b->v[i]) + fabs(b->w[i]) + fabs(b->phi[i]) + b->c[i];
    if (fabs(b->residual[i]) > kConnected * size) {
      return 0;
    }
  }
  return 1;
}


int mjgi_jammingRule(mjgiBlock* b, mjgiScratch* s, int pivots) {
  if (!mjgi_lemke(b, s, pivots)) {
    return 0;
  }
  if (connected(b)) {
    return 1;
  }

  // keep the end of the path, in case the sweeps fail
  mjgi_keepPoint(&s->end, b);
  if (mjgi_gaussSeidel(b, mjgiSWEEPS, kConnected) && mjgi_newton(b, 1)) {
    mjgi_refine(b, s, NULL, 1, mjgiROUNDING * b->n * DBL_EPSILON);
    return 1;
  }
  mjgi_takePoint(b, &s->end);
  return 1;
}


int mjg_jammed(int* jammed, const mjgProblem* problem, const mjgSolution* solution) {
  int largest;
  if (mjgi_checkBlocks(&largest, problem) != mjgSOLVED || !solution ||
      (problem->n > 0 && (!problem->A || !solution->t || !solution->lambda || !solution->mode)) ||
      (problem->n > 0 && !problem->P && (!problem->alpha || !problem->beta))) {
    return mjgERR_ARGUMENT;
  }

  int count = 0;
  mjgProblem block;
  for (mjgiCursor at = {0}; mjgi_nextBlock(&block, &at, problem);) {
    for (int i = 0; i < block.n; i++) {
      int joint = at.first + i;
      size_t diagonal = (size_t)i * ((size_t)block.n + 1);
      double p = block.P ? block.P[diagonal] : block.alpha[i] * block.A[diagonal] - block.beta[i];
      double c = block.coulomb ? block.coulomb[i] : 0;
      double v0 = block.v0 ? block.v0[i] : 0;
      double ratio = block.static_ratio ? block.static_ratio[i] : 1;
      int is_jammed = solution->mode[joint] == 0 &&
                      mjgi_lawJammed(solution->t[joint], solution->lambda[joint], p, c, ratio, v0);
      if (jammed) {
        jammed[joint] = is_jammed;
      }
      count += is_jammed;
    }
  }
  return count;
}

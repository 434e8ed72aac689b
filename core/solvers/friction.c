// One block with friction alone: to the units of the block, the method, static friction, and back.

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/solvers.h"
#include "solvers/wellposed.h"

// iterations of Newton from a warm start that keep its solution where there may be several; and where there
// is one, which took 29 at most in a million random problems
enum {
  mjgiWARM = 2,
  mjgiSTEPS = 50
};


double mjgi_blockSigmaMax(mjgiBlock* b, const mjgProblem* problem, int first, int n,
                          const double* A, const double* P) {
  const mjgCoupling* const* coupling = problem->coupling ? problem->coupling + first : NULL;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int at = i * n + j;
      if (coupling && (coupling[i] || coupling[j])) {
        b->P[at] = 0;
      } else {
        b->P[at] =
            P ? P[at] : problem->alpha[first + i] * A[at] - (i == j ? problem->beta[first + i] : 0);
      }
    }
  }
  return mjgi_sigmaMax(b->P, n, b->x, b->y);
}


int mjgi_isWellPosed(mjgiBlock* b) {
  const double *alpha = b->alpha, *beta = b->beta;
  if (b->flg_P) {
    if (!mjgi_factorP(b->x, b->y, b->A, b->P, b->n)) {
      return 0;
    }
    alpha = b->x;
    beta = b->y;
  }
  double* ratio = b->z;
  for (int i = 0; i < b->n; i++) {
    ratio[i] = mjgi_max(b->rp[i], b->rm[i]);
  }
  return mjgi_wellPosed(b->A, alpha, beta, ratio, b->n, b->K);
}


void mjgi_loadBlock(mjgiBlock* b, const mjgProblem* problem, int first, int n, const double* A,
                    const double* P, const double* t) {
  const mjgProblem* p = problem;
  const double *c = p->coulomb, *ratio = p->static_ratio, *v0 = p->v0;
  mjgi_blockTake(b, n, A, P, p->v + first, p->phi + first, P ? NULL : p->alpha + first,
                 P ? NULL : p->beta + first, c ? c + first : NULL, ratio ? ratio + first : NULL,
                 v0 ? v0 + first : NULL, t);
}


// Newton, and where it does not get on Lemke's homotopy, if there is one solution. If there may be several, a
// warm start that Newton takes to one of them at once keeps it, else the jamming rule chooses
void mjgi_methodNewton(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  int limit = settings->iterations > 0 ? settings->iterations : mjgiSTEPS;
  if (!b->flg_unique) {
    limit = settings->warm_start ? mjgiWARM : 0;
  }
  if (limit == 0 || !mjgi_newton(b, limit)) {
    b->fallbacks += b->flg_unique;
    mjgi_jammingRule(b, s, settings->pivots);
  }
}


// friction that rounding has left with the wrong sign becomes 0, and the loads what that makes of them, which is much where
// alpha is large; returns 1 if there was any
static int removeSigns(mjgiBlock* b, mjgiScratch* s) {
  int wrong = 0;
  for (int i = 0; i < b->n; i++) {
    wrong |= mjgi_pieceDirection(b->piece[i]) * b->t[i] < 0;
  }
  if (wrong) {
    memcpy(s->next_piece, b->piece, (size_t)b->n * sizeof(int));
    for (int i = 0; i < b->n; i++) {
      b->t[i] = mjgi_pieceDirection(b->piece[i]) * b->t[i] < 0 ? 0 : b->t[i];
    }
    mjgi_blockEvaluate(b);
    memcpy(b->piece, s->next_piece, (size_t)b->n * sizeof(int));
  }
  return wrong;
}


// solve the block; joints that exceed their static bound are released to the sliding bound, and the block is solved
// again, at most n times. start (nullable): of the caller. Sets unique to 0 if it was found that there may be
// another solution; returns the residual
static double solveBlock(int* unique, mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings,
                         mjgiMethod method, const mjgSolution* start) {
  int newton = method == mjgi_methodNewton, tested = 0;
  int skip = settings->skip_uniqueness && settings->warm_start && newton;
  double residual, enough = fmin(settings->tolerance, b->n * mjgiROUNDING * DBL_EPSILON);
  *unique = 1;
  do {
    if (tested || !skip || !mjgi_newton(b, mjgiWARM)) {
      if (!tested) {
        b->flg_unique = mjgi_isWellPosed(b);
        tested = 1;
      }
      method(b, s, settings);
      *unique = b->flg_unique;
    }
    residual = mjgi_blockResidual(b, b->piece, enough);
    if (!(residual <= (newton ? enough : settings->tolerance)) && (newton || start)) {
      residual = mjgi_refine(b, s, start, newton && settings->pivots == 0, enough);
    }
  } while (mjgi_blockRelease(b));
  return removeSigns(b, s) ? mjgi_blockResidual(b, b->piece, enough) : residual;
}


int mjgi_replaceOverflow(mjgSolution* solution, const mjgProblem* problem, int first, int n,
                         double residual) {
  int overflow = !isfinite(residual);
  for (int i = first; i < first + n; i++) {
    overflow |= !(0 * solution->t[i] + 0 * solution->v[i] + 0 * solution->lambda[i] == 0);
  }
  for (int i = first; overflow && i < first + n; i++) {
    int coupled = problem->coupling && problem->coupling[i];
    double v = problem->v[i];
    solution->t[i] = 0;
    solution->v[i] = v;
    solution->lambda[i] = coupled ? 0 : problem->phi[i];
    solution->mode[i] = coupled ? 0 : (v > 0) - (v < 0);
  }
  return overflow;
}


void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem, int first,
                        int n, const double* A, const double* P, const mjgSettings* settings,
                        mjgiMethod method, mjgWorkspace* work) {
  const mjgProblem* p = problem;
  mjgiBlock* b = &work->block;
  mjgSolution part = {solution->t + first, solution->v + first, solution->lambda + first,
                      solution->mode + first};
  mjgi_loadBlock(b, p, first, n, A, P, settings->warm_start ? part.t : NULL);
  int unique;
  double residual =
      solveBlock(&unique, b, &work->scratch, settings, method, settings->warm_start ? &part : NULL);
  for (int i = 0; i < n; i++) {
    part.mode[i] = mjgi_blockResult(part.t + i, part.v + i, part.lambda + i, b, i);
  }
  if (mjgi_replaceOverflow(solution, p, first, n, residual)) {
    residual = INFINITY;
  }

  // account
  info->residual = mjgi_max(info->residual, residual);
  info->iterations = b->iterations > info->iterations ? b->iterations : info->iterations;
  info->factorizations += b->factorizations;
  info->fallbacks += b->fallbacks;
  if (!(residual <= settings->tolerance)) {
    info->status = mjgITERATION_LIMIT;
  } else if (!unique && info->status == mjgSOLVED) {
    info->status = mjgJAMMED;
  }
}

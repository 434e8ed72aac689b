// One block in units of its own: the method, then the release of static friction.

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/solvers.h"

// most Newton iterations: from a warm start whose solution is kept among several; with a unique one
enum {
  mjgiWARM = 2,
  mjgiSTEPS = 50
};


mjgSolution mjgi_blockSolution(const mjgSolution* solution, int first) {
  return (mjgSolution){solution->t + first, solution->v + first, solution->lambda + first,
                       solution->mode + first};
}


void mjgi_loadBlock(mjgiBlock* b, const mjgProblem* problem, const double* t) {
  const mjgProblem* p = problem;
  mjgi_blockTake(b, p->n, p->A, p->P, p->v, p->phi, p->alpha, p->beta, p->coulomb, p->static_ratio,
                 p->v0, t);
}


int mjgi_isWellPosed(mjgiBlock* b) {
  double *alpha = b->x, *beta = b->y;
  if (b->flg_P && !mjgi_factorP(alpha, beta, b->A, b->P, b->n)) {
    return 0;
  }
  for (int i = 0; i < b->n; i++) {
    double r = mjgi_max(b->rp[i], b->rm[i]);
    alpha[i] = r * (b->flg_P ? alpha[i] : b->alpha[i]);
    beta[i] = r * (b->flg_P ? beta[i] : b->beta[i]);
  }
  return mjgi_wellPosed(b->A, alpha, beta, b->n, b->K);
}


// Newton, then Lemke's path, if the solution is unique. Of several, a solution that Newton reaches
// at once from a warm start is kept; else the jamming rule chooses.
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


// Set friction with a sign that is wrong by round-off to 0, and update loads. Returns 1 if any was.
static int removeSigns(mjgiBlock* b, mjgiScratch* s) {
  int wrong = 0;
  for (int i = 0; i < b->n; i++) {
    wrong |= mjgi_pieceDirection(b->piece[i]) * b->t[i] < 0;
  }
  if (wrong) {
    mjgi_keepPoint(&s->end, b);
    for (int i = 0; i < b->n; i++) {
      s->end.t[i] = mjgi_pieceDirection(b->piece[i]) * b->t[i] < 0 ? 0 : b->t[i];
    }
    mjgi_takePoint(b, &s->end);
  }
  return wrong;
}


// Solve the block, again after each release from a static bound. start (nullable): the caller's.
// Sets unique to 0 if there may be another solution. Returns the residual.
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


// Replace an overflow by the state without friction, which creates no energy. Returns 1 if needed.
static int replaceOverflow(mjgSolution* solution, const mjgProblem* problem, double residual) {
  int n = problem->n, overflow = !isfinite(residual);
  for (int i = 0; i < n; i++) {
    overflow |= !(0 * solution->t[i] + 0 * solution->v[i] + 0 * solution->lambda[i] == 0);
  }
  for (int i = 0; overflow && i < n; i++) {
    double v = problem->v[i];
    solution->t[i] = 0;
    solution->v[i] = v;
    solution->lambda[i] = problem->phi[i];
    solution->mode[i] = (v > 0) - (v < 0);
  }
  return overflow;
}


void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                        const mjgSettings* settings, mjgiMethod method, mjgWorkspace* work) {
  mjgiBlock* b = &work->block;
  const mjgSolution* start = settings->warm_start ? solution : NULL;
  int unique;
  mjgi_loadBlock(b, problem, start ? start->t : NULL);
  double residual = solveBlock(&unique, b, &work->scratch, settings, method, start);
  for (int i = 0; i < b->n; i++) {
    solution->mode[i] =
        mjgi_blockResult(solution->t + i, solution->v + i, solution->lambda + i, b, i);
  }
  if (replaceOverflow(solution, problem, residual)) {
    residual = INFINITY;
  }

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

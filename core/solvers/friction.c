// One block with friction alone: from the units of the caller to those of the block, the method, static friction,
// and back.

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/simd.h"
#include "solvers/solvers.h"
#include "solvers/wellposed.h"

// iterations of Newton from a warm start that keep its solution where there may be several; and where there
// is one, which took 29 at most in a million random problems
enum {
  mjgiWARM = 2,
  mjgiSTEPS = 50
};

// where the path does not arrive: rounds of ten sweeps, to this tolerance, and five Newton steps
enum {
  mjgiROUNDS = 100
};
static const double kSweeps = 1e-14;

// times n rounding errors: a residual above this is not rounding, whatever tolerance the caller has
static const double mjgiLOOSE = 1e3;

//---------------------------------- one block -----------------------------------------------------

// Joints of an n x n block that act on each other: writes those that joint first_joint acts on or is
// acted upon by, directly or through others, to index in ascending order, marks them in group, and
// returns their number
static int connectedJoints(int* index, int* group, int first_joint, const double* A,
                           const double* P, int n) {
  // most blocks are dense, which one row shows
  int count = 0;
  for (int j = 0; j < n; j++) {
    count += A[first_joint * n + j] != 0;
  }
  if (count == n) {
    for (int j = 0; j < n; j++) {
      index[j] = j;
      group[j] = 1;
    }
    return n;
  }

  // spread from joint to joint; index is the queue
  index[0] = first_joint;
  group[first_joint] = 1;
  count = 1;
  for (int k = 0; k < count; k++) {
    int i = index[k];
    for (int j = 0; j < n; j++) {
      if (!group[j] && (A[i * n + j] != 0 || A[j * n + i] != 0 ||
                        (P && (P[i * n + j] != 0 || P[j * n + i] != 0)))) {
        group[j] = 1;
        index[count++] = j;
      }
    }
  }

  // ascending
  for (int k = 1; k < count; k++) {
    int joint = index[k], to = k;
    for (; to > 0 && index[to - 1] > joint; to--) {
      index[to] = index[to - 1];
    }
    index[to] = joint;
  }
  return count;
}


// numbers of the block's joints from those of the caller's block; from is nullable
static inline void take(double* restrict to, const double* restrict from, double otherwise,
                        const int* restrict index, int n, int flg_all) {
  int i = 0;
  if (!from) {
    for (; i < n; i++) {
      to[i] = otherwise;
    }
  }
  for (; flg_all && i + mjgiSIMD <= n; i += mjgiSIMD) {
    *(mjgiSimd*)(to + i) = *(const mjgiSimd*)(from + i);
  }
  for (; i < n; i++) {
    to[i] = from[index[i]];
  }
}


// the same of a row of A or P, in the block's units
static inline void takeRow(double* restrict to, const double* restrict from, double factor,
                           const double* restrict scale, const int* restrict index, int n,
                           int flg_all) {
  int j = 0;
  for (; flg_all && j + mjgiSIMD <= n; j += mjgiSIMD) {
    *(mjgiSimd*)(to + j) = *(const mjgiSimd*)(from + j) * (factor * *(const mjgiSimd*)(scale + j));
  }
  for (; j < n; j++) {
    to[j] = from[index[j]] * (factor * scale[j]);
  }
}


// copy the joints in index, counted from first, into the block's units; A and P are ld x ld
static void loadBlock(mjgiBlock* b, const mjgProblem* problem, int first, const int* index, int n,
                      const double* A, const double* P, int ld) {
  b->n = n;
  b->flg_P = P != NULL;
  b->iterations = 0;
  b->factorizations = 0;
  b->known_residual = -1;

  // numbers of joints
  const double *c = problem->coulomb, *ratio = problem->static_ratio, *v0 = problem->v0;
  int flg_all = n == ld;
  take(b->v, problem->v + first, 0, index, n, flg_all);
  take(b->phi, problem->phi + first, 0, index, n, flg_all);
  take(b->c, c ? c + first : NULL, 0, index, n, flg_all);
  take(b->alpha, P ? NULL : problem->alpha + first, 0, index, n, flg_all);
  take(b->beta, P ? NULL : problem->beta + first, 0, index, n, flg_all);
  take(b->x, ratio ? ratio + first : NULL, 1, index, n, flg_all);
  take(b->y, v0 ? v0 + first : NULL, 0, index, n, flg_all);
  for (int i = 0; i < n; i++) {
    b->z[i] = A[index[i] * (ld + 1)];
  }

  // in the block's units
  double* restrict scale = b->scale;
  const double* restrict diagonal = b->z, * restrict start = b->y, * restrict bound = b->x;
  double* restrict root = b->root, * restrict v = b->v, * restrict phi = b->phi;
  double* restrict rp = b->rp, * restrict rm = b->rm;
  for (int i = 0; i < n; i++) {
    root[i] = sqrt(diagonal[i]);
    scale[i] = 1 / root[i];
    v[i] *= scale[i];
    phi[i] *= root[i];
  }
  for (int i = 0; i < n; i++) {
    rp[i] = mjgi_lawRatio(bound[i], start[i], 1);
    rm[i] = mjgi_lawRatio(bound[i], start[i], -1);
  }
  for (int i = 0; i < n; i++) {
    b->c[i] *= root[i];
    b->alpha[i] *= diagonal[i];
    b->p[i] = P ? P[index[i] * (ld + 1)] : b->alpha[i] - b->beta[i];
  }

  for (int i = 0; i < n; i++) {
    takeRow(b->A + i * n, A + index[i] * ld, scale[i], scale, index, n, flg_all);
    b->A[i * n + i] = 1;
    if (P) {
      takeRow(b->P + i * n, P + index[i] * ld, root[i], scale, index, n, flg_all);
      b->P[i * n + i] = b->p[i];
    }
  }
}


// 1 if the block is known to have one solution
static int isWellPosed(mjgiBlock* b) {
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


// Newton to a solution within a number of iterations; returns 1 if it did, to the tolerance or as far as
// rounding allows
static int newtonSolves(mjgiBlock* b, int iterations, double tolerance) {
  double rounding = b->n * DBL_EPSILON;
  double small = fmin(mjgiLOOSE * rounding, mjgi_max(tolerance, mjgiROUNDING * rounding));
  if (!mjgi_newton(b, iterations)) {
    return 0;
  }
  double residual =
      b->known_residual >= 0 ? b->known_residual : mjgi_blockResidual(b, b->piece, small);
  return residual <= small;
}


// Newton, and where it does not get on Lemke's homotopy, if there is one solution. If there may be several, a
// warm start that Newton takes to one of them at once keeps it, else the jamming rule chooses
void mjgi_methodNewton(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings, int* unique,
                       int* fallbacks) {
  int limit = settings->iterations > 0 ? settings->iterations : mjgiSTEPS;
  if (!*unique) {
    limit = settings->warm_start ? mjgiWARM : 0;
  }
  if (limit > 0 && newtonSolves(b, limit, settings->tolerance)) {
    return;
  }
  *fallbacks += *unique;
  if (mjgi_jammingRule(b, s, settings->pivots) || settings->pivots > 0) {
    return;
  }

  // the path did not arrive, which one of a million adversarial problems does: take any solution that sweeps and
  // Newton find
  memset(b->t, 0, (size_t)b->n * sizeof(double));
  for (int round = 0; round < mjgiROUNDS; round++) {
    if (mjgi_gaussSeidel(b, 10, kSweeps) || mjgi_newton(b, 5)) {
      return;
    }
  }
}


// residual of the block's iterate on the pieces in piece. What is known of it may be a bound that is larger than enough
static double residualOf(const mjgiBlock* b, double enough) {
  int known = b->known_residual >= 0;
  for (int i = 0; i < b->n; i++) {
    known &= b->piece[i] == b->fixed[i];
  }
  double residual = known ? b->known_residual : INFINITY;
  return residual <= enough ? residual : mjgi_blockResidual(b, b->piece, enough);
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


// solve the block; joints that exceed their static bound are released to the sliding bound, and
// the block is solved again, at most n times. start (nullable): of the caller, for the joints in index. Returns 0 if
// it was found that there may be another solution
static int solveBlock(double* residual, mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings,
                      mjgiMethod method, const mjgSolution* start, const int* index,
                      int* fallbacks) {
  int newton = method == mjgi_methodNewton;
  int skip = settings->skip_uniqueness && settings->warm_start && newton;
  int unique = 1, tested = 0;
  b->flg_unique = 0;
  do {
    if (tested || !skip || !newtonSolves(b, mjgiWARM, settings->tolerance)) {
      if (!tested) {
        unique = b->flg_unique = isWellPosed(b);
        tested = 1;
      }
      method(b, s, settings, &unique, fallbacks);
    }
    *residual = residualOf(b, settings->tolerance);
    if (!(*residual <= settings->tolerance) && (newton || start)) {
      int search = newton && settings->pivots == 0;
      *residual = mjgi_refine(b, s, start, index, search, settings->tolerance);
    }
  } while (mjgi_blockRelease(b));
  if (removeSigns(b, s)) {
    *residual = mjgi_blockResidual(b, b->piece, settings->tolerance);
  }
  return unique;
}


// write the block's result in the units of the caller; returns 0 if a number is not finite
static int storeBlock(mjgSolution* solution, const mjgiBlock* b, int first, const int* index) {
  double sum = 0;
  for (int i = 0; i < b->n; i++) {
    int joint = first + index[i];
    double t, v, lambda;
    solution->mode[joint] = mjgi_blockResult(&t, &v, &lambda, b, i);
    solution->t[joint] = t;
    solution->v[joint] = v;
    solution->lambda[joint] = lambda;
    sum += 0 * t + 0 * v + 0 * lambda;
  }
  return sum == 0;
}


int mjgi_replaceOverflow(mjgSolution* solution, const mjgProblem* problem, int first,
                         const int* index, int n, double residual) {
  int overflow = !isfinite(residual);
  for (int i = 0; i < n; i++) {
    int joint = first + index[i];
    overflow |=
        !(0 * solution->t[joint] + 0 * solution->v[joint] + 0 * solution->lambda[joint] == 0);
  }
  for (int i = 0; overflow && i < n; i++) {
    int joint = first + index[i], coupled = problem->coupling && problem->coupling[joint];
    double v = problem->v[joint];
    solution->t[joint] = 0;
    solution->v[joint] = v;
    solution->lambda[joint] = coupled ? 0 : problem->phi[joint];
    solution->mode[joint] = coupled ? 0 : (v > 0) - (v < 0);
  }
  return overflow;
}


// largest singular value of the block's P in the units of the caller
static double sigmaMax(mjgiBlock* b, const mjgProblem* problem, int first, int n, const double* A,
                       const double* P) {
  if (!P) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        b->P[i * n + j] = problem->alpha[first + i] * A[i * n + j];
      }
      b->P[i * n + i] -= problem->beta[first + i];
    }
    P = b->P;
  }
  return mjgi_sigmaMax(P, n, b->x, b->y);
}


void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem, int first,
                        int n, const double* A, const double* P, const mjgSettings* settings,
                        mjgiMethod method, mjgWorkspace* work) {
  mjgiBlock* b = &work->block;
  int* index = work->index;
  int* group = work->group;
  int iterations = 0;
  memset(group, 0, (size_t)n * sizeof(int));
  for (int k = 0; k < n; k++) {
    if (group[k]) {
      continue;
    }

    // joints that are coupled with each other, which is all of them in general
    int count = connectedJoints(index, group, k, A, P, n);
    loadBlock(b, problem, first, index, count, A, P, n);
    for (int i = 0; i < count; i++) {
      b->t[i] = settings->warm_start ? solution->t[first + index[i]] * b->root[i] : 0;
    }
    mjgSolution start = {.t = solution->t + first, .mode = solution->mode + first};
    double residual;
    int flg_unique = solveBlock(&residual, b, &work->scratch, settings, method,
                                settings->warm_start ? &start : NULL, index, &info->fallbacks);
    if (!storeBlock(solution, b, first, index) || !isfinite(residual)) {
      residual = INFINITY;
      mjgi_replaceOverflow(solution, problem, first, index, count, residual);
    }

    // account
    info->residual = mjgi_max(info->residual, residual);
    iterations = b->iterations > iterations ? b->iterations : iterations;
    info->factorizations += b->factorizations;
    if (!(residual <= settings->tolerance)) {
      info->status = mjgITERATION_LIMIT;
    } else if (!flg_unique && info->status == mjgSOLVED) {
      info->status = mjgJAMMED;
    }
  }
  info->iterations = iterations > info->iterations ? iterations : info->iterations;
  if (settings->want_sigma_max) {
    info->sigma_max = mjgi_max(info->sigma_max, sigmaMax(b, problem, first, n, A, P));
  }
}

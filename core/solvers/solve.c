#include <float.h>
#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/block.h"
#include "solvers/check.h"
#include "solvers/coupled.h"
#include "solvers/dense.h"
#include "solvers/lane.h"
#include "solvers/solvers.h"
#include "solvers/wellposed.h"


// iterations within which Newton must solve a problem that may have several solutions from a warm start
enum {
  mjgiWARM = 2
};


void mjg_defaultSettings(mjgSettings* settings) {
  if (settings) {
    *settings = (mjgSettings){.solver = mjgNEWTON, .tolerance = 1e-12};
  }
}


static int checkSettings(const mjgSettings* settings) {
  if (!settings || settings->solver < mjgNEWTON || settings->solver > mjgENUMERATION ||
      settings->iterations < 0 || !(settings->tolerance >= 0) || settings->tolerance >= 1) {
    return mjgERR_ARGUMENT;
  }
  return mjgSOLVED;
}


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
  for (; flg_all && i + mjgiLANE <= n; i += mjgiLANE) {
    *(mjgiLane*)(to + i) = *(const mjgiLane*)(from + i);
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
  for (; flg_all && j + mjgiLANE <= n; j += mjgiLANE) {
    *(mjgiLane*)(to + j) = *(const mjgiLane*)(from + j) * (factor * *(const mjgiLane*)(scale + j));
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
  b->residual = -1;

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
    // a joint that leaves rest or reverses must exceed its static bound
    rp[i] = start[i] > 0 ? 1 : bound[i];
    rm[i] = start[i] < 0 ? 1 : bound[i];
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
  double small = fmin(1e3 * rounding, mjgi_max(tolerance, 64 * rounding));
  if (!mjgi_newton(b, iterations)) {
    return 0;
  }
  double residual = b->residual >= 0 ? b->residual : mjgi_blockResidual(b, b->piece, small);
  return residual <= small;
}


// Newton, and where it does not get on the path, if there is one solution. If there may be several, a
// warm start that Newton takes to one of them at once keeps it, else the jamming rule chooses
static void solveDefault(mjgiBlock* b, int iterations, double tolerance, int flg_unique,
                         int flg_warm, int* fallbacks) {
  int limit = flg_unique ? (iterations > 0 ? iterations : 50) : mjgiWARM * flg_warm;
  if (limit > 0 && newtonSolves(b, limit, tolerance)) {
    return;
  }
  *fallbacks += flg_unique;
  if (mjgi_jammingRule(b, 0)) {
    return;
  }

  // A is not what it should be: take any solution that sweeps and Newton find
  memset(b->t, 0, (size_t)b->n * sizeof(double));
  for (int round = 0; round < 100; round++) {
    if (mjgi_gaussSeidel(b, 10, 1e-14) || mjgi_newton(b, 5)) {
      return;
    }
  }
}


// call the chosen method on the block; flg_unique is 1 if there is one solution, and set if
// the method finds out
static void callSolver(mjgiBlock* b, const mjgSettings* settings, int* flg_unique, int* fallbacks) {
  int iterations = settings->iterations;
  double tolerance = settings->tolerance;
  switch (settings->solver) {
    case mjgNEWTON:
      solveDefault(b, iterations, tolerance, *flg_unique, settings->warm_start, fallbacks);
      break;
    case mjgGAUSS_SEIDEL:
      mjgi_gaussSeidel(b, iterations > 0 ? iterations : 10000, tolerance);
      break;
    case mjgPROJECTION:
      mjgi_projection(b, iterations > 0 ? iterations : 100000, tolerance);
      break;
    case mjgEXTRAGRADIENT:
      mjgi_extragradient(b, iterations > 0 ? iterations : 100000, tolerance);
      break;
    case mjgLEMKE:
      mjgi_jammingRule(b, iterations);
      break;
    case mjgENUMERATION: {
      int several = 0;
      mjgi_enumeration(b, &several, mjgi_max(tolerance, 1e-13));
      *flg_unique = !several;
      break;
    }
  }
}


// solve the block; joints that exceed their static bound are released to the sliding bound, and
// the block is solved again, at most n times. Returns 0 if it was found that there may be another
// solution
static int solveBlock(mjgiBlock* b, const mjgSettings* settings, int* fallbacks) {
  int quick = settings->quick && settings->warm_start && settings->solver == mjgNEWTON;
  int flg_unique = 1, looked = 0;
  b->flg_unique = 0;
  for (int released = 1; released;) {
    if (looked || !quick || !newtonSolves(b, mjgiWARM, settings->tolerance)) {
      if (!looked) {
        flg_unique = b->flg_unique = isWellPosed(b);
        looked = 1;
      }
      callSolver(b, settings, &flg_unique, fallbacks);
    }
    released = 0;
    for (int i = 0; i < b->n; i++) {
      double ratio = b->piece[i] > 0 ? b->rp[i] : b->rm[i];
      if (b->piece[i] != mjgiSTUCK && ratio > 1) {
        b->rp[i] = 1;
        b->rm[i] = 1;
        released = 1;
      }
    }
  }
  return flg_unique;
}


// write the block's result in the units of the caller; returns its residual
static double storeBlock(mjgSolution* solution, const mjgiBlock* b, int first, const int* index,
                         double enough) {
  int known = b->residual >= 0;
  for (int i = 0; i < b->n; i++) {
    known &= b->piece[i] == b->fixed[i];
  }
  double residual = known ? b->residual : mjgi_blockResidual(b, b->piece, enough);
  for (int i = 0; i < b->n; i++) {
    int s = mjgi_pieceDirection(b->piece[i]);
    double v = b->v[i] - b->w[i];
    double t = b->t[i];

    // rounding may leave a slipping joint at rest or its friction with the wrong sign
    v *= b->root[i];
    if (s * v <= 0) {
      s = 0;
      v = 0;
    }
    if (s * t < 0) {
      t = 0;
    }
    int joint = first + index[i];
    solution->v[joint] = v;
    solution->t[joint] = t * b->scale[i];
    solution->lambda[joint] = b->lambda[i] * b->scale[i];
    solution->mode[joint] = s;
  }
  return residual;
}


// where numbers overflow: the state without friction, which is finite and creates no energy. Returns
// 1 if it was needed
static int replaceOverflow(mjgSolution* solution, const mjgProblem* problem, int first,
                           const int* index, int n, double residual) {
  int overflow = !isfinite(residual);
  for (int i = 0; i < n; i++) {
    int joint = first + index[i];
    overflow |=
        !(0 * solution->t[joint] + 0 * solution->v[joint] + 0 * solution->lambda[joint] == 0);
  }
  for (int i = 0; overflow && i < n; i++) {
    int joint = first + index[i];
    solution->t[joint] = 0;
    solution->v[joint] = problem->v[joint];
    solution->lambda[joint] = problem->phi[joint];
    solution->mode[joint] = (problem->v[joint] > 0) - (problem->v[joint] < 0);
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
                        mjgWorkspace* work) {
  mjgiBlock* b = &work->block;
  int* index = b->index;
  int* group = b->group;
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
    int flg_unique = solveBlock(b, settings, &info->fallbacks);
    double residual = storeBlock(solution, b, first, index, settings->tolerance);
    if (replaceOverflow(solution, problem, first, index, count, residual)) {
      residual = INFINITY;
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


// does the block have a coupling
static int hasCoupling(const mjgProblem* problem, int first, int n) {
  for (int i = 0; problem->coupling && i < n; i++) {
    if (problem->coupling[first + i]) {
      return 1;
    }
  }
  return 0;
}


int mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
              const mjgSettings* settings, mjgWorkspace* work) {
  int status = mjgi_checkProblem(problem, work);
  if (status == mjgSOLVED) {
    status = checkSettings(settings);
  }
  if (status != mjgSOLVED) {
    return status;
  }
  int n = problem->n;
  if (!solution ||
      (n > 0 && (!solution->t || !solution->v || !solution->lambda || !solution->mode))) {
    return mjgERR_ARGUMENT;
  }
  if (settings->warm_start && !mjgi_allFinite(solution->t, (size_t)n)) {
    return mjgERR_NOT_FINITE;
  }

  for (int k = 0; settings->solver == mjgENUMERATION && k < (n > 0); k++) {
    int nblock = problem->nblock > 0 ? problem->nblock : 1;
    for (int j = 0; j < nblock; j++) {
      if ((problem->nblock > 0 ? problem->block[j] : n) > mjgMAXENUM) {
        return mjgERR_SIZE;
      }
    }
  }

  // block by block
  mjgInfo sum = {.status = mjgSOLVED, .sigma_max = -1};
  int nblock = problem->nblock > 0 ? problem->nblock : (n > 0);
  const double* A = problem->A;
  const double* P = problem->P;
  for (int k = 0, first = 0; k < nblock; k++) {
    int size = problem->nblock > 0 ? problem->block[k] : n;
    if (hasCoupling(problem, first, size)) {
      mjgi_solveCoupled(solution, &sum, problem, first, size, A, P, settings, work);
    } else {
      mjgi_solveFriction(solution, &sum, problem, first, size, A, P, settings, work);
    }

    first += size;
    A += (size_t)size * (size_t)size;
    P = P ? P + (size_t)size * (size_t)size : NULL;
  }
  if (info) {
    *info = sum;
  }
  return sum.status;
}

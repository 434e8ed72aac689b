// The step as the paper's variational inequality over directions of motion s, |s_i| <= 1,
//
//     F(s) = A Phi(s, phi, P) - v*,   find s with -F(s) in the normal cone of the box,       (72)
//
// with Phi(s) = [s] (|lambda| + c) and lambda = phi + P [s] (|lambda| + c).
//
// The paper's method is s := proj(B^n, s - c F(s)), lambda by the fixed point of Remark 3. Each
// joint has its step, c_i = size/(a (|lambda_i| + c_i)), with a the largest row sum of |A| at unit
// diagonal: safe for every positive definite A if P = 0. size is halved when steps grow, and
// recovers slowly.

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/solvers.h"

// default limit of iterations, which converge linearly, and limit of the fixed point
enum {
  mjgiITERATIONS = 100000,
  mjgiFIXED_POINT = 10000
};

// error of the load, relative to the tolerance
static const double kInner = 1e-2;

// least size after halvings, which would end progress; growth a step
static const double kSmallest = 1e-4, kRecover = 1.01;


// t = [s] (|lambda| + c), w = A t, z = phi + P t. Returns the largest change of a lambda, of its
// terms.
static double loadStep(mjgiBlock* b, const double* s) {
  int n = b->n;
  for (int i = 0; i < n; i++) {
    b->t[i] = s[i] * mjgi_lawBound(b->lambda[i], b->c[i], s[i] > 0 ? b->rp[i] : b->rm[i]);
  }
  mjgi_mulMatVec(b->w, b->A, b->t, n);
  double change = 0;
  for (int i = 0; i < n; i++) {
    b->z[i] = b->phi[i] + mjgi_blockLoad(b, i, b->t, b->w[i]);
    double error = fabs(b->z[i] - b->lambda[i]);
    double size = fabs(b->phi[i]) + fabs(b->z[i]) + fabs(b->lambda[i]);
    if (!isfinite(size)) {
      return INFINITY;
    }
    if (error > change * size) {
      change = error / size;
    }
  }
  return change;
}


// Find the load at s by the fixed point. Returns 0, with the load of the present friction, if it
// does not converge.
static int findLoad(mjgiBlock* b, const double* s, double tolerance) {
  for (int iter = 0; iter < mjgiFIXED_POINT; iter++) {
    double change = loadStep(b, s);
    if (change <= tolerance) {
      return 1;
    }
    if (!isfinite(change)) {
      break;
    }
    memcpy(b->lambda, b->z, (size_t)b->n * sizeof(double));
  }
  mjgi_blockEvaluate(b);
  return 0;
}


// Set s from t, or from the sign of v* if t = 0.
static void start(mjgiBlock* b, double* s) {
  int n = b->n;
  mjgi_mulMatVec(b->w, b->A, b->t, n);
  for (int i = 0; i < n; i++) {
    b->lambda[i] = b->phi[i] + mjgi_blockLoad(b, i, b->t, b->w[i]);
    double bound = mjgi_lawBound(b->lambda[i], b->c[i], b->t[i] > 0 ? b->rp[i] : b->rm[i]);
    s[i] = bound > 0 ? fmax(-1, fmin(1, b->t[i] / bound)) : 0;
  }
}


// Returns 1 if s is the solution, or the load at s was not found; sets the pieces of the block.
static int isEnd(mjgiBlock* b, const double* s, int found, double tolerance) {
  for (int i = 0; i < b->n; i++) {
    int dir = s[i] >= 1 ? 1 : (s[i] <= -1 ? -1 : 0);
    b->piece[i] = mjgi_piece(dir, b->lambda[i] >= 0);
  }
  return mjgi_blockResidual(b, b->piece, 0) <= tolerance || !found;
}


void mjgi_projection(mjgiBlock* b, mjgiScratch* scratch, const mjgSettings* settings) {
  (void)scratch;
  int n = b->n, limit = settings->iterations > 0 ? settings->iterations : mjgiITERATIONS;
  double *s = b->y, norm = 1, size = 1, last = INFINITY;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      sum += fabs(b->A[i * n + j]);
    }
    norm = fmax(norm, sum);
  }

  start(b, s);
  for (int iter = 0; iter < limit; iter++) {
    b->iterations++;
    int found = findLoad(b, s, kInner * settings->tolerance);
    if (isEnd(b, s, found, settings->tolerance)) {
      return;
    }

    // s := proj(s - c F(s)); its way is measured in torques
    double moved = 0;
    for (int i = 0; i < n; i++) {
      double v = b->v[i] - b->w[i], bound = fabs(b->lambda[i]) + b->c[i];
      double to = bound > 0 ? fmax(-1, fmin(1, s[i] + size / norm * v / bound)) : (v > 0) - (v < 0);
      double way = (to - s[i]) * bound;
      moved += way * way;
      s[i] = to;
    }
    moved = sqrt(moved) / size;
    size = moved > last ? fmax(kSmallest, size / 2) : fmin(1, size * kRecover);
    last = moved;
  }
}

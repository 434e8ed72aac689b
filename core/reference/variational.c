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
//
// Korpelevich's takes a trial step, and from the old point the step that the trial asks for,
//
//     y := proj(s - c F(s)),   s := proj(s - c F(y)),
//
// for any monotone F. c shrinks until c |F(s) - F(y)| <= 0.7 |s - y| (Khobotov, Marcotte).

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/simd.h"
#include "solvers/solvers.h"

// default limit of iterations, which converge linearly
enum {
  mjgiITERATIONS = 100000
};

// error of the load, of the tolerance, and most steps of the fixed point or of Newton
static const double kInner = 1e-2;
enum {
  mjgiFIXED_POINT = 10000,
  mjgiNEWTON = 50
};

// projection: least size after halvings, which would end progress; growth a step
static const double kSmallest = 1e-4, kRecover = 1.01;

// extragradient: bound of c^2 |F(s) - F(y)|^2 over |s - y|^2, shrinkage, growth; most shortenings
static const double kLipschitz2 = 0.49, kShrink = 0.6, kGrow = 1.05;
enum {
  mjgiSHORTER = 60
};


//---------------------------------- load and residual ---------------------------------------------

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


// lambda - P [s] [sgn lambda] lambda = phi + P [s] c, solved for the present signs
static int loadNewton(mjgiBlock* b, const double* s) {
  int n = b->n, ld = mjgi_simdEnd(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double P =
          b->flg_P ? b->P[i * n + j] : b->alpha[i] * b->A[i * n + j] - (i == j ? b->beta[i] : 0);
      double r = s[j] > 0 ? b->rp[j] : b->rm[j];
      b->K[i * ld + j] = (i == j) - P * s[j] * r * (b->lambda[j] < 0 ? -1 : 1);
      b->x[i] = (j == 0 ? b->phi[i] : b->x[i]) + P * s[j] * r * b->c[j];
    }
  }
  b->factorizations++;
  if (!mjgi_lu(b->K, b->x, b->pivot, n)) {
    return 0;
  }
  memcpy(b->lambda, b->x, (size_t)n * sizeof(double));
  return 1;
}


int mjgi_viEvaluate(mjgiBlock* b, const double* s, int flg_newton, int iterations,
                    double tolerance) {
  size_t nbyte = (size_t)b->n * sizeof(double);
  for (int iter = 0; iter < iterations; iter++) {
    double change = loadStep(b, s);
    if (change <= tolerance) {
      return 1;
    }
    if (!isfinite(change)) {
      break;
    }
    if (!flg_newton) {
      memcpy(b->lambda, b->z, nbyte);
    } else if (!loadNewton(b, s)) {
      break;
    }
  }

  // no load found: use the load of the present friction
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


// point := proj(s - c F(s)), c = size/bound
static void move(double* point, const mjgiBlock* b, const double* s, const double* bound,
                 double size) {
  for (int i = 0; i < b->n; i++) {
    double v = b->v[i] - b->w[i];
    point[i] = bound[i] > 0 ? fmax(-1, fmin(1, s[i] + size * v / bound[i])) : (v > 0) - (v < 0);
  }
}


static void findBounds(double* bound, const mjgiBlock* b) {
  for (int i = 0; i < b->n; i++) {
    bound[i] = fabs(b->lambda[i]) + b->c[i];
  }
}


// square of the distance of two points, measured in torques
static double distance2(const double* point, const double* other, const double* bound, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double d = (point[i] - other[i]) * bound[i];
    sum += d * d;
  }
  return sum;
}


//---------------------------------- methods -------------------------------------------------------

static int limitOf(const mjgSettings* settings) {
  return settings->iterations > 0 ? settings->iterations : mjgiITERATIONS;
}


void mjgi_projection(mjgiBlock* b, mjgiScratch* scratch, const mjgSettings* settings) {
  int n = b->n;
  double *s = b->y, *next = scratch->row, *bound = scratch->rate;
  double norm = 1, size = 1, last = INFINITY;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      sum += fabs(b->A[i * n + j]);
    }
    norm = fmax(norm, sum);
  }

  start(b, s);
  for (int iter = 0; iter < limitOf(settings); iter++) {
    b->iterations++;
    int found = mjgi_viEvaluate(b, s, 0, mjgiFIXED_POINT, kInner * settings->tolerance);
    if (isEnd(b, s, found, settings->tolerance)) {
      return;
    }
    findBounds(bound, b);
    move(next, b, s, bound, size / norm);
    double moved = sqrt(distance2(next, s, bound, n)) / size;
    double* last_s = s;
    s = next;
    next = last_s;
    size = moved > last ? fmax(kSmallest, size / 2) : fmin(1, size * kRecover);
    last = moved;
  }
}


void mjgi_extragradient(mjgiBlock* b, mjgiScratch* scratch, const mjgSettings* settings) {
  int n = b->n;
  size_t nbyte = (size_t)n * sizeof(double);
  double *s = b->y, *trial = scratch->row, *bound = scratch->rate, *before = scratch->u;
  double size = 1, inner = kInner * settings->tolerance;

  start(b, s);
  for (int iter = 0; iter < limitOf(settings); iter++) {
    b->iterations++;
    int found = mjgi_viEvaluate(b, s, 1, mjgiNEWTON, inner);
    if (isEnd(b, s, found, settings->tolerance)) {
      return;
    }
    findBounds(bound, b);

    // trial step, shorter until F changes little enough on it
    memcpy(before, b->w, nbyte);
    for (int shorter = 0; shorter < mjgiSHORTER; shorter++) {
      memcpy(b->w, before, nbyte);
      move(trial, b, s, bound, size);
      if (!mjgi_viEvaluate(b, trial, 1, mjgiNEWTON, inner)) {
        return;
      }
      double change = 0;
      for (int i = 0; i < n; i++) {
        change += (b->w[i] - before[i]) * (b->w[i] - before[i]);
      }
      if (size * size * change <= kLipschitz2 * distance2(trial, s, bound, n)) {
        break;
      }
      size *= kShrink;
    }
    move(s, b, s, bound, size);
    size *= kGrow;
  }
}

#include "reference/variational.h"

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/simd.h"


// t = [s] (|lambda| + c), w = A t, and z = phi + P t; returns the largest change of a joint's lambda
// relative to its terms, or infinity if one is not finite
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

  // not found: the load that belongs to the friction at least
  mjgi_blockEvaluate(b);
  return 0;
}


void mjgi_viStart(mjgiBlock* b, double* s) {
  int n = b->n;
  mjgi_mulMatVec(b->w, b->A, b->t, n);
  for (int i = 0; i < n; i++) {
    b->lambda[i] = b->phi[i] + mjgi_blockLoad(b, i, b->t, b->w[i]);
    double bound = mjgi_lawBound(b->lambda[i], b->c[i], b->t[i] > 0 ? b->rp[i] : b->rm[i]);
    s[i] = bound > 0 ? fmax(-1, fmin(1, b->t[i] / bound)) : 0;
  }
}


double mjgi_viResidual(mjgiBlock* b, const double* s) {
  for (int i = 0; i < b->n; i++) {
    int dir = s[i] >= 1 ? 1 : (s[i] <= -1 ? -1 : 0);
    b->piece[i] = mjgi_piece(dir, b->lambda[i] >= 0);
  }
  return mjgi_blockResidual(b, b->piece, 0);
}

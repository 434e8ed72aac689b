// Guarded semismooth Newton on gap(t) = t - resolve(t).
//
// The laws are piecewise linear, so a Newton step is the exact solution of the equations of the
// pieces that the joints are on. If the joints answer with the same pieces at that solution, it
// solves the problem: the method ends after finitely many steps, exactly.

#include <float.h>
#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/solvers.h"


// most halvings of a step
enum {
  mjgiHALVINGS = 6
};


static void swap(double** a, double** b) {
  double* keep = *a;
  *a = *b;
  *b = keep;
}


// 1 if the joints answer with the pieces that t was computed from
static int samePieces(const mjgiBlock* b) {
  int same = 1;
  for (int i = 0; i < b->n; i++) {
    same &= b->piece[i] == b->fixed[i];
  }
  return same;
}


// 1 if the gap of every joint is what a single sum rounds to
static int isExact(const mjgiBlock* b) {
  int exact = 1;
  for (int i = 0; i < b->n; i++) {
    double size = fabs(b->t[i]);
    size += b->fixed[i] == mjgiSTUCK ? fabs(b->v[i]) : fabs(b->phi[i]) + b->c[i];
    exact &= fabs(b->gap[i]) <= 16 * DBL_EPSILON * size;
  }
  return exact;
}


int mjgi_newton(mjgiBlock* b, int iterations) {
  int n = b->n;
  size_t nbyte = (size_t)n * sizeof(double);
  mjgi_blockEvaluate(b);

  for (int iter = 0; iter < iterations; iter++) {
    // the point to improve on is kept in y
    double merit = b->merit;
    memcpy(b->y, b->t, nbyte);
    b->iterations++;
    if (!mjgi_blockSolvePieces(b, b->piece)) {
      return 0;
    }
    mjgi_blockEvaluate(b);

    // same pieces again, or a tie where pieces meet in one point and rounding decides which one
    // answers: solved; remove what rounding has left, if it is more than that of the sums
    int exact = isExact(b);
    if (exact || samePieces(b)) {
      double small = 64 * DBL_EPSILON;
      b->residual = mjgi_blockResidual(b, b->fixed, small);
      if (!(b->residual <= small)) {
        if (!exact) {
          mjgi_blockRefine(b);
          mjgi_blockEvaluate(b);
        }
        mjgi_blockPolish(b, small * n);
      }
      memcpy(b->piece, b->fixed, (size_t)n * sizeof(int));
      return 1;
    }

    // go part of the way if the gap has not become smaller
    swap(&b->t, &b->z);
    double step = 1;
    for (int halving = 0; !(b->merit < merit); halving++) {
      if (halving == mjgiHALVINGS) {
        memcpy(b->t, b->y, nbyte);
        mjgi_blockEvaluate(b);
        return 0;
      }
      step /= 2;
      for (int i = 0; i < n; i++) {
        b->t[i] = b->y[i] + step * (b->z[i] - b->y[i]);
      }
      mjgi_blockEvaluate(b);
    }
    if (step == 1) {
      swap(&b->t, &b->z);
    }
  }
  return 0;
}

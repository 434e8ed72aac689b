// What is tried where rounding keeps the residual of a block above the tolerance. Nearly singular pieces leave t few
// digits, and where a joint's bound is the rounding of other joints' friction, the sign of what is left decides pieces.
//
//   - Newton with residuals in extended precision: the factors of the pieces, as inexact as they are, correct t until
//     nothing but its last digit is left to correct (iterative refinement), and the next pieces are those
//     of its exact velocities and loads.
//   - Sweeps of one joint after the other, each of which satisfies its own law to the last digit.
//
// The best point of all is kept, the start of a warm start among them.

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/solvers.h"

enum {
  mjgiPIECES = 10,  // combinations of pieces that Newton tries
  mjgiCORRECTIONS =
      4,            // of t on each; each gains the digits that the condition leaves, at 1e13 three
  mjgiSWEEPS = 300  // sweeps from the best point and from rest; those that help take up to 100
};


// the best point so far
typedef struct Best_ {
  double residual;
  double* t;   //                                                    (n)
  int* piece;  //                                                    (n)
} Best;


// keep the block's iterate, on the given pieces, if it is better; returns 1 if it is good enough
static int keep(Best* best, const mjgiBlock* b, const int* piece, double enough) {
  double residual = mjgi_blockResidual(b, piece, enough);
  if (residual < best->residual) {
    best->residual = residual;
    memcpy(best->t, b->t, (size_t)b->n * sizeof(double));
    memcpy(best->piece, piece, (size_t)b->n * sizeof(int));
  }
  return best->residual <= enough;
}


// by how much t misses the equations of the pieces in fixed, to x, and the pieces that joints go on to, to piece: in
// extended precision
static void missing(mjgiBlock* b) {
  int n = b->n;
  for (int i = 0; i < n; i++) {
    long double w = 0, load = 0, t = b->t[i];
    for (int j = 0; j < n; j++) {
      w += (long double)b->A[i * n + j] * b->t[j];
      load += b->flg_P ? (long double)b->P[i * n + j] * b->t[j] : 0;
    }
    load = b->flg_P ? load : b->alpha[i] * w - b->beta[i] * t;
    long double v = b->v[i] - w, lambda = b->phi[i] + load;
    double offset, factor;
    int piece = b->fixed[i];
    if (piece == mjgiSTUCK) {
      b->x[i] = (double)v;
    } else {
      factor = mjgi_lawRow(&offset, piece, b->c[i], b->rp[i], b->rm[i]);
      b->x[i] = (double)(factor * lambda + offset - t);
    }
    b->piece[i] =
        mjgi_lawNext(piece, b->t[i], (double)v, (double)lambda, b->c[i], b->rp[i], b->rm[i]);
  }
}


// Newton in extended precision from the pieces in piece; 1 if it got to a point that is good enough
static int newton(Best* best, mjgiBlock* b, double enough) {
  int n = b->n;
  for (int k = 0; k < mjgiPIECES; k++) {
    b->iterations++;
    if (!mjgi_blockSolvePieces(b, b->piece)) {
      return 0;
    }
    for (int i = 0; i < mjgiCORRECTIONS; i++) {
      missing(b);
      mjgi_luSolve(b->x, b->K, b->flg_unique ? NULL : b->pivot, n);
      for (int j = 0; j < n; j++) {
        b->t[j] += b->x[j];
      }
    }
    mjgi_blockEvaluate(b);
    if (keep(best, b, b->fixed, enough)) {
      return 1;
    }
    missing(b);
    if (!memcmp(b->piece, b->fixed, (size_t)n * sizeof(int))) {
      return 0;
    }
  }
  return 0;
}


double mjgi_refine(mjgiBlock* b, mjgiScratch* s, const mjgSolution* start, const int* index,
                   int flg_search, double enough) {
  int n = b->n;
  Best best = {INFINITY, s->end, s->end_piece};
  int done = keep(&best, b, b->piece, enough);

  // where the caller started from, on the pieces that the joints' laws say, or the caller's modes
  if (!done && start) {
    for (int i = 0; i < n; i++) {
      b->t[i] = start->t[index[i]] * b->root[i];
    }
    mjgi_blockEvaluate(b);
    done = keep(&best, b, b->piece, enough);
    for (int i = 0; i < n; i++) {
      int mode = start->mode[index[i]];
      b->piece[i] = mjgi_piece((mode > 0) - (mode < 0), b->lambda[i] >= 0);
    }
    done = done || keep(&best, b, b->piece, enough);
  }

  // Newton from the best of them, then from where sweeps end, from the best point and from rest
  int finite = best.residual < INFINITY;
  for (int k = finite ? 0 : 2; flg_search && !done && k < 3; k++) {
    if (k < 2) {
      memcpy(b->t, best.t, (size_t)n * sizeof(double));
    } else {
      memset(b->t, 0, (size_t)n * sizeof(double));
    }
    mjgi_blockEvaluate(b);
    if (k > 0) {
      mjgi_gaussSeidel(b, mjgiSWEEPS, enough);
      done = keep(&best, b, b->piece, enough);
    } else {
      memcpy(b->piece, best.piece, (size_t)n * sizeof(int));
    }
    done = done || newton(&best, b, enough);
  }

  if (best.residual < INFINITY) {
    memcpy(b->t, best.t, (size_t)n * sizeof(double));
    mjgi_blockEvaluate(b);
    memcpy(b->piece, best.piece, (size_t)n * sizeof(int));
  }
  return best.residual;
}

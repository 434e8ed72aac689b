// Refinement where round-off keeps a residual too large: Newton with residuals in extended
// precision corrects t by inexact factors, and takes the next pieces from exact velocities and
// loads.

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/solvers.h"

enum {
  mjgiPIECES = 10,  // combinations of pieces that Newton tries
  mjgiSWEEPS = 300  // limit of one-joint sweeps; converging ones take up to 100
};


void mjgi_keepPoint(mjgiPoint* point, const mjgiBlock* b) {
  memcpy(point->t, b->t, (size_t)b->n * sizeof(double));
  memcpy(point->piece, b->piece, (size_t)b->n * sizeof(int));
}


void mjgi_takePoint(mjgiBlock* b, const mjgiPoint* point) {
  memcpy(b->t, point->t, (size_t)b->n * sizeof(double));
  mjgi_blockEvaluate(b);
  memcpy(b->piece, point->piece, (size_t)b->n * sizeof(int));
}


// Keep the block's iterate if it is better than residual. Returns 1 if it is good enough.
static int keep(double* residual, mjgiScratch* s, const mjgiBlock* b, double enough) {
  double own = mjgi_blockResidual(b, b->piece, enough);
  if (own < *residual) {
    *residual = own;
    mjgi_keepPoint(&s->best, b);
  }
  return *residual <= enough;
}


// Newton in extended precision from the pieces in piece. Returns 1 if a point is good enough.
static int newton(double* residual, mjgiBlock* b, mjgiScratch* s, double enough) {
  for (int k = 0; k < mjgiPIECES; k++) {
    b->iterations++;
    if (!mjgi_blockSolvePieces(b, b->piece)) {
      return 0;
    }
    mjgi_blockImprove(b, enough);
    if (keep(residual, s, b, enough)) {
      return 1;
    }
    mjgi_blockMissing(b);
    if (!memcmp(b->piece, b->fixed, (size_t)b->n * sizeof(int))) {
      return 0;
    }
  }
  return 0;
}


double mjgi_refine(mjgiBlock* b, mjgiScratch* s, const mjgSolution* start, int flg_search,
                   double enough) {
  int n = b->n;
  double residual = INFINITY;
  int done = keep(&residual, s, b, enough);

  // the caller's start, on the pieces of the joints' laws or of the caller's modes
  if (!done && start) {
    for (int i = 0; i < n; i++) {
      b->t[i] = start->t[i] * b->root[i];
    }
    mjgi_blockEvaluate(b);
    done = keep(&residual, s, b, enough);
    for (int i = 0; i < n; i++) {
      int mode = start->mode[i];
      b->piece[i] = mjgi_piece((mode > 0) - (mode < 0), b->lambda[i] >= 0);
    }
    done = done || keep(&residual, s, b, enough);
  }
  if (!(residual < INFINITY)) {
    return residual;
  }

  // Newton from the best point, and from one-joint sweeps
  mjgi_takePoint(b, &s->best);
  if (flg_search && !done && !newton(&residual, b, s, enough)) {
    mjgi_takePoint(b, &s->best);
    mjgi_gaussSeidel(b, mjgiSWEEPS, enough);
    (void)(keep(&residual, s, b, enough) || newton(&residual, b, s, enough));
  }
  mjgi_takePoint(b, &s->best);
  return residual;
}

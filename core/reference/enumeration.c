// Solves the equations of every combination of pieces, 5^n for n joints.

#include <float.h>
#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/solvers.h"


// least distance of different solutions
static const double kAnother = 1e-8;

// round-off of a solution where pieces meet: it is on both
static const double kOnPiece = 1e-13;

// residual from which refinement may lead to a solution
static const double kNear = 1e-4;


// largest distance of t from other, relative
static double distance(const double* t, const double* other, int n) {
  double far = 0, size = 0;
  for (int i = 0; i < n; i++) {
    far = fmax(far, fabs(t[i] - other[i]));
    size = fmax(size, fmax(fabs(t[i]), fabs(other[i])));
  }
  return far > 0 ? far / size : 0;
}


// 1 if the block's t lies on the pieces that it was computed from
static int onPieces(const mjgiBlock* b, double tolerance) {
  if (!(mjgi_blockResidual(b, b->fixed, tolerance) <= tolerance)) {
    return 0;
  }
  for (int i = 0; i < b->n; i++) {
    double size = fabs(b->phi[i]) + fabs(b->t[i]) + b->c[i];
    if (b->fixed[i] != mjgiSTUCK &&
        mjgi_pieceLoad(b->fixed[i]) * b->lambda[i] < -tolerance * size) {
      return 0;
    }
  }
  return 1;
}


// next combination of pieces; returns 0 after the last one
static int nextPieces(int* piece, int n) {
  for (int i = 0; i < n; i++) {
    if (piece[i] < mjgiFORWARD_NEG) {
      piece[i]++;
      return 1;
    }
    piece[i] = mjgiBACKWARD_NEG;
  }
  return 0;
}


// Try all combinations, and keep the solution nearest to y in end. Returns 0, 1, or 2 for several.
static int enumerate(mjgiBlock* b, mjgiScratch* s, double tolerance) {
  int n = b->n, found = 0;
  double nearest = INFINITY;
  for (int i = 0; i < n; i++) {
    s->next_piece[i] = mjgiBACKWARD_NEG;
  }
  do {
    b->iterations++;
    if (!mjgi_blockSolvePieces(b, s->next_piece)) {
      continue;
    }
    mjgi_blockEvaluate(b);
    if (!onPieces(b, kNear)) {
      continue;
    }
    mjgi_blockRefine(b);
    if (!onPieces(b, tolerance)) {
      continue;
    }
    found = found && (found == 2 || distance(b->t, s->end.t, n) > kAnother) ? 2 : 1;
    double far = distance(b->t, b->y, n);
    if (far < nearest) {
      nearest = far;
      memcpy(b->piece, b->fixed, (size_t)n * sizeof(int));
      mjgi_keepPoint(&s->end, b);
    }
  } while (nextPieces(s->next_piece, n));
  return found;
}


void mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  size_t nbyte = (size_t)b->n * sizeof(double);
  double tolerance = fmax(settings->tolerance, kOnPiece);
  memset(b->y, 0, nbyte);  // there is no nearest solution yet
  int found = enumerate(b, s, tolerance);

  // of several solutions, take the one of the jamming rule, which uses the same memory
  if (found == 2) {
    memset(b->t, 0, nbyte);
    mjgi_jammingRule(b, s, 0);
    memcpy(b->y, b->t, nbyte);
    enumerate(b, s, tolerance);
  }
  if (found) {
    mjgi_takePoint(b, &s->end);
  }
  b->flg_unique = found < 2;
}

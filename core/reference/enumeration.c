// Every combination of pieces: the linear equations of each are solved, and what lies on the pieces
// is a solution. It takes 5^n factorizations, for n joints.

#include <float.h>
#include <math.h>
#include <string.h>

#include "law/law.h"
#include "reference/reference.h"
#include "solvers/solvers.h"


// frictions farther apart than this are different solutions; closer ones are one where pieces meet
static const double kAnother = 1e-8;


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


int mjgi_enumerate(mjgiBlock* b, int* piece, double tolerance,
                   void (*visit)(void* data, const mjgiBlock* b), void* data) {
  int n = b->n, count = 0;
  for (int i = 0; i < n; i++) {
    piece[i] = mjgiBACKWARD_NEG;
  }
  do {
    b->iterations++;
    if (mjgi_blockSolvePieces(b, piece)) {
      mjgi_blockEvaluate(b);
      mjgi_blockRefine(b);
      mjgi_blockEvaluate(b);
      if (onPieces(b, tolerance)) {
        count++;
        visit(data, b);
      }
    }
  } while (nextPieces(piece, n));
  return count;
}


// the solution nearest to a point, and whether there is another one
typedef struct Nearest_ {
  const double* point;
  double* t;
  int* piece;
  double far;
  int found;
  int several;
} Nearest;


static void visitNearest(void* data, const mjgiBlock* b) {
  Nearest* nearest = data;
  double far = distance(b->t, nearest->point, b->n);
  if (nearest->found && distance(b->t, nearest->t, b->n) > kAnother) {
    nearest->several = 1;
  }
  if (!nearest->found || far < nearest->far) {
    nearest->found = 1;
    nearest->far = far;
    memcpy(nearest->t, b->t, (size_t)b->n * sizeof(double));
    memcpy(nearest->piece, b->fixed, (size_t)b->n * sizeof(int));
  }
}


int mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, int* several, double tolerance) {
  int n = b->n;
  size_t nbyte = (size_t)n * sizeof(double);

  // all solutions; the nearest one is of no matter yet
  memset(b->y, 0, nbyte);
  Nearest nearest = {.point = b->y, .t = s->next, .piece = s->end_piece};
  mjgi_enumerate(b, s->next_piece, tolerance, visitNearest, &nearest);
  if (!nearest.found) {
    return 0;
  }
  *several = nearest.several;

  // of several ones that of the jamming rule, which uses the same memory
  if (nearest.several) {
    memset(b->t, 0, nbyte);
    mjgi_jammingRule(b, s, 0);
    memcpy(b->y, b->t, nbyte);
    nearest.found = 0;
    mjgi_enumerate(b, s->next_piece, tolerance, visitNearest, &nearest);
  }
  memcpy(b->t, nearest.t, nbyte);
  mjgi_blockEvaluate(b);
  memcpy(b->piece, nearest.piece, (size_t)n * sizeof(int));
  return 1;
}

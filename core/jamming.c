// The jamming rule: which solution a step has if there are several.
//
// It is the end of the path from rest (path.c). If a joint there is not on the branch of its own law
// that is connected to stick, which only coupled joints can bring about, one-joint steps (44) go on
// from there; they end, if they do, at a solution where every joint is on that branch.

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers.h"


// 1 if every joint's law answers with the friction that it has
static int connected(const mjgBlock* b) {
  for (int i = 0; i < b->n; i++) {
    double size = fabs(b->t[i]) + fabs(b->v[i]) + fabs(b->w[i]) + fabs(b->phi[i]) + b->c[i];
    if (fabs(b->gap[i]) > 1e-9 * size) {
      return 0;
    }
  }
  return 1;
}


int mjg_jammingRule(mjgBlock* b, int pivots) {
  int n = b->n;
  if (!mjg_path(b, pivots)) {
    return 0;
  }
  if (connected(b)) {
    return 1;
  }

  // keep the end of the path, in case that the sweeps find nothing
  memcpy(b->end, b->t, (size_t)n * sizeof(double));
  memcpy(b->end_piece, b->piece, (size_t)n * sizeof(int));
  if (mjg_gaussSeidel(b, 1000, 1e-9) && mjg_newton(b, 1)) {
    return 1;
  }
  memcpy(b->t, b->end, (size_t)n * sizeof(double));
  mjg_blockEvaluate(b);
  memcpy(b->piece, b->end_piece, (size_t)n * sizeof(int));
  return 1;
}

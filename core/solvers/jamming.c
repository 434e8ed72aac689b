// The jamming rule selects one of several solutions: the end of the path from rest (lemke.c). If a
// joint there is not on the branch connected to stick, one-joint steps (44) follow.

#include <float.h>
#include <math.h>

#include "solvers/solvers.h"


// distance from the law, of its terms, within which a joint is on its branch
static const double kConnected = 1e-9;

// one-joint sweeps to another branch; they converge linearly or cycle
enum {
  mjgiSWEEPS = 100
};


// Returns 1 if the friction of every joint satisfies its own law.
static int connected(const mjgiBlock* b) {
  for (int i = 0; i < b->n; i++) {
    double size = fabs(b->t[i]) + fabs(b->v[i]) + fabs(b->w[i]) + fabs(b->phi[i]) + b->c[i];
    if (fabs(b->residual[i]) > kConnected * size) {
      return 0;
    }
  }
  return 1;
}


int mjgi_jammingRule(mjgiBlock* b, mjgiScratch* s, int pivots) {
  if (!mjgi_lemke(b, s, pivots)) {
    return 0;
  }
  if (connected(b)) {
    return 1;
  }

  // keep the end of the path, in case the sweeps fail
  mjgi_keepPoint(&s->end, b);
  if (mjgi_gaussSeidel(b, mjgiSWEEPS, kConnected) && mjgi_newton(b, 1)) {
    mjgi_refine(b, s, NULL, 1, mjgiROUNDING * b->n * DBL_EPSILON);
    return 1;
  }
  mjgi_takePoint(b, &s->end);
  return 1;
}

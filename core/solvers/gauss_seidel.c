// Gauss-Seidel: the exact one-joint step (44), joint by joint.

#include <float.h>
#include <math.h>

#include "law/law.h"
#include "solvers/solvers.h"


int mjgi_gaussSeidel(mjgiBlock* b, int iterations, double tolerance) {
  int n = b->n;
  for (int iter = 0; iter < iterations; iter++) {
    b->iterations++;

    // one sweep; the change is measured in the terms that t_i is made of
    double change = 0;
    for (int i = 0; i < n; i++) {
      double t = b->t[i];
      double w = 0;
      for (int j = 0; j < n; j++) {
        w += b->A[i * n + j] * b->t[j];
      }
      double lambda = b->phi[i] + mjgi_blockLoad(b, i, b->t, w);
      mjgi_lawResolve(&b->t[i], b->v[i] - w + t, lambda - b->p[i] * t, b->p[i], b->c[i], b->rp[i],
                      b->rm[i]);
      change =
          fmax(change, fabs(b->t[i] - t) / (fabs(b->v[i]) + fabs(b->t[i]) + fabs(t) + DBL_MIN));
    }

    // steps shrink linearly, so look at the residual itself before believing them
    if (change <= tolerance) {
      mjgi_blockEvaluate(b);
      if (mjgi_blockResidual(b, b->piece, tolerance) <= tolerance) {
        return 1;
      }
    }
  }
  mjgi_blockEvaluate(b);
  return 0;
}

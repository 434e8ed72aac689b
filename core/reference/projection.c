// The paper's own algorithm: s := proj(B^n, s - c F(s)), with lambda by the fixed point of Remark 3.
//
// The step size is one number per joint, c_i = size/(a (|lambda_i| + c_i)), with a the largest row sum
// of |A| in units in which its diagonal is 1, and is renewed in every iteration. With size = 1 and P = 0
// t_i moves by -1/a times its velocity error, the largest step that is safe for every positive
// definite A: a bounds its largest eigenvalue. P makes Phi steeper, up to 1/(1 - sigma_max(P)), which
// nobody knows beforehand: size is halved when steps grow, and recovers slowly. The box is a product
// of intervals, so that another c for each joint leaves the solutions as they are.

#include <math.h>

#include "reference/reference.h"
#include "reference/variational.h"


// the load is found to this share of the tolerance, so that its error is none of the result's, in at most so many
// steps of the fixed point
static const double kInner = 1e-2;
enum {
  mjgiLOADS = 10000
};

// step size: halved where steps grow, but not below this, where progress would end; recovers by 1 % a step
static const double kSmallest = 1e-4, kGrow = 1.01;


int mjgi_projection(mjgiBlock* b, int iterations, double tolerance) {
  int n = b->n;
  double* s = b->y;
  double norm = 1, size = 1, last = INFINITY;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      sum += fabs(b->A[i * n + j]);
    }
    norm = fmax(norm, sum);
  }

  mjgi_viStart(b, s);
  for (int iter = 0; iter < iterations; iter++) {
    b->iterations++;
    int found = mjgi_viEvaluate(b, s, 0, mjgiLOADS, kInner * tolerance);
    if (!found || mjgi_viResidual(b, s) <= tolerance) {
      mjgi_viResidual(b, s);
      return found;
    }

    // move, measured in torques
    double moved = 0;
    for (int i = 0; i < n; i++) {
      double v = b->v[i] - b->w[i];
      double bound = fabs(b->lambda[i]) + b->c[i];
      double to = v > 0 ? 1 : (v < 0 ? -1 : 0);
      if (bound > 0) {
        to = fmax(-1, fmin(1, s[i] + size * v / (norm * bound)));
      }
      moved += bound * bound * (to - s[i]) * (to - s[i]);
      s[i] = to;
    }
    moved = sqrt(moved) / size;
    size = moved > last ? fmax(kSmallest, size / 2) : fmin(1, size * kGrow);
    last = moved;
  }
  return 0;
}

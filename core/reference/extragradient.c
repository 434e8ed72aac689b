// Korpelevich's extragradient method on the variational inequality (72): a trial step, and from the
// old point the step that the trial point asks for,
//
//     y := proj(s - c F(s)),   s := proj(s - c F(y)).
//
// It needs F to be monotone only, not strongly so. The step size c, per joint as in the projection
// method, shrinks until c |F(s) - F(y)| <= 0.7 |s - y| and grows again slowly (Khobotov, Marcotte).

#include <math.h>
#include <string.h>

#include "reference/reference.h"
#include "reference/variational.h"


// the load is found to this share of the tolerance, so that its error is none of the result's
static const double kInner = 1e-2;

// Khobotov's and Marcotte's step size: shrinks until c^2 |F(s) - F(y)|^2 <= kLipschitz2 |s - y|^2, grows slowly again;
// after so many shortenings it is rounding
static const double kLipschitz2 = 0.49, kShrink = 0.6, kGrow = 1.05;
enum {
  mjgiSHORTER = 60,
  mjgiLOADS = 50  // Newton steps to a load, of which a few are enough where there is one
};


// point := proj(s + size (v* - w)/bound)
static void move(double* point, const mjgiBlock* b, const double* s, const double* bound,
                 double size) {
  for (int i = 0; i < b->n; i++) {
    double v = b->v[i] - b->w[i];
    point[i] = bound[i] > 0 ? fmax(-1, fmin(1, s[i] + size * v / bound[i])) : (v > 0) - (v < 0);
  }
}


int mjgi_extragradient(mjgiBlock* b, mjgiScratch* scratch, int iterations, double tolerance) {
  int n = b->n;
  double *s = b->y, *trial = scratch->rate, *bound = scratch->keep, *before = scratch->next;
  double size = 1, inner = kInner * tolerance;

  mjgi_viStart(b, s);
  for (int iter = 0; iter < iterations; iter++) {
    b->iterations++;
    int found = mjgi_viEvaluate(b, s, 1, mjgiLOADS, inner);
    if (mjgi_viResidual(b, s) <= tolerance || !found) {
      return found;
    }
    for (int i = 0; i < n; i++) {
      bound[i] = fabs(b->lambda[i]) + b->c[i];
    }

    // trial step, shorter until F changes little enough on it
    memcpy(before, b->w, (size_t)n * sizeof(double));
    for (int shorter = 0; shorter < mjgiSHORTER; shorter++) {
      memcpy(b->w, before, (size_t)n * sizeof(double));
      move(trial, b, s, bound, size);
      if (!mjgi_viEvaluate(b, trial, 1, mjgiLOADS, inner)) {
        return 0;
      }
      double change = 0, distance = 0;
      for (int i = 0; i < n; i++) {
        double d = (trial[i] - s[i]) * bound[i];
        change += (b->w[i] - before[i]) * (b->w[i] - before[i]);
        distance += d * d;
      }
      if (size * size * change <= kLipschitz2 * distance) {
        break;
      }
      size *= kShrink;
    }
    move(s, b, s, bound, size);
    size *= kGrow;
  }
  return 0;
}

#include "inclusion.h"

#include <math.h>
#include <stddef.h>
#include <string.h>


// |error| relative to a scale; 0/0 is 0
static double relative(long double error, long double scale) {
  return error == 0 ? 0 : (double)(fabsl(error) / scale);
}


// row of a matrix times t, and the sum of the absolute terms
static void multiply(long double* product, long double* terms, const double* row, const double* t,
                     int n) {
  *product = 0;
  *terms = 0;
  for (int j = 0; j < n; j++) {
    *product += (long double)row[j] * t[j];
    *terms += fabsl((long double)row[j] * t[j]);
  }
}


void mjg_inclusion(mjgInclusion* inclusion, const mjgProblem* problem,
                   const mjgSolution* solution) {
  memset(inclusion, 0, sizeof(*inclusion));
  inclusion->worst = -1;
  inclusion->power = problem->n ? INFINITY : 0;
  int nblock = problem->nblock ? problem->nblock : 1, first = 0;
  size_t entry = 0;
  for (int b = 0; b < nblock; b++) {
    int size = problem->nblock ? problem->block[b] : problem->n;
    for (int k = 0; k < size; k++) {
      int i = first + k;
      size_t row = entry + (size_t)k * (size_t)size;
      const double* t = solution->t + first;
      long double v = solution->v[i], lambda = solution->lambda[i], ti = solution->t[i];
      long double c = problem->coulomb ? problem->coulomb[i] : 0;
      long double ratio = problem->static_ratio ? problem->static_ratio[i] : 1;

      // velocity
      long double At, Aterms, Pt, Pterms;
      multiply(&At, &Aterms, problem->A + row, t, size);
      double velocity = relative(v - (problem->v[i] - At), fabsl(problem->v[i]) + Aterms);

      // load
      if (problem->P) {
        multiply(&Pt, &Pterms, problem->P + row, t, size);
      } else {
        Pt = problem->alpha[i] * At - problem->beta[i] * ti;
        Pterms = fabsl(problem->alpha[i]) * Aterms + fabsl(problem->beta[i] * ti);
      }
      long double scale = fabsl(problem->phi[i]) + Pterms;
      double load = relative(lambda - (problem->phi[i] + Pt), scale);

      // friction; against the motion before the step it never exceeds the sliding bound
      long double bound = fabsl(lambda) + c, error;
      if (v == 0) {
        double v0 = problem->v0 ? problem->v0[i] : 0;
        int opposes = (ti > 0 && v0 > 0) || (ti < 0 && v0 < 0);
        error = fmaxl(fabsl(ti) - (opposes ? 1 : ratio) * bound, 0);
      } else {
        error = ti - (v > 0 ? bound : -bound);
      }
      double friction = relative(error, scale + c + fabsl(ti));

      // the worst joint; NaN is worse than any number
      double residual = fmax(velocity, fmax(load, friction));
      if (isnan(velocity) || isnan(load) || isnan(friction)) {
        residual = INFINITY;
      }
      if (residual > inclusion->residual || inclusion->worst < 0) {
        inclusion->residual = residual;
        inclusion->velocity = velocity;
        inclusion->load = load;
        inclusion->friction = friction;
        inclusion->worst = i;
      }
      inclusion->power = fmin(inclusion->power, (double)(ti * v));
      inclusion->nmode += solution->mode[i] != (v > 0) - (v < 0);
    }
    first += size;
    entry += (size_t)size * (size_t)size;
  }
}

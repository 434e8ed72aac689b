// Functions of a transmission beside the public ones.

#ifndef MJGEAR_TRANSMISSION_H_
#define MJGEAR_TRANSMISSION_H_

#include <math.h>

#include "mjgear_catalogue.h"

// Returns 1 if a table has points, else 0.
int mjgi_hasTables(const mjgTransmission* transmission);

// Returns 1 if friction is higher at rest.
static inline int mjgi_gainsAtRest(const mjgTransmission* t) {
  return t->stribeck_friction != 0 || t->gamma_u_stribeck != 0 || t->gamma_v_stribeck != 0 ||
         t->gamma_u_quadratic != 0 || t->gamma_v_quadratic != 0;
}

// Returns the next guess of t = F(t) by the secant rule. off = F(t) - t; *from, *before: t and
// off of the previous guess, NaN at first. The step is limited to the length of 32 plain
// rounds.
static inline double mjgi_secant(double t, double off, double* from, double* before) {
  double slope = (off - *before) / (t - *from);
  *from = t;
  *before = off;
  return t + off * (slope < 0 ? fmin(32, -1 / slope) : 1);
}

#endif  // MJGEAR_TRANSMISSION_H_

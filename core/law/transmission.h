// What a gear does, beside what the public header says of it.

#ifndef MJGEAR_TRANSMISSION_H_
#define MJGEAR_TRANSMISSION_H_

#include <math.h>

#include "mjgear_catalogue.h"

// Returns 1 if a table has points, else 0.
int mjgi_hasTables(const mjgTransmission* transmission);

// next guess of t = F(t), off = F(t) - t: by the secant from the guess before, where it
// was before, NaN at first; at most so far as 32 plain rounds
static inline double mjgi_secant(double t, double off, double* from, double* before) {
  double slope = (off - *before) / (t - *from);
  *from = t;
  *before = off;
  return t + off * (slope < 0 ? fmin(32, -1 / slope) : 1);
}

#endif  // MJGEAR_TRANSMISSION_H_

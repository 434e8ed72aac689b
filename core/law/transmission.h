// What a gear does, beside what the public header says of it.

#ifndef MJGEAR_TRANSMISSION_H_
#define MJGEAR_TRANSMISSION_H_

#include <math.h>

#include "mjgear_params.h"

// the two efficiencies at rest (sliding = 0) or in fast sliding (sliding = 1)
// error: as mjg_efficiencies
int mjgi_transmissionEfficiencies(double* eta_f, double* eta_b, const mjgTransmission* transmission,
                                  int sliding);

// does any table count; the largest product of what those of the asymmetry coefficients say
int mjgi_hasTables(const mjgTransmission* transmission);
double mjgi_largestFactor(const mjgTransmission* transmission);

// next guess of t = F(t), off = F(t) - t: by the secant from the guess before, where it was before, NaN at first; at most
// so far as 32 plain rounds
static inline double mjgi_secant(double t, double off, double* from, double* before) {
  double slope = (off - *before) / (t - *from);
  *from = t;
  *before = off;
  return t + off * (slope < 0 ? fmin(32, -1 / slope) : 1);
}

// inertia that a sliding joint shows, (38): seen from the load eta_f m + M if the motor drives and
// m/eta_b + M if the load drives, which is INFINITY for a non-backdrivable gear; m >= 0, M >= 0
// error: as mjg_efficiencies
int mjgi_apparentInertia(double* forward, double* backward, double gamma_u, double gamma_v,
                         double m, double M);

#endif  // MJGEAR_TRANSMISSION_H_

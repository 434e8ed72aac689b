// From what a type of gear says to coefficients. Descriptions are complete and each value is in its range.

#ifndef MJGEAR_TYPES_H_
#define MJGEAR_TYPES_H_

#include "mjgear_params.h"

// value of a key, or what it is if it is not given
static inline double mjgi_valueOr(const mjgDescription* d, int key, double otherwise) {
  return d->given[key] ? d->value[key] : otherwise;
}

// motor turns for a turn, or a unit of travel, of the output; 0 if that is not known
double mjgi_ratioOf(const mjgDescription* d, int type);

// gamma_u, gamma_v and what else the type says into t, which has ratio, static_ratio and stribeck_friction; what
// contradicts itself is refused
void mjgi_readCoefficients(mjgTransmission* t, mjgReport* report, const mjgDescription* d,
                           int type);

#endif  // MJGEAR_TYPES_H_

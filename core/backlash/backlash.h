// One side of a backlash law, as the implicit step needs it.
//
// A law without state is T(theta, omega) = R(theta, omega) - R(-theta, -omega), where R >= 0 is the
// torque of the right side. At a given rate omega, R is zero below an onset angle and smooth, most
// often a parabola, between a few break angles above it.

#ifndef MJGEAR_BACKLASH_INTERNAL_H_
#define MJGEAR_BACKLASH_INTERNAL_H_

#include "mjgear_backlash.h"

#define mjgiMAXBREAK 2

// R at one rate
typedef struct mjgiSide_ {
  int nbreak;                   // number of breaks, the first is the onset
  double breaks[mjgiMAXBREAK];  // ascending angles at which R changes its form
  double onset_rate;            // derivative of the onset by omega, where R jumps there
  double jump;                  // R just above the onset
  double touch_torque;          // mjgRUBBER, loading: torque that the band builds up to
} mjgiSide;

// breaks of R at rate omega. The touch of mjgPHASE_PLANE and mjgRUBBER depends on the rate at which
// the gap closes: where that is another one than omega, touch_rate is its value and touch_slope its
// derivative by omega; else they are omega and 1.
void mjgi_sideBreaks(mjgiSide* side, const mjgBacklash* law, double omega, double touch_rate,
                     double touch_slope);

// R and its derivatives
double mjgi_sideTorque(double* dtheta, double* domega, const mjgBacklash* law, const mjgiSide* side,
                       double theta, double omega);

#endif  // MJGEAR_BACKLASH_INTERNAL_H_

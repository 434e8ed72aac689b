// Planetary gears from their teeth.

#ifndef MJGEAR_PLANETARY_H_
#define MJGEAR_PLANETARY_H_

#include "mjgear.h"

// Central gears on a carrier: a sun that the motor turns, a ring that stands, and
// planets. With ring_out the planets drive a second ring, which is the output (3K,
// Wolfrom), else the carrier is. planet_out: teeth of a second gear on each planet, which
// meshes with the output ring, or with the standing ring if the carrier is the output
// (stepped planets); 0: the planet has one gear. Teeth need not be whole numbers.
typedef struct mjgiPlanetary_ {
  double sun, planet, ring;     // teeth, > 0
  double planet_out, ring_out;  // teeth; 0: none
  double efficiency;            // efficiency of each mesh, in (0, 1]
} mjgiPlanetary;

// ratio, negative if the output turns against the sun, and efficiencies from Willis'
// relation and the power of each mesh relative to the carrier, of which the mesh loses
// its share. eta_b <= 0: self-locking. error: mjgERR_ARGUMENT, also if the output would
// not turn
int mjgi_planetary(double* ratio, double* eta_f, double* eta_b, const mjgiPlanetary* gears);

#endif  // MJGEAR_PLANETARY_H_

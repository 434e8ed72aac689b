// Torsional stiffness without a gap, mjgTORSION: a spring of three stiffnesses and,
// beside it, friction that yields.

#ifndef MJGEAR_TORSION_H_
#define MJGEAR_TORSION_H_

#include "mjgear_backlash.h"

// Returns null if the parameters, each in its range, are consistent, else a message.
const char* mjgi_torsionError(const mjgBacklash* law);

// Returns 1 for a clutch, which slips or turns freely in one direction.
static inline int mjgi_isClutch(const mjgBacklash* law) {
  return law->slip_torque > 0 || law->freewheel != 0;
}

// largest slope of T
double mjgi_torsionStiffness(const mjgBacklash* law);

// mean torque of the spring alone over the way from a to b of a step; its derivative by
// the rate. At an angle: h = blend = 1
double mjgi_torsionSpring(double* slope, const mjgBacklash* law, double a, double b, double h,
                          double blend);

// mean torque over the last 1 - blend of the way from p to p + h w, with the slider at
// theta_b before; its derivative by w. It increases with w
double mjgi_torsionMean(double* slope, const mjgBacklash* law, double theta_b, double p, double h,
                        double blend, double w);

// the slider after the step that ends at p
double mjgi_torsionSlider(const mjgBacklash* law, double theta_b, double p);

// energy of both springs
double mjgi_torsionEnergy(const mjgBacklash* law, double theta, double theta_b);

#endif  // MJGEAR_TORSION_H_

// Torsional stiffness without a gap, mjgTORSION: a spring of three stiffnesses and, beside it,
// friction that yields.

#ifndef MJGEAR_TORSION_H_
#define MJGEAR_TORSION_H_

#include "mjgear_backlash.h"

// torque R of one side of a law (backlash.h) from an angle on: with y the angle behind it
typedef struct mjgiPiece_ {
  double from;
  double torque
      [3];  // R = torque[0] + torque[1] y + torque[2] y^2; powers of mjgHUNT_CROSSLEY: nothing
  double rate[3];  // dR/domega, likewise
} mjgiPiece;

// Returns null if the parameters, each in its range, are consistent, else a message.
const char* mjgi_torsionError(const mjgBacklash* law);

// Returns 1 for a clutch, which slips or turns freely in one direction.
static inline int mjgi_isClutch(const mjgBacklash* law) {
  return law->slip_torque > 0 || law->freewheel != 0;
}

// largest slope of T
double mjgi_torsionStiffness(const mjgBacklash* law);

// Set what the second and third stiffness add to the first beyond their angles. Returns the number
// of pieces.
int mjgi_torsionPieces(mjgiPiece* piece, const mjgBacklash* law);

// mean torque over the last 1 - blend of the way from p to p + h w without these pieces, with the
// slider at theta_b before; adds its derivative by w. It increases with w
double mjgi_torsionMean(double* slope, const mjgBacklash* law, double theta_b, double p, double h,
                        double blend, double w);

// the slider after the step that ends at p
double mjgi_torsionSlider(const mjgBacklash* law, double theta_b, double p);

// energy of first spring and slider
double mjgi_torsionEnergy(const mjgBacklash* law, double theta, double theta_b);

#endif  // MJGEAR_TORSION_H_

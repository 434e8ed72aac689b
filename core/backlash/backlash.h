// Inside of the backlash laws: one side of a law, and a gap in one step.
//
// A law without state is T(theta, omega) = R(theta, omega) - R(-theta, -omega), where R
// >= 0 is the torque of the right side. At a given rate omega, R is zero below an onset
// angle and smooth, most often a parabola, between a few break angles above it.

#ifndef MJGEAR_BACKLASH_INTERNAL_H_
#define MJGEAR_BACKLASH_INTERNAL_H_

#include "backlash/torsion.h"
#include "mjgear_backlash.h"

#define mjgiMAXPIECE 2

// R at one rate
typedef struct mjgiSide_ {
  int npiece;
  mjgiPiece piece[mjgiMAXPIECE];  // ascending, the first begins at the onset
  double onset_rate;              // derivative of the onset by omega, where R jumps there
  double jump;                    // R just above the onset, where that depends on the touch
} mjgiSide;

// R at rate omega. The touch of mjgPHASE_PLANE and mjgRUBBER depends on the rate at which
// the gap closes: touch_rate is this rate and touch_slope its derivative by omega; in
// most cases they are omega and 1.
void mjgi_makeSide(mjgiSide* side, const mjgBacklash* law, double omega, double touch_rate,
                   double touch_slope);

// Returns R at an angle, and its derivatives.
double mjgi_sideTorque(double* dtheta, double* domega, const mjgBacklash* law, const mjgiSide* side,
                       double theta, double omega);

// Returns the inertia of the shaft; only one model has one.
static inline double mjgi_shaftInertia(const mjgBacklash* law) {
  return law->model == mjgJCK ? law->shaft_inertia : 0;
}

// a gap in one step: everything but the rate of p
typedef struct mjgiGap_ {
  const mjgBacklash* law;
  double h;
  double blend;
  double eta;  // p+ = p- + h w, w = eta omega_d+ + (1 - eta) omega_d: the theta of the theta-method
  double omega_d;     // before the step
  double p;           // p-
  double slider;      // mjgTORSION: theta_b before the step
  double origin;      // offset of p and slider; a clutch's slider turns without limit
  double touch;       // touch angle of a gap that closes with omega_d, for its side
  double yield;       // decrease of the rate of both sides per unit of torque in the step
  double twist;       // theta_s before the step
  double twist_rate;  // and its rate
  double free_twist;  // theta_s and its rate after a step without torque
  double free_rate;
} mjgiGap;

// the gap of a coupling in a step whose driven side has the line vhat - A T
mjgiGap mjgi_makeGap(const mjgCoupling* coupling, double A);

// Returns 1 for models whose touch angle depends on the closing rate, and so on the yield.
static inline int mjgi_hasTouch(const mjgBacklash* law) {
  return law->model == mjgPHASE_PLANE || law->model == mjgRUBBER;
}

// Resolve a coupling repeatedly, with the gap of mjgi_makeGap. The last piece in step is tried
// first: if it fits it is right, because the solution is unique (0 <= gamma_u, gamma_v < 1, no
// static ratio above 1). mjgi_closeGap writes the rest, from T and the rate *w.
void mjgi_resolveAgain(mjgCouplingStep* step, double* w, const mjgCoupling* coupling,
                       const mjgiGap* gap, double vhat, double A);

// Returns the mean torque T of the step, with the rate w = w0 - a T and *slope = dT/dw0. With a <
// 0, which two metrics can cause, it is the solution of least torque, or none.
double mjgi_solveGap(double* w, double* slope, const mjgiGap* gap, double w0, double a);

// The same for a < 0, which a self-locking gear causes: the load brakes the rotor more than it
// drives it. Finds the solution of least torque, or returns 0.
int mjgi_solveJam(double* T, double* w, double* slope, const mjgiGap* gap, double w0, double a);

// Write the state of the gap after a step with torque T at rate w, and the energy of the shaft.
void mjgi_closeGap(mjgCouplingStep* step, const mjgiGap* gap, double T, double w);

#endif  // MJGEAR_BACKLASH_INTERNAL_H_

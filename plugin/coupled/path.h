// The path behind Newton: solutions of a family of steps from one that is known to the
// one that is asked for.
//
// At x = 0 the gears have other velocities, torques and Coulomb friction, with which all
// of them are at rest without friction; at x = 1 those of the step. While constraints
// keep their states and gears their pieces (piece.h) the solution is a straight line over
// x, which ends where one of them changes. The next line goes on behind it, forward or
// back in x as the sign of the determinant says, as in Lemke's method. Rotors behind gaps
// and elliptic contacts that slide bend the lines: there each begins with a step back to
// the path.
//
// In one metric the path from rest leads to the solution if gears can be driven from both
// sides, and in two if all of them lock (doc/theory.md). Elsewhere it may come back to
// its start; others begin with more Coulomb friction.

#ifndef MJGEAR_PLUGIN_PATH_H_
#define MJGEAR_PLUGIN_PATH_H_

#include "coupled/newton.h"

// solve from rest, with the pieces and the memory of p; 1 if solved, results as those of
// mjgp_newton
int mjgp_followPath(mjgpNewton* p);

#endif  // MJGEAR_PLUGIN_PATH_H_

// The homotopy path after Newton: the solutions of a family of steps, from a known one to
// the solution of the step.
//
// At x = 0 the gears have velocities, torques and Coulomb friction with a known solution
// (path.c); at x = 1 they have the values of the step. While the active set is unchanged
// the solution is linear in x; the segment ends at a breakpoint. The next one continues
// forward or back in x by the sign of the determinant, as in Lemke's method. Rotors
// behind gaps and sliding elliptic contacts curve the segments, which then begin with a
// corrector step.
//
// In one metric the path from rest leads to the solution if gears are backdrivable, and in two if
// all lock (doc/theory.md). Elsewhere it may return to its start.

#ifndef MJGEAR_PLUGIN_PATH_H_
#define MJGEAR_PLUGIN_PATH_H_

#include "solver/newton.h"

// Follow the path from each start, with the pieces and memory of p. Returns 1 if solved; results
// as of mjgp_newton.
int mjgp_followPath(mjgpNewton* p);

#endif  // MJGEAR_PLUGIN_PATH_H_

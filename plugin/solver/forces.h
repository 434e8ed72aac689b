// The first try of a step: forces of the rows that act and friction of the gears as unknowns.
//
// The constraint solver moves with a, the integrator with w. Their metrics M and M + D differ on
// the diagonal, by the gains of motors and by damping:
//
//   M a = (M + D) w = b + J' f - E' t
//   f = f0 - s'' (J a - jar0)   for rows in their states,   t on the lines of the gears
//
// So J a and E w = E a - E M^-1 D w are linear in f, t and w of the dofs with D, with matrices of
// M alone. Rows in their states are eliminated first; then the gears settle on what remains, branch
// by branch. Then a follows, and rows change their states. Full steps are taken until none does:
// most groups need one. Newton (newton.h) continues where this ends.

#ifndef MJGEAR_PLUGIN_FORCES_H_
#define MJGEAR_PLUGIN_FORCES_H_

#include <mujoco/mujoco.h>

#include "solver/delassus.h"

// Returns 1 if the form applies: no gaps, no coupled rotors, metrics that differ on the diagonal,
// and few rows.
int mjgp_hasForces(const mjgpStep* s);

// Solve from s->a and the branches of the last step; results in s->g, s->a, s->t.
// Returns 1 if solved; else s->a and the branches are those of the last iteration.
int mjgp_solveForces(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FORCES_H_

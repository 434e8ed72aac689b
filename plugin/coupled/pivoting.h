// Pivoting: solutions of a family of problems from one that is known to the one that is asked for, along pieces.
//
// While contacts keep their states and joints their pieces of the natural map (natural_map.h), everything is linear:
// gradient of the engine's convex problem and map form one continuous, piecewise linear function of acceleration
// and friction. Its residual at the start, (1 - x) times, defines a path from x = 0 to x = 1 that is a chain of
// straight lines. Each is followed to its end, where one contact or joint changes sides, and the next goes on behind
// it, as in Lemke's method. A step costs a rank-one change of the linearization. Elliptic contacts that slide bend the
// lines: there they end earlier, and the next begins with a step back to the path.
//
// The first path in two metrics begins where friction is large and gears are locked, the next at rest, where nothing moves
// and friction is zero (the existence proofs in doc/theory.md), then others at the solution where constraints and
// integrator move in one metric. With elliptic cones all of that again in short lines.

#ifndef MJGEAR_PLUGIN_PIVOTING_H_
#define MJGEAR_PLUGIN_PIVOTING_H_

#include "coupled/delassus.h"

// solve the step; 1 if solved, results in s->g. Not for gaps. If no path leads to a solution s->t is the friction of one
// metric, if that was found, else what it was
int mjgp_followPath(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_PIVOTING_H_

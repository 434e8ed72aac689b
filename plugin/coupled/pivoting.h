// Pivoting: solutions of a family of problems from one that is known to the one that is asked for, along pieces.
//
// While contacts keep their states and joints their pieces of the natural map (natural_map.h), everything is linear:
// gradient of the engine's convex problem and map form one continuous, piecewise linear function of acceleration
// and friction. Its residual at the start, (1 - x) times, defines a path from x = 0 to x = 1 that is a chain of
// straight lines. Each is followed to its end, where one contact or joint changes sides, and the next goes on behind
// it, as in Lemke's method. A step costs a rank-one change of the linearization. Elliptic contacts that slide bend the
// lines: there they end earlier, and the next begins with a step back to the path.
//
//   mjgp_pivotOn       from any start: short where the start is near
//   mjgp_pivotRest     in two metrics from where friction is large and gears are locked; from rest, where nothing moves and
//                      friction is zero (the existence proofs in doc/theory.md); then from the solution where constraints and integrator move in one metric. With elliptic cones all of
//                      that again in short lines. If nothing leads to a solution s->t is that of one metric, if found

#ifndef MJGEAR_PLUGIN_PIVOTING_H_
#define MJGEAR_PLUGIN_PIVOTING_H_

#include "coupled/newton.h"

// from the acceleration and friction in s; 1 if solved, results in s->g. Not for gaps
int mjgp_pivotOn(mjgpStep* s);
int mjgp_pivotRest(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_PIVOTING_H_

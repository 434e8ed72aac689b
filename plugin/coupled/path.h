// The path from rest: solutions of a family of problems from one in which nothing moves to the one that
// is asked for.
//
// To the velocity before the step -(1 - x) v+ is added, where v+ is the velocity after a step without
// friction. At x = 0 nothing moves, friction is zero; at x = 1 it is the problem itself. Friction t is a
// root of the continuous, piecewise smooth
//
//   F_i(t, x) = t_i - clip(t_i + v+_i(t, x) / (h c_i), -r-_i B_i(t, x), r+_i B_i(t, x))
//
// with c a constant, r the static ratios, B = |lambda| + coulomb and a little more while x < 1, and v+ and
// lambda those of the engine's exact constraint forces for this friction. The roots form a curve. A solution
// may end where a contact begins to hold or a gear to slip; there the curve turns back and x falls for a
// while, so that following x alone would get stuck. The sign of a determinant tells the direction in which
// the curve goes on, as for the piecewise linear curve of Lemke's method.

#ifndef MJGEAR_PLUGIN_PATH_H_
#define MJGEAR_PLUGIN_PATH_H_

#include "coupled/pass.h"

// solve K X = X in place for m right sides, X row by row (n x m), by elimination with pivoting; K is
// overwritten. Returns the sign of the determinant, 0 if K is singular
int mjgp_eliminate(mjtNum* K, mjtNum* X, int n, int m);

// follow the curve from rest to x = 1; 1 if solved, results in s->g. Not for groups with backlash
int mjgp_followPath(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_PATH_H_

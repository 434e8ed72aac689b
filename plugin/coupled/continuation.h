// Continuation: solutions of a family of problems from one in which there is nothing to solve to the one that
// is asked for, see natural_map.h.
//
// The roots of the map form a curve in t and x. A solution may end where a contact begins to hold or a gear to
// slip; there the curve turns back and x falls for a while, so that following x alone would get stuck. The sign
// of a determinant tells the direction in which the curve goes on, as for the piecewise linear curve of
// Lemke's method.

#ifndef MJGEAR_PLUGIN_CONTINUATION_H_
#define MJGEAR_PLUGIN_CONTINUATION_H_

#include "coupled/natural_map.h"
#include "coupled/newton.h"

// follow the curve of a family (mjgpFamily) from x = 0 to x = 1, for as many linearizations at most; 1 if solved,
// results in s->g. Not for groups with backlash
int mjgp_followCurve(mjgpStep* s, int family, int most);

#endif  // MJGEAR_PLUGIN_CONTINUATION_H_

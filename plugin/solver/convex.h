// The engine's convex problem with given friction, and the bracket of a line search.

#ifndef MJGEAR_PLUGIN_CONVEX_H_
#define MJGEAR_PLUGIN_CONVEX_H_

#include "solver/delassus.h"

// bracket of the zero of a rising slope, narrowed by regula falsi with halved ends (Illinois)
typedef struct mjgpBracket_ {
  mjtNum low, high, at_low, at_high;  // ends, and the slope there
  int side;                           // of the last trial: -1 low, 1 high
} mjgpBracket;

static inline void mjgp_narrow(mjgpBracket* b, mjtNum x, mjtNum slope) {
  if (slope < 0) {
    b->low = x;
    b->at_low = slope;
    b->at_high *= b->side == -1 ? 0.5 : 1;
    b->side = -1;
  } else {
    b->high = x;
    b->at_high = slope;
    b->at_low *= b->side == 1 ? 0.5 : 1;
    b->side = 1;
  }
}

// Solve the engine's convex problem with friction t for s->a, to round-off, and linearize.
// Returns 0 if not solved.
int mjgp_inner(mjgpStep* s, const mjtNum* t);

#endif  // MJGEAR_PLUGIN_CONVEX_H_

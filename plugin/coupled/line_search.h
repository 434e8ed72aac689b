// Line search for the engine's convex problem with given friction.

#ifndef MJGEAR_PLUGIN_LINE_SEARCH_H_
#define MJGEAR_PLUGIN_LINE_SEARCH_H_

#include "coupled/delassus.h"

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

// Returns the step length along s->search that minimizes the cost from s->a, to round-off; 0 if
// the cost does not fall. Overwrites s->next.
mjtNum mjgp_searchLine(mjgpStep* s, const mjtNum* t);

#endif  // MJGEAR_PLUGIN_LINE_SEARCH_H_

// Line search for the engine's convex problem with given friction.

#ifndef MJGEAR_PLUGIN_LINE_SEARCH_H_
#define MJGEAR_PLUGIN_LINE_SEARCH_H_

#include "coupled/newton.h"

// share of s->search that minimizes the cost from s->a on, to rounding; 0 if the cost does not fall. Takes s->next
mjtNum mjgp_searchLine(mjgpStep* s, const mjtNum* t);

#endif  // MJGEAR_PLUGIN_LINE_SEARCH_H_

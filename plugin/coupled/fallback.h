// What is left for a group that neither Newton nor the path solves: static bounds that
// break, and passive friction.

#ifndef MJGEAR_PLUGIN_FALLBACK_H_
#define MJGEAR_PLUGIN_FALLBACK_H_

#include "coupled/delassus.h"

// Release the static bounds of all joints, where no solution with them is found. ratio: the
// static ratios, to be restored (n). Returns 0 if there is no static bound.
int mjgp_releaseAll(mjgpStep* s, mjtNum* ratio);
void mjgp_restoreStatic(mjgpStep* s, const mjtNum* ratio);

// when all else failed: the friction of s->t without what would drive a joint, and the
// motion that the engine then computes; the step is not solved, but creates no energy
void mjgp_giveUp(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FALLBACK_H_

// For groups that neither Newton nor the path solves: release of static bounds, and passive
// friction.

#ifndef MJGEAR_PLUGIN_FALLBACK_H_
#define MJGEAR_PLUGIN_FALLBACK_H_

#include "solver/delassus.h"

// Release the static bounds of all joints. ratio: the static ratios, to be restored (n). Returns
// 0 if there is no static bound.
int mjgp_releaseAll(mjgpStep* s, mjtNum* ratio);
void mjgp_restoreStatic(mjgpStep* s, const mjtNum* ratio);

// Passive fallback: take the friction s->t, zero where it would drive a joint, and the
// engine's motion with it. The step is not solved, but creates no energy.
void mjgp_giveUp(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FALLBACK_H_

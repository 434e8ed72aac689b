// Methods for a group where Newton steps do not settle, each safer and slower than the one before.
//
// They solve the natural map of natural_map.h. Each returns 1 if it solved the step, with the results in s->g.

#ifndef MJGEAR_PLUGIN_FALLBACK_H_
#define MJGEAR_PLUGIN_FALLBACK_H_

#include "coupled/delassus.h"

// Newton on the natural map with steps that bring friction closer to the law, from friction s->t
int mjgp_damped(mjgpStep* s);

// where no solution with static bounds is found: joint which, or all if it is negative, breaks away, which is the law of
// joints that slip; ratio: the static ratios, to be restored. Returns 0 if none had one            (n)
int mjgp_breakAway(mjgpStep* s, mjtNum* ratio, int which);
void mjgp_restoreStatic(mjgpStep* s, const mjtNum* ratio);

// when all else failed: the friction of s->t without what would drive a joint, and the motion that the
// engine then computes; the step is not solved, but creates no energy
void mjgp_giveUp(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FALLBACK_H_

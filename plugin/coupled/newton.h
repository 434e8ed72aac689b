// Newton on the states of constraints and the pieces of gears at once: the method that solves nearly every step.

#ifndef MJGEAR_PLUGIN_NEWTON_H_
#define MJGEAR_PLUGIN_NEWTON_H_

#include "coupled/delassus.h"

// can all gears of the group be solved as lines
int mjgp_isNewton(const mjgpStep* s);

// solve from the acceleration in s->a and the pieces in s->g; results in s->g, s->a, s->t. Returns 1 if the step is solved,
// else 0 where the path goes on (pivoting.h)
int mjgp_newton(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_NEWTON_H_

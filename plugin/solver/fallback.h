// Passive friction, for groups that no method solves.

#ifndef MJGEAR_PLUGIN_FALLBACK_H_
#define MJGEAR_PLUGIN_FALLBACK_H_

#include "solver/delassus.h"

// Renew the budget of linearizations; the former count is kept.
void mjgp_renewBudget(mjgpStep* s);

// Passive fallback: take the friction s->t, zero where it would drive a joint, and the
// engine's motion with it. The step is not solved, but creates no energy.
void mjgp_giveUp(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FALLBACK_H_

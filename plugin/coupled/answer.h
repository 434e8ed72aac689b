// The engine's own answer to friction, where its constraint solver stops before the exact
// motion (PGS, few iterations, gains through tendons): friction that is on the law for
// the motion that the engine makes of it.

#ifndef MJGEAR_PLUGIN_ANSWER_H_
#define MJGEAR_PLUGIN_ANSWER_H_

#include "coupled/delassus.h"

// From the friction in s->g that was found for the exact motion, whose result is exact.
// The engine is run with trial friction until both agree; else friction is passive and
// the step unsolved. Results in s->g; worst: the gear that is farthest from its law
void mjgp_answerEngine(mjgpStep* s, const mjgInfo* exact, int* worst);

#endif  // MJGEAR_PLUGIN_ANSWER_H_

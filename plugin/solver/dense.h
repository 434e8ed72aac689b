// Friction as a dense problem of the core (mjgear.h): the paper's method and the others
// that the key "solver" names.

#ifndef MJGEAR_PLUGIN_DENSE_H_
#define MJGEAR_PLUGIN_DENSE_H_

#include "solver/delassus.h"

// Alternate between friction of the linearization by the core and the engine's problem with it,
// from s->a and s->t. Returns 1 if both agree; results in s->g, s->a.
int mjgp_solveDense(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_DENSE_H_

// Methods for a group where passes do not settle, each safer and slower than the one before.
//
// Friction is the unknown: a(t) is the unique solution of the engine's convex problem for given friction,
// mjgp_inner. Each method starts at s->a and s->t and returns 1 if it solved the step, results in s->g.

#ifndef MJGEAR_PLUGIN_RESCUE_H_
#define MJGEAR_PLUGIN_RESCUE_H_

#include "coupled/pass.h"

// Newton with each joint on the piece of its law that it is on: finds the solution that is near, also
// where the linearized problem has others. Friction is left where it was if there is none. Starts at a(t).
int mjgp_polish(mjgpStep* s);

// Newton with steps that bring friction closer to the law
int mjgp_damped(mjgpStep* s);

// along the path from rest, see path.h
int mjgp_fromRest(mjgpStep* s);

// joint by joint, with the exact a(t) of one joint's friction
int mjgp_jointByJoint(mjgpStep* s);

// when all else failed: the friction of s->t without what would drive a joint, and the motion that the
// engine then computes; the step is not solved, but creates no energy
void mjgp_giveUp(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_RESCUE_H_

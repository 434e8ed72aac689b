// The friction problem of a group as equations in friction alone.
//
// a(t), the engine's convex problem for given friction, is unique (mjgp_inner). Friction t is a root of the
// continuous, piecewise smooth natural map
//
//   F_i(t) = t_i - clip(t_i + v+_i(t) / (h c_i), -r-_i B_i(t), r+_i B_i(t))       B = |lambda| + coulomb
//
// for any c > 0, whatever the sign of dv+/dt is. Gaps have t_i - resolve_i instead, with what the core
// answers to the motion of the others.

#ifndef MJGEAR_PLUGIN_NATURAL_MAP_H_
#define MJGEAR_PLUGIN_NATURAL_MAP_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"

// velocity change per second that a torque of 1 at joint i counts as in the map: its own, and where that is not
// positive no less than a thousandth of what it is without the other joints
mjtNum mjgp_stepSize(const mjgpStep* s, int i);

// torque that the gains of a motor behind a gap take from joint i at s->acc, where the integrator has them
mjtNum mjgp_takenTorque(const mjgpStep* s, int i);

// is this velocity of joint i nothing but rounding of constraint forces
int mjgp_isRounding(const mjgpStep* s, int i, mjtNum v);

// joints whose friction would drive them at a velocity that is nothing but rounding are stuck
void mjgp_holdRounding(const mjgpStep* s);

// how far results are from the law at s->a and s->acc, relative to what they are made of; worst: the joint, a number of
// mjgpGears
mjtNum mjgp_lawError(mjgpStep* s, int* worst);

#endif  // MJGEAR_PLUGIN_NATURAL_MAP_H_

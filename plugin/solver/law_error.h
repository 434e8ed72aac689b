// The distance of a result from the law, computed from the motion alone: the only criterion for a
// solved step.

#ifndef MJGEAR_PLUGIN_LAW_ERROR_H_
#define MJGEAR_PLUGIN_LAW_ERROR_H_

#include <mujoco/mujoco.h>

#include "solver/delassus.h"

// Returns the acceleration of joint i per unit of its torque, at least a thousandth of
// its value without the other joints, so that it is positive.
mjtNum mjgp_stepSize(const mjgpStep* s, int i);

// Returns the largest distance of the results from the law at s->a and s->acc, relative to
// the terms of each joint; if that exceeds the tolerance, also relative to the round-off
// of its neighbours. worst: the joint, a number of mjgpGears
mjtNum mjgp_lawError(mjgpStep* s, int* worst);

#endif  // MJGEAR_PLUGIN_LAW_ERROR_H_

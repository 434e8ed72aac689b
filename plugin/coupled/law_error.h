// How far what a method found is from the law, from the motion alone: nothing else counts
// as solved.

#ifndef MJGEAR_PLUGIN_LAW_ERROR_H_
#define MJGEAR_PLUGIN_LAW_ERROR_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"

// velocity change per second that a torque of 1 at joint i counts as where it has to be
// positive: its own, and where that is not no less than a thousandth of what it is
// without the other joints
mjtNum mjgp_stepSize(const mjgpStep* s, int i);

// Returns the largest distance of the results from the law at s->a and s->acc, relative to
// the terms of each joint; where that is too much, also to the round-off of its neighbours.
// worst: the joint, a number of mjgpGears
mjtNum mjgp_lawError(mjgpStep* s, int* worst);

#endif  // MJGEAR_PLUGIN_LAW_ERROR_H_

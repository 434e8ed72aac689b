// Gear friction and the engine's constraints as one implicit step.

#ifndef MJGEAR_PLUGIN_COUPLING_H_
#define MJGEAR_PLUGIN_COUPLING_H_

#include <mujoco/mujoco.h>

#include "friction/metric.h"
#include "state/gears.h"

// solve for friction of those of the n joints that constraints act on, together with the constraint
// forces; force: all forces but those of constraints and friction (nv). The acceleration is handed to
// the engine as d->qacc_warmstart. Returns the number of joints that are left; they move to the front.
int mjgp_couple(mjgpGears* g, const mjModel* m, mjData* d, mjgpMetric* metric, const mjtNum* force,
                int* joint, int n);

#endif  // MJGEAR_PLUGIN_COUPLING_H_

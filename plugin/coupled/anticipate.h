// Friction for an engine whose constraint forces are not those of the convex problem.

#ifndef MJGEAR_PLUGIN_ANTICIPATE_H_
#define MJGEAR_PLUGIN_ANTICIPATE_H_

#include <mujoco/mujoco.h>

#include "friction/metric.h"
#include "state/gears.h"

// With noslip iterations, and to a small part with the solver PGS, the motion is not the minimizer that was
// solved for. Run the engine's own solver with the friction so far, look how the n joints move, correct
// friction by the effect that it has, and again until it stays: what the engine computes then is what was
// solved for.
//   effect  change of acceleration by friction                        (joints x joints of g)
void mjgp_anticipate(mjgpGears* g, const mjModel* m, mjData* d, const mjgpMetric* metric,
                     const mjtNum* effect, const int* joint, int n);

#endif  // MJGEAR_PLUGIN_ANTICIPATE_H_

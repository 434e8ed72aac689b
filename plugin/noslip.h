// Friction for an engine that changes contact forces after its constraint solver has found them.

#ifndef MJGEAR_PLUGIN_NOSLIP_H_
#define MJGEAR_PLUGIN_NOSLIP_H_

#include <mujoco/mujoco.h>

#include "gears.h"
#include "metric.h"

// With noslip iterations the motion is not the minimizer that was solved for. Run the engine's own
// solver with the friction so far, look how the n joints move, correct friction by the effect that it
// has without noslip, and again until it stays: what the engine computes then is what was solved for.
//   effect  change of acceleration by friction                        (joints x joints of g)
void mjgp_anticipateNoslip(mjgpGears* g, const mjModel* m, mjData* d, const mjgpMetric* metric,
                           const mjtNum* effect, const int* joint, int n);

#endif  // MJGEAR_PLUGIN_NOSLIP_H_

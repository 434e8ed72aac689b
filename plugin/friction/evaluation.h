// The forces of actuators, before the engine has summed them up.

#ifndef MJGEAR_PLUGIN_EVALUATION_H_
#define MJGEAR_PLUGIN_EVALUATION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// compute actuator forces as mj_fwdActuation is about to do; under "discrete" also what
// the engine derives from them: terms of the effective inertia and the regularization of
// constraints. actuated: 0 if the engine has got no further than passive forces. Returns
// the forces of actuators from which the engine will go on, on d's stack: it adds to them
// what it has added here, so that they have to be put back in the end. Null: there is
// nothing to add
mjtNum* mjgp_evaluateActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated);

#endif  // MJGEAR_PLUGIN_EVALUATION_H_

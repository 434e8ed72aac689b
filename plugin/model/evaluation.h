// The forces of actuators, before the engine has summed them up.

#ifndef MJGEAR_PLUGIN_EVALUATION_H_
#define MJGEAR_PLUGIN_EVALUATION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// Compute actuator forces as mj_fwdActuation will; under "discrete" also terms of the effective
// inertia and the regularization of constraints. actuated: 0 if the engine has only passive
// forces. Returns actuator forces to restore afterwards, on d's stack, because the engine adds to
// them again; null: none.
mjtNum* mjgp_evaluateActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated);

#endif  // MJGEAR_PLUGIN_EVALUATION_H_

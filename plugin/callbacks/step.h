// Where the plugin sits in the engine's step: its compute and advance callbacks.

#ifndef MJGEAR_PLUGIN_STEP_H_
#define MJGEAR_PLUGIN_STEP_H_

#include <mujoco/mujoco.h>

void mjgp_compute(const mjModel* m, mjData* d, int instance, int capability_bit);
void mjgp_advance(const mjModel* m, mjData* d, int instance);

#endif  // MJGEAR_PLUGIN_STEP_H_

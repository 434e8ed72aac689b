// Measurements of the scenes with a gap.

#ifndef SCENES_BACKLASH_GAP_H_
#define SCENES_BACKLASH_GAP_H_

#include <mujoco/mujoco.h>

#include "configuration/sensors.h"

// Angle of the rotor minus that of its joint, and its rate, at the beginning of the step that d has just taken, as the first
// two columns of a scene. The joint is the first dof, and its sensor the first sensor
static inline void mjg_measureGap(double* value, const mjModel* m, const mjData* d) {
  double h = m->opt.timestep;
  value[0] = d->sensordata[mjgSENSOR_ROTOR_ANGLE] - (d->qpos[0] - h * d->qvel[0]);
  value[1] = d->sensordata[mjgSENSOR_ROTOR_VELOCITY] - (d->qvel[0] - h * d->qacc[0]);
}

#endif  // SCENES_BACKLASH_GAP_H_

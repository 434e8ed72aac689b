// Measurements of the scenes with a gap.

#ifndef SCENES_BACKLASH_GAP_H_
#define SCENES_BACKLASH_GAP_H_

#include <mujoco/mujoco.h>

// numbers of the plugin's sensor, plugin/sensor.h
enum { mjgGAP_TORQUE = 3, mjgGAP_POSITION = 6, mjgGAP_ANGLE = 7, mjgGAP_VELOCITY = 8 };

// angle of the rotor minus that of its joint, and its rate, at the beginning of the step that d has
// just taken; the joint is the first dof and its sensor the first sensor
static inline void mjg_gapState(double* theta_d, double* omega_d, const mjModel* m, const mjData* d) {
  double h = m->opt.timestep;
  *theta_d = d->sensordata[mjgGAP_ANGLE] - (d->qpos[0] - h * d->qvel[0]);
  *omega_d = d->sensordata[mjgGAP_VELOCITY] - (d->qvel[0] - h * d->qacc[0]);
}

// for the member measure of a scene whose first columns are these two
static inline void mjg_measureGap(double* value, const mjModel* m, const mjData* d) {
  mjg_gapState(value, value + 1, m, d);
}

#endif  // SCENES_BACKLASH_GAP_H_

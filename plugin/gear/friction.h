// The law of the gears in a step, from the engine's quantities, and their passive forces.

#ifndef MJGEAR_PLUGIN_FRICTION_H_
#define MJGEAR_PLUGIN_FRICTION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// Set the law of the active joints from velocity, position and motor torque in g: gamma_u,
// gamma_v, coulomb, static_ratio, compliance, t_last.
void mjgp_makeLaw(mjgpGears* g, const mjModel* m, const mjData* d);

// Returns the velocity of slip of joint i at velocity v and friction t: v, less pre-sliding.
static inline mjtNum mjgp_slip(const mjgpGears* g, int i, mjtNum v, mjtNum t) {
  const mjgpGearInput* in = g->in.gear + i;
  return in->compliance > 0 ? mjg_preslidingSlip(v, t, in->compliance, in->t_last) : v;
}

// Returns 1 if joint i is at rest and no load would move it, however large: the motor's torque
// given, its bound grows with the load faster than the load.
int mjgp_isLocked(const mjgpGears* g, int i);

// Move the motor torque of rotors behind gaps off their joints, on which the engine puts it.
void mjgp_takeMotors(const mjgpGears* g, mjData* d);

// Set passive forces of geared dofs: without rotors behind gaps, less friction t of all gears
// (n).
void mjgp_applyFriction(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* t);

// Count a solve, and warn of the first one above the tolerance. worst: joint with the
// largest residual, -1: unknown.
void mjgp_recordSolve(mjgpGears* g, const mjModel* m, const mjData* d, int status, int worst);

#endif  // MJGEAR_PLUGIN_FRICTION_H_

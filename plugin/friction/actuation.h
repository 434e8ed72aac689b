// The motor torque that acts over a step, and what of it is rotor inertia.
//
// Integrators take velocity gains of actuators, and "discrete" position gains, at the end
// of the step. Over the step a motor gives
//
//   tau_u = motor - h K_p v - d v - S a        a = (v+ - v)/h
//   S     = [armature] + h K_v + h^2 K_p + h d
//
// motor   what mj_fwdActuation computes of it, with all clamps
// K_v     - d(motor)/d(v) as far as the integrator has it: implicitfast, implicit, discrete
// K_p     - d(motor)/d(q) as far as the integrator has it: discrete
// d       viscous damping that belongs to an actuator, which the engine counts among the passive forces
//
// All of it acts on the input side of the gear: u = tau - S a with tau = motor - h K_p v
// - d v. To the law S is rotor inertia. It is diagonal unless an actuator drives several
// joints through a tendon without a gear. Behind a gap S belongs to the rotor and not to
// the joint, where the engine has it.
//
// motor, K_v, K_p and d are those of actuators that are motors of the gear
// (configuration/motors.h); loads act on its link with gains and dampers. An actuator
// passes one gear, that of its transmission: where a tendon has a gear, its
// actuators are that gear's motors, with forces along the tendon, and not those of gears
// on its joints. Rotors of tendons, unlike those of joints, are accelerated also by a
// change of the Jacobian: tau has - [armature] (dj/dt)' v.

#ifndef MJGEAR_PLUGIN_ACTUATION_H_
#define MJGEAR_PLUGIN_ACTUATION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// does mj_fwdActuation call plugins
static inline int mjgp_actuationActive(const mjModel* m) {
  return m->nactuator && !(m->opt.disableflags & mjDSBL_ACTUATION);
}

// does what gears make of a motion, apart from the torque of the motor, depend on
// actuators: 1: on their forces, -1: on gains that are what they are whatever the forces,
// 0: on nothing
int mjgp_actuationMatters(const mjgpGears* g, const mjModel* m);

// in: gains, motor, tau, inertia, implicit, drag and row of the active joints, after
// mjgp_evaluateActuation (evaluation.h); actuated: -1 without the forces. Rows are on d's stack
void mjgp_gatherActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated);

#endif  // MJGEAR_PLUGIN_ACTUATION_H_

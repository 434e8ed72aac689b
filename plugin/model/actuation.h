// The motor torque over a step, and its part that is rotor inertia.
//
// Integrators take velocity gains of actuators, and "discrete" position gains too, at the end of
// the step. Over the step a motor gives
//
//   tau_u = motor - h K_p v - d v - S a        a = (v+ - v)/h
//   S     = [armature] + h K_v + h^2 K_p + h d
//
// motor   the torque of mj_fwdActuation, with all clamps K_v     - d(motor)/d(v) as far as the
// integrator has it: implicitfast, implicit, discrete K_p     - d(motor)/d(q) as far as the
// integrator has it: discrete d       viscous damping that belongs to an actuator, which the
// engine counts among the passive forces
//
// All of it acts on the input side of the gear: u = tau - S a with tau = motor - h K_p v
// - d v. To the law S is rotor inertia. It is diagonal unless an actuator drives several
// joints through a tendon without a gear. Behind a gap S belongs to the rotor and not to
// the joint, where the engine has it.
//
// motor, K_v, K_p and d are those of actuators that are motors of the gear
// (configuration/motors.h); loads act on its link with gains and dampers. An actuator
// passes one gear, the gear of its transmission. If a tendon has a gear, its actuators
// are motors of this gear, with forces along the tendon, and not motors of gears on its
// joints. Rotors of tendons, unlike those of joints, are accelerated also by a change of
// the Jacobian: tau has - [armature] (dj/dt)' v.

#ifndef MJGEAR_PLUGIN_ACTUATION_H_
#define MJGEAR_PLUGIN_ACTUATION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// Returns the dependence of inverse dynamics of gears on actuators beside motor torque: 1
// on forces, -1 on constant gains, 0 none.
int mjgp_actuationMatters(const mjgpGears* g, const mjModel* m);

// in: gains, motor, tau, inertia, implicit, drag and row of the active joints, after
// mjgp_evaluateActuation (evaluation.h); actuated: -1 without the forces. Rows are on d's stack
void mjgp_gatherActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated);

#endif  // MJGEAR_PLUGIN_ACTUATION_H_

// Motors of the models of ../models, which have position servos: a scene that switches them off drives them
// itself. And the friction that MuJoCo offers for the same joints.

#ifndef SCENES_MOTORS_H_
#define SCENES_MOTORS_H_

#include <mujoco/mujoco.h>

// Make motors of all position servos: their controls are torques from then on, their gains are kept for
// mjg_servo.
void mjg_makeMotors(mjModel* m);

// Torque of a servo that mjg_makeMotors has made a motor: towards a goal with its own gains, within its limits.
double mjg_servo(const mjModel* m, const mjData* d, int actuator, double goal);

// Give each joint that a motor drives MuJoCo's own dry friction: the largest of a floor (of hinges N m, of slides N)
// and `factor` times the load that the joint carries at the first state, without contacts.
void mjg_setNativeFriction(mjModel* m, double factor, double least);

#endif  // SCENES_MOTORS_H_

// Motors of the models of ../models, which have position servos: a scene that switches them off drives
// them itself.

#ifndef SCENES_MOTORS_H_
#define SCENES_MOTORS_H_

#include <mujoco/mujoco.h>

// Make motors of all position servos: their controls are torques from then on, their gains are kept for
// mjg_servo.
void mjg_makeMotors(mjModel* m);

// Torque of a servo that mjg_makeMotors has made a motor: towards a goal with its own gains, within its limits.
double mjg_servo(const mjModel* m, const mjData* d, int actuator, double goal);

#endif  // SCENES_MOTORS_H_

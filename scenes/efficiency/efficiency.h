// A gear lifts a load at constant speed, rests, and lowers it: its efficiency in both directions
// from the work at input and output. Shared by the three scenes of this folder.

#ifndef SCENES_EFFICIENCY_EFFICIENCY_H_
#define SCENES_EFFICIENCY_EFFICIENCY_H_

#include "../helpers.h"

// schedule: up, motor off, down
#define mjgEFF_OFF      1.0  // s
#define mjgEFF_DOWN     2.0
#define mjgEFF_DURATION 3.0

// torque of a motor that keeps the joint at the speed of the schedule, 0 while it is off
double mjg_effMotor(double time, double v, double speed, double gain);

// work of the motor and work on the load while the joint moves steadily, up or down: the load has
// the torque of column "load"
void mjg_effWork(double* in, double* out, const mjgTrajectory* run, const char* joint, int up);

// claims of one case: efficiency in both directions to 0.1 %, and whether it stands still with the
// motor off; eta_f and eta_b are those of theory
void mjg_effClaims(mjgClaims* claims, const mjgTrajectory* run, const char* joint, double eta_f, double eta_b);

#endif  // SCENES_EFFICIENCY_EFFICIENCY_H_

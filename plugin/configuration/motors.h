// Sorts actuators into motors of a gear and loads on its link.
//
// The transmission decides. Actuators on a joint, on a fixed tendon over it and on a
// slider-crank that turns this joint alone are motors of its gear, and those on a tendon
// with a gear are motors of that gear only. Sites, bodies (adhesion), spatial tendons and
// other slider-cranks act on the link: they are loads. The key "motor" of an instance
// names further actuators as motors of its joints. Gravity compensation by actuators is
// motor torque.

#ifndef MJGEAR_PLUGIN_MOTORS_H_
#define MJGEAR_PLUGIN_MOTORS_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"

// drive of an actuator, if it is not a gear on a tendon
enum {
  mjgpDRIVES_JOINTS = -1,  // gears of all joints that it moves
  mjgpDRIVES_NONE = -2,    // no gear: a load
  mjgpDRIVES_NAMED = -3    // gears of instances that name it, a load of others
};

typedef struct mjgpMotors_ {
  int* drive;  // index of a gear on a tendon, or a value above                (nactuator)
  int* named;  // pairs of an actuator and an instance that names it              (2 nnamed)
  int nnamed;
  int mixed;  // 1: loads may also act on a dof with a gear
} mjgpMotors;

// Returns the most pairs of names in all instances of a model.
int mjgp_countNamed(const mjModel* m, int slot);

// Find the motors; motors has room for the arrays. Wrong keys "motor" go into the report.
void mjgp_readMotors(mjgpMotors* motors, mjgReport* report, const mjModel* m,
                     const mjgpJoint* joint, int n, int slot);

// The same with own memory; free motors->drive. report: nullable.
void mjgp_makeMotors(mjgpMotors* motors, mjgReport* report, const mjModel* m,
                     const mjgpJoint* joint, int n, int slot);

// Returns 1 if an actuator that moves the joint of gear i is its motor.
static inline int mjgp_isMotor(const mjgpMotors* motors, int actuator, const mjgpJoint* joint,
                               int i) {
  int drive = motors->drive[actuator], found = 0;
  if (drive >= 0 || joint[i].kind == mjgpTRN_TENDON) {
    return drive == i;
  }
  for (int k = 0; k < motors->nnamed && drive == mjgpDRIVES_NAMED; k++) {
    found |= motors->named[2 * k] == actuator && motors->named[2 * k + 1] == joint[i].instance;
  }
  return found || drive == mjgpDRIVES_JOINTS;
}

// The same for any actuator; 1 if an actuator is a load on its joint or tendon.
int mjgp_isMotorOf(const mjgpMotors* motors, const mjModel* m, int actuator, const mjgpJoint* joint,
                   int i);
int mjgp_isLoadOf(const mjgpMotors* motors, const mjModel* m, int actuator, const mjgpJoint* joint,
                  int i);

#endif  // MJGEAR_PLUGIN_MOTORS_H_

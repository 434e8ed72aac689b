// The values of the plugin's sensors.
//
//   <sensor>
//     <plugin name="elbow_gear" plugin="mjgear.transmission" instance="gears"
//             objtype="joint" objname="elbow"/>
//   </sensor>
//
// A sensor belongs to one geared joint, or with objtype="tendon" to a tendon, whose name
// is optional if the instance has a single joint or tendon. It gives mjgNSENSOR numbers
// in the order below, valid after every mj_forward. Units are SI at the output side; for
// a slide, or a tendon that is a length, read N, m and m/s.

#ifndef MJGEAR_PLUGIN_SENSORS_H_
#define MJGEAR_PLUGIN_SENSORS_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"

enum {
  mjgSENSOR_FRICTION = 0,        // friction torque t, opposing motion                     N m
  mjgSENSOR_LAMBDA = 1,          // internal force lambda                                  N m
  mjgSENSOR_TORQUE_IN = 2,       // torque u delivered into the gear                       N m
  mjgSENSOR_TORQUE_OUT = 3,      // torque x delivered to the link                         N m
  mjgSENSOR_MODE = 4,            // -1 slips backward, 0 stuck, 1 slips forward
  mjgSENSOR_POWER_LOSS = 5,      // heat made by friction over the step, never negative    W
  mjgSENSOR_GAP = 6,             // position in the backlash gap, 0 without backlash       rad
  mjgSENSOR_ROTOR_ANGLE = 7,     // rotor angle; the joint's without backlash              rad
  mjgSENSOR_ROTOR_VELOCITY = 8,  // rotor velocity; the joint's without backlash           rad/s
  mjgSENSOR_ITERATIONS = 9,      // iterations of the solver in this step
  mjgSENSOR_RESIDUAL = 10,       // relative residual of this step
  mjgSENSOR_STATUS = 11,         // mjgStatus of this step, see mjgear.h
  mjgSENSOR_FALLBACKS = 12,      // fallbacks of the solver since the data was made or reset
  mjgSENSOR_STATE = 13,          // state of the gear: mjgpGEAR_*
  mjgNSENSOR = 14
};

// what a gear does
enum {
  mjgpGEAR_STUCK = 0,    // stands still, friction holds
  mjgpGEAR_DRIVING = 1,  // moves, the motor drives the link
  mjgpGEAR_DRIVEN = 2,   // moves, the link drives the gear: back-driven, or braked by friction
  mjgpGEAR_LOCKED = 3,   // stands still under any torque in its direction
  mjgpGEAR_IN_GAP = 4,   // teeth do not touch: the rotor is free in the backlash gap
  mjgpGEAR_DRIVEN_BY_BOTH = 5,  // moves, motor and link both give power to the gear
  mjgpNGEARSTATE = 6
};

// Refuse sensors of the plugin in slot that name none of the n geared joints of their instance.
void mjgp_checkSensors(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                       int slot);

// Returns 1 if a sensor belongs to an instance of the plugin in slot.
int mjgp_isOurSensor(const mjModel* m, int sensor, int slot);

// Returns which of n geared joints a sensor measures, or -1.
int mjgp_sensorJoint(const mjModel* m, const mjgpJoint* joint, int n, int sensor);

#endif  // MJGEAR_PLUGIN_SENSORS_H_

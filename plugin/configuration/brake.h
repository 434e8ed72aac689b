// Holding brakes: actuators of the plugin mjgear.brake (doc/drive_trains.md).
//
// A spring closes a brake and its control, from 0 to 1, opens it; with normally="open" a
// spring opens it and its control closes it. Closed by a share, it has this share of its
// torque as Coulomb friction on the motor's side of the teeth or on the link's. A joint without
// a gear gets one without losses, whose numbers belong to the brake's instance.

#ifndef MJGEAR_PLUGIN_BRAKE_H_
#define MJGEAR_PLUGIN_BRAKE_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"

// keys of a brake
extern const char* const mjgp_brakeKeys[];
enum {
  mjgpNBRAKEKEY = 6
};

// Returns the number of actuators that are this brake.
int mjgp_countBrakes(const mjModel* m, int instance);

// Read all brakes into joints with gears, and append joints without; joint has room. Returns the
// number of joints.
int mjgp_readBrakes(mjgpJoint* joint, int n, mjgReport* report, const mjModel* m);

#endif  // MJGEAR_PLUGIN_BRAKE_H_

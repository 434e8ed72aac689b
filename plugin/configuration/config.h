// The <config> elements of all instances, read and checked.

#ifndef MJGEAR_PLUGIN_CONFIG_H_
#define MJGEAR_PLUGIN_CONFIG_H_

#include <mujoco/mujoco.h>

#include "configuration/joint.h"
#include "mjgear.h"
#include "mjgear_report.h"

#define mjgpNAME "mjgear.transmission"

// brakes are actuators of a second plugin, whose instances have gears and states too
#define mjgpBRAKE         "mjgear.brake"
#define mjgpCHECKED_BRAKE "mjgear.check.brake"  // in a model whose gears are only checked

// message about a gear that no key describes
#define mjgpUNDESCRIBED                                                       \
  "nothing says what the gear is; give gamma_u and gamma_v, eta_forward and " \
  "eta_backward, starting torques, or a type and its keys"

// longest text of all refusals together
#define mjgpERRORSIZE 4000

// Returns the names of all keys; at most mjgpMAXKEY.
#define mjgpMAXKEY 100
const char* const* mjgp_keys(int* nkey);

// Returns the most joints of an instance: names in its keys "joint", "tendon" and "motor_joint",
// for each home (names.h).
int mjgp_countJoints(const mjModel* m, int instance);

// Read all instances of the plugin in slot. Returns *n joints by their dofs, then tendons of
// several joints, to be freed with mju_free. Every problem goes into the report.
mjgpJoint* mjgp_configure(int* n, mjgSettings* settings, mjgReport* report, const mjModel* m,
                          int slot);

// Make the gear of a joint's description. Works as mjg_transmission, and also refuses
// gears that cannot be simulated.
int mjgp_makeGear(mjgpJoint* joint, mjgReport* report);

// Refuse a gear that cannot be simulated; set constant and ordinary.
int mjgp_checkGear(mjgpJoint* joint, mjgReport* report);

// Set constant and ordinary from the gear.
void mjgp_classify(mjgpJoint* joint);

#endif  // MJGEAR_PLUGIN_CONFIG_H_

// Joints and tendons by the names in a configuration.
//
// Robots are attached to others and replicated (MjSpec.attach, <attach>, <replicate>):
// the engine then writes a prefix before and a suffix behind all their names, but not in
// the text of a configuration. So a name is looked up with the prefix and suffix that the
// instance of the plugin got. An instance travels with the body that references it, its
// home; names are looked up at home first. An instance may have several homes:
// <replicate> makes them of a body that has a <plugin> with its keys inside. Then each
// home has the joints of that name below it.

#ifndef MJGEAR_PLUGIN_NAMES_H_
#define MJGEAR_PLUGIN_NAMES_H_

#include <mujoco/mujoco.h>

#include "configuration/parsing.h"

// hinge or slide joint of a name in the configuration, tendon or actuator (type: mjtObj);
// -1 after a refusal
int mjgp_findGeared(int type, const char* word, int length, const mjgpPlace* place);

// Returns the number that names the gear of a joint (mjOBJ_JOINT) or tendon (mjOBJ_TENDON) to
// users; -1 for the id -1.
int mjgp_gearNumber(const mjModel* m, int type, int id);

// Returns type and id of the object of such a number; mjOBJ_UNKNOWN if there is none or m is
// null.
int mjgp_gearObject(int* id, const mjModel* m, int number);

// home of a geared joint's instance above it, 0: none
int mjgp_homeOf(const mjModel* m, const mjgpJoint* joint);

// is this the place to look for a word: a home that has such an object (mjtObj), or the
// first one if none has
int mjgp_isPlaceOf(const char* word, int length, int type, const mjgpPlace* place);

// the joint, or the tendon, as an item of a list
mjgpJoint mjgp_makeGeared(const mjgpPlace* place, int type, int id, int index, int item);

// its name, "" if it has none; what messages call it: "joint" or "tendon"
const char* mjgp_gearName(const mjModel* m, const mjgpJoint* joint);
const char* mjgp_gearKind(const mjgpJoint* joint);

// is its velocity that of a length, and not of an angle; a fixed tendon is what its first
// joint is
int mjgp_isLength(const mjModel* m, const mjgpJoint* joint);

#endif  // MJGEAR_PLUGIN_NAMES_H_

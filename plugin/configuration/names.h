// Joints and tendons by the names in a configuration.
//
// When a robot is attached or replicated (MjSpec.attach, <attach>, <replicate>), the engine adds
// a prefix and a suffix to its names, but not in the text of a configuration. So a name is looked
// up with the prefix and suffix of the plugin instance. The home of an instance is the body that
// references it; names are looked up there first. <replicate> of a body with a <plugin> inside
// makes several homes, each with the joints of that name below it.

#ifndef MJGEAR_PLUGIN_NAMES_H_
#define MJGEAR_PLUGIN_NAMES_H_

#include <mujoco/mujoco.h>

#include "configuration/joint.h"
#include "configuration/parsing.h"

// Returns the hinge or slide, tendon or actuator (type: mjtObj) of a name; -1 after a refusal.
int mjgp_findGeared(int type, const char* word, int length, const mjgpPlace* place);

// Returns the number that names the gear of a joint (mjOBJ_JOINT) or tendon (mjOBJ_TENDON) to
// users; -1 for the id -1.
int mjgp_gearNumber(const mjModel* m, int type, int id);

// Returns type and id of the object of such a number; mjOBJ_UNKNOWN if there is none or m is
// null.
int mjgp_gearObject(int* id, const mjModel* m, int number);

// Returns the home of a geared joint's instance above it, 0: none.
int mjgp_homeOf(const mjModel* m, const mjgpJoint* joint);

// Returns 1 if a word is looked up at this home: it has the object (mjtObj), or is the
// first one.
int mjgp_isPlaceOf(const char* word, int length, int type, const mjgpPlace* place);

// Returns a joint or tendon as an item of a list.
mjgpJoint mjgp_makeGeared(const mjgpPlace* place, int type, int id, int index, int item);

// Returns its name or ""; "joint" or "tendon".
const char* mjgp_gearName(const mjModel* m, const mjgpJoint* joint);
const char* mjgp_gearKind(const mjgpJoint* joint);

// Returns 1 if its position is a length, 0 for an angle; a fixed tendon is like its first joint.
int mjgp_isLength(const mjModel* m, const mjgpJoint* joint);

#endif  // MJGEAR_PLUGIN_NAMES_H_

// What the <config> elements of all instances say, read and checked in one place.

#ifndef MJGEAR_PLUGIN_CONFIG_H_
#define MJGEAR_PLUGIN_CONFIG_H_

#include <mujoco/mujoco.h>

#include "mjgear.h"

#define mjgpNAME "mjgear.transmission"

// keys in the order of registration; the table in config.c has the names
extern const char* const mjgp_keys[];
extern const int mjgp_nkey;

// longest line that a refusal may take
#define mjgpERRORSIZE 500

typedef enum mjgpCoupling_ {
  mjgpIMPLICIT = 0,  // friction and constraints are one problem
  mjgpLAGGED = 1     // constraint forces of the last step
} mjgpCoupling;

// settings of the whole system of geared joints; an instance that does not give a key agrees
typedef struct mjgpOptions_ {
  mjgSettings solver;
  int coupling;  // mjgpCoupling
} mjgpOptions;

// one geared joint
typedef struct mjgpJoint_ {
  int instance;    // plugin instance that declares it
  int index;       // position in that instance's list of joints
  int joint;       // joint id
  int dof;         // its dof
  int qpos;        // its position in qpos
  mjtNum gamma_u;  // input-side asymmetry coefficient
  mjtNum gamma_v;  // output-side asymmetry coefficient
} mjgpJoint;

// number of names in an instance's key "joint"
int mjgp_countJoints(const mjModel* m, int instance);

// read all instances of the plugin in slot: joint (total of the counts) in the order of their dofs;
// returns 0, or -1 with one line in error that says what is wrong, where, and the remedy
int mjgp_configure(mjgpJoint* joint, mjgpOptions* options, char error[mjgpERRORSIZE],
                   const mjModel* m, int slot);

#endif  // MJGEAR_PLUGIN_CONFIG_H_

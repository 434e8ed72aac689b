// One geared joint or tendon, as the <config> elements describe it.

#ifndef MJGEAR_PLUGIN_JOINT_H_
#define MJGEAR_PLUGIN_JOINT_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "catalogue/types.h"
#include "mjgear_backlash.h"
#include "mjgear_catalogue.h"

// the velocity w = j' v on which a gear acts
typedef enum mjgpTransmissionKind_ {
  mjgpTRN_JOINT = 0,  // a joint's: j is a unit vector
  mjgpTRN_TENDON = 1  // a tendon's: j is its row of ten_J, the rotor inertia its armature
} mjgpTransmissionKind;

// backlash at a joint of the list
typedef enum mjgpGap_ {
  mjgpGAP_NONE = 0,   // the rotor is the joint
  mjgpGAP_ROTOR = 1,  // a gap between a rotor of the plugin and this joint
  mjgpGAP_LOAD = 2,   // a gap between another joint, the motor, and this one
  mjgpGAP_MOTOR = 3   // the motor of such a joint
} mjgpGap;

enum {
  mjgpNGAPKEY = mjgiNGAPKEY,      // keys that are numbers of a gap
  mjgpROTORKEY = mjgpNGAPKEY - 1  // key of the gap's rotor
};

typedef enum mjgpEncoder_ {
  mjgpENCODER_MOTOR = 0,  // actuators measure the rotor
  mjgpENCODER_JOINT = 1   // actuators measure the joint
} mjgpEncoder;

typedef enum mjgpSide_ {
  mjgpSIDE_MOTOR = 0,  // the brake acts in front of the teeth
  mjgpSIDE_LINK = 1    // behind them
} mjgpSide;

typedef enum mjgpNormally_ {
  mjgpNORMALLY_CLOSED = 0,  // a spring closes the brake, its control opens it
  mjgpNORMALLY_OPEN = 1     // a spring opens the brake, its control closes it
} mjgpNormally;

// a holding brake: Coulomb friction whose torque a control sets
typedef struct mjgpBrakeKeys_ {
  int actuator;    // actuator whose control moves the brake, -1: no brake
  int side;        // mjgpSide
  int normally;    // mjgpNormally: place of the brake without power
  double holding;  // torque that the closed brake holds
  double sliding;  // torque with which the closed brake slips
  double closing;  // time from open to closed
  double opening;  // and back
} mjgpBrakeKeys;

// Returns the share of its torque that a brake applies after this travel: closed 1, open 0.
static inline mjtNum mjgp_closedShare(const mjgpBrakeKeys* brake, mjtNum travel) {
  return brake->normally == mjgpNORMALLY_CLOSED ? 1 - travel : travel;
}

// one geared joint; members that every step reads come first
typedef struct mjgpJoint_ {
  int dof;                     // dof of the joint or of a one-joint tendon; -1: jacobian.h
  int qpos;                    // address in qpos, -1: a tendon of several joints
  int joint;                   // joint id, -1: a tendon
  int tendon;                  // tendon id, -1: a joint
  int kind;                    // mjgpTransmissionKind: velocity on which the gear acts
  int gap;                     // mjgpGap
  int partner;                 // index of a load's motor or of a motor's load, else -1
  int sides[2];                // dofs of a load and its motor, ascending
  int number;                  // number of the joint or tendon, mjgp_gearNumber
  mjtNum signs[2];             // sign of each: 1 motor, -1 load
  int encoder;                 // mjgpEncoder of a rotor
  int constant;                // 1: the gear's coefficients are constant
  int ordinary;                // 1: constant, and the gear is ordinary (mjgp_isOrdinary)
  mjgpBrakeKeys brake;         // brake on this joint
  mjgTransmission gear;        // transmission of the description
  mjgBacklash backlash;        // gap of a rotor or load
  double rotor_inertia;        // of a rotor
  uint64_t keys;               // keys that a simulation may change, one bit each
  int instance;                // plugin instance that declares it
  int index;                   // position among that instance's joints in plugin_state
  int item;                    // position in the list of its key, and in lists of values
  int type;                    // mjJNT_HINGE or mjJNT_SLIDE, -1: a tendon of several joints
  mjgDescription description;  // the gear's description
} mjgpJoint;

// Returns 1 if there is a gap between a joint and its rotor or motor.
static inline int mjgp_hasGap(const mjgpJoint* joint) {
  return joint->gap == mjgpGAP_ROTOR || joint->gap == mjgpGAP_LOAD;
}

// Returns the type, mjOBJ_JOINT or mjOBJ_TENDON, and id of the object that has a gear.
static inline int mjgp_objectOf(int* id, const mjgpJoint* joint) {
  int tendon = joint->kind == mjgpTRN_TENDON;
  *id = tendon ? joint->tendon : joint->joint;
  return tendon ? mjOBJ_TENDON : mjOBJ_JOINT;
}

// Returns 1 if backdrivable with these coefficients, without pre-sliding, static friction or brake.
static inline int mjgp_isOrdinary(const mjgpJoint* joint, double gamma_u, double gamma_v) {
  const mjgTransmission* gear = &joint->gear;
  return (gamma_u >= 0) & (gamma_u < 1) & (gamma_v >= 0) & (gamma_v < 1) &
         (gear->static_ratio == 1) & !(gear->presliding_stiffness > 0) & (gear->oneway == 0) &
         (joint->brake.actuator < 0);
}

#endif  // MJGEAR_PLUGIN_JOINT_H_

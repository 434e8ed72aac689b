// The <config> elements of all instances, read and checked.

#ifndef MJGEAR_PLUGIN_CONFIG_H_
#define MJGEAR_PLUGIN_CONFIG_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "catalogue/quantity.h"
#include "mjgear.h"
#include "mjgear_backlash.h"
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

typedef enum mjgpCoupling_ {
  mjgpCOUPLING_IMPLICIT = 0,  // friction and constraints are one problem
  mjgpCOUPLING_LAGGED = 1     // constraint forces of the last step
} mjgpCoupling;

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
  mjgpNGAP = 5,                   // numbers of the state of a gap
  mjgpNGAPKEY = mjgiNGAPKEY,      // keys that are numbers of a gap
  mjgpROTORKEY = mjgpNGAPKEY - 1  // and the one that is its rotor's
};

typedef enum mjgpEncoder_ {
  mjgpENCODER_MOTOR = 0,  // actuators measure the rotor
  mjgpENCODER_JOINT = 1   // actuators measure the joint
} mjgpEncoder;

typedef enum mjgpSide_ {
  mjgpSIDE_MOTOR = 0,  // in front of the teeth
  mjgpSIDE_LINK = 1    // behind them
} mjgpSide;

typedef enum mjgpNormally_ {
  mjgpNORMALLY_CLOSED = 0,  // a spring closes the brake, its control opens it
  mjgpNORMALLY_OPEN = 1     // the other way round
} mjgpNormally;

// a holding brake: Coulomb friction of a torque that a control sets
typedef struct mjgpBrakeKeys_ {
  int actuator;    // whose control moves it, -1: there is no brake
  int side;        // mjgpSide
  int normally;    // mjgpNormally: where it is without power
  double holding;  // torque that it holds when closed
  double sliding;  // torque with which it slips
  double closing;  // time from open to closed
  double opening;  // and back
} mjgpBrakeKeys;

// Returns the share of its torque that a brake has, closed 1, open 0, where it has moved
// by travel from where it is without power.
static inline mjtNum mjgp_closedShare(const mjgpBrakeKeys* brake, mjtNum travel) {
  return brake->normally == mjgpNORMALLY_CLOSED ? 1 - travel : travel;
}

// settings of all geared joints
typedef struct mjgpOptions_ {
  mjgSettings solver;
  int coupling;  // mjgpCoupling
} mjgpOptions;

// one geared joint; members that every step reads come first
typedef struct mjgpJoint_ {
  int dof;               // dof of the joint, or of the one that a tendon is; -1: jacobian.h
  int qpos;              // its position in qpos, -1: a tendon of several joints
  int joint;             // joint id, -1: a tendon
  int tendon;            // tendon id, -1: a joint
  int kind;              // mjgpTransmissionKind: on what velocity the gear acts
  int gap;               // mjgpGap
  int partner;           // number of the motor of a load and of the load of a motor, else -1
  int sides[2];          // dofs of a load and its motor, ascending
  int number;            // of the joint or tendon, mjgp_gearNumber
  mjtNum signs[2];       // 1: of the motor, -1: of the load
  int encoder;           // mjgpEncoder, of a rotor
  int constant;          // 1: its coefficients are the same at any position, velocity and load
  int ordinary;          // 1: and it is ordinary (mjgp_isOrdinary)
  mjgpBrakeKeys brake;   // on this joint
  mjgTransmission gear;  // what its description means
  mjgBacklash backlash;  // of a rotor or load
  double rotor_inertia;  // of a rotor
  uint64_t keys;         // keys that a simulation may change, one bit each
  int instance;          // plugin instance that declares it
  int index;             // position among that instance's joints in plugin_state
  int item;              // position in the list of its key, which its values have too
  int type;              // mjJNT_HINGE or mjJNT_SLIDE, -1: a tendon of several joints
  mjgDescription description;  // its gear, as it was described
} mjgpJoint;

// Returns the most joints of an instance: names in its keys "joint", "tendon" and "motor_joint",
// for each home (names.h).
int mjgp_countJoints(const mjModel* m, int instance);

// Read all instances of the plugin in slot. Returns *n joints by their dofs, then tendons of
// several joints, to be freed with mju_free. Every problem goes into the report.
mjgpJoint* mjgp_configure(int* n, mjgpOptions* options, mjgReport* report, const mjModel* m,
                          int slot);

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

// Returns 1 for a gear that is backdrivable with these coefficients, and has no pre-sliding,
// static friction, brake or backstop.
static inline int mjgp_isOrdinary(const mjgpJoint* joint, double gamma_u, double gamma_v) {
  const mjgTransmission* gear = &joint->gear;
  return (gamma_u >= 0) & (gamma_u < 1) & (gamma_v >= 0) & (gamma_v < 1) &
         (gear->static_ratio == 1) & !(gear->presliding_stiffness > 0) & (gear->oneway == 0) &
         (joint->brake.actuator < 0);
}

// Make the gear of a joint's description. As mjg_transmission, and refuses gears that cannot be
// simulated.
int mjgp_makeGear(mjgpJoint* joint, mjgReport* report);

#endif  // MJGEAR_PLUGIN_CONFIG_H_

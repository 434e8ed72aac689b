#include "configuration/gap.h"

#include "catalogue/types.h"
#include "configuration/engine.h"
#include "configuration/jacobian.h"


double* mjgp_gapNumber(mjgpJoint* joint, int k) {
  double* number = mjgi_gapNumber(&joint->backlash, k);
  return number ? number : &joint->rotor_inertia;
}


int mjgp_readsGapKey(const mjgpJoint* joint, int k) {
  return k == mjgpROTORKEY ? joint->gap == mjgpGAP_ROTOR
                           : mjgi_usesGapNumber(joint->backlash.model, k);
}


static void readGapNumbers(mjgpJoint* joint, int found, int n, mjtNum* number, mjgpPlace* place) {
  for (int k = 0; k < mjgpNGAPKEY; k++) {
    place->key = mjg_gapKeyInfo(k)->name;
    int given = mjgp_readValues(number, NULL, 0, n, place);
    for (int i = 0; i < found && given > 0; i++) {
      mjtNum value = number[joint[i].item];
      if (joint[i].gap == mjgpGAP_NONE) {
        continue;
      }
      if (value != 0 && !mjgp_readsGapKey(joint + i, k)) {
        given = mjgp_refuseKey(place,
                               "backlash '%s' of joint '%s' does not use it; leave it out, or give "
                               "this joint 0",
                               mjg_backlashName(joint[i].backlash.model),
                               mjgp_gearName(place->m, joint + i));
      }
      *mjgp_gapNumber(joint + i, k) = value;
    }
  }
}


// Make a joint of the model the motor of a gap; it takes the gear. partner is a joint id until the
// list is sorted. Returns 1, or 0 after a refusal.
static int takeMotor(mjgpJoint* joint, mjgpJoint* motor, int id, int index, mjgpPlace* place) {
  const mjModel* m = place->m;
  const char *name = mjgp_nameOf(m, mjOBJ_JOINT, id), *load = mjgp_gearName(m, joint);
  if (joint->joint < 0) {
    mjgp_refuseKey(place, "tendon '%s' has a rotor of its own; write none for it", load);
  } else if (joint->gap == mjgpGAP_NONE) {
    mjgp_refuseKey(place, "joint '%s' has no backlash; give it a model in the key 'backlash'",
                   load);
  } else if (id == joint->joint) {
    mjgp_refuseKey(place, "'%s' is the motor of itself; name the joint that drives it", name);
  } else if (m->jnt_type[id] != m->jnt_type[joint->joint]) {
    mjgp_refuseKey(place, "'%s' and '%s' are a hinge and a slide; couple joints of one kind", name,
                   load);
  } else {
    *motor = mjgp_makeGeared(place, mjOBJ_JOINT, id, index, 0);
    motor->gap = mjgpGAP_MOTOR;
    motor->partner = joint->joint;
    motor->gear = joint->gear;
    motor->description = joint->description;
    joint->partner = id;
    joint->gap = mjgpGAP_LOAD;
    mjg_defaultTransmission(&joint->gear);
    mjg_defaultDescription(&joint->description);
    return 1;
  }
  return 0;
}


// Append motors that are joints of the model to the list. Returns their number.
static int readMotors(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place) {
  place->key = "motor_joint";
  const char* text = mjgp_value(place);
  int given = mjgp_countWords(text), added = 0;
  if (given && given != n) {
    mjgp_refuseKey(
        place,
        "it has %d names for %d joint%s; give one per joint, and none for a rotor of its own",
        given, n, n == 1 ? "" : "s");
    return 0;
  }
  for (int i = 0; i < found && given; i++) {
    int length;
    const char *list = text, *word = NULL;
    for (int k = 0; k <= joint[i].item; k++) {
      word = mjgp_nextWord(&length, &list);
    }
    if (!mjgp_isNone(word, length)) {
      mjgpPlace home = *place;
      home.home = mjgp_homeOf(place->m, joint + i);
      int id = mjgp_findGeared(mjOBJ_JOINT, word, length, &home);
      added += id >= 0 && takeMotor(joint + i, joint + found + added, id, start + added, place);
    }
  }
  return added;
}


const char* mjgp_rotorError(const mjgpJoint* joint) {
  if (joint->gap == mjgpGAP_LOAD && joint->rotor_inertia != 0) {
    return "has a motor_joint, whose inertia is the rotor's; leave out one of the two";
  }
  if (joint->gap == mjgpGAP_ROTOR && !(joint->rotor_inertia >= mjgMINROTOR)) {
    return "has backlash and needs a rotor in front of it; give it a positive inertia, at least "
           "1e-15, or name a motor_joint";
  }
  return NULL;
}


const char* mjgp_preslidingError(const mjgpJoint* joint) {
  if (joint->gap != mjgpGAP_NONE && joint->gear.oneway != 0) {
    return "has backlash, and its rotor turns both ways; leave out oneway";
  }
  if (joint->gear.presliding_stiffness == 0) {
    return NULL;
  }
  if (joint->brake.actuator >= 0) {
    return "has a brake, which holds rigidly; leave out presliding_stiffness";
  }
  return joint->gap != mjgpGAP_NONE
             ? "has backlash, and the friction of its rotor does not yield; leave out "
               "presliding_stiffness, because the shaft has its own stiffness"
             : NULL;
}


static void checkGap(const mjgpJoint* joint, mjgpPlace* place) {
  const char* name = mjgp_gearName(place->m, joint);
  const char* error = mjg_backlashError(&joint->backlash);
  place->key = "backlash";
  if (error) {
    mjgp_refuseKey(place, "joint '%s': %s", name, error);
  }
  place->key = "rotor_inertia";
  error = mjgp_rotorError(joint);
  if (error) {
    mjgp_refuseKey(place, "joint '%s' %s", name, error);
  }
  mjtNum armature = joint->gap == mjgpGAP_LOAD ? 0 : mjgp_rotorArmature(place->m, joint);
  if (armature != 0) {
    mjgp_refuseKey(place,
                   "joint '%s' also has armature %g, but behind a gap the rotor is no part of the "
                   "joint; set its armature to 0, and that of its actuators",
                   name, armature);
  }
}


// Refuse keys of a gap without its model.
static void refuseKeys(mjgpPlace* place) {
  for (int k = 0; k < mjgpNGAPKEY + 2; k++) {
    place->key = k < mjgpNGAPKEY    ? mjg_gapKeyInfo(k)->name
                 : k == mjgpNGAPKEY ? "motor_joint"
                                    : "encoder";
    if (mjgp_countGiven(place->m, place->instance, place->key)) {
      mjgp_refuseKey(place, "the instance has no backlash; give a model in the key 'backlash'");
    }
  }
}


// Read models of gaps. Returns the number of joints that have one, -1 after a refusal.
static int readModels(mjgpJoint* joint, int found, int n, mjtNum* value, mjgpPlace* place) {
  const char* names[mjgNBACKLASH + 1];
  for (int i = 0; i < mjgNBACKLASH; i++) {
    names[i] = mjg_backlashName(i);
  }
  names[mjgNBACKLASH] = "none";
  place->key = "backlash";
  int ngap = mjgp_readValues(value, names, mjgNBACKLASH + 1, n, place) < 0 ? -1 : 0;
  for (int i = 0; i < found && ngap >= 0; i++) {
    int model = (int)value[joint[i].item], tendon = joint[i].tendon;
    const char* name = mjgp_gearName(place->m, joint + i);
    joint[i].gap = model == mjgNBACKLASH ? mjgpGAP_NONE : mjgpGAP_ROTOR;
    joint[i].backlash = (mjgBacklash){.model = model, .exponent = 1};
    if (tendon >= 0 && joint[i].gap != mjgpGAP_NONE &&
        place->m->wrap_type[place->m->tendon_adr[tendon]] != mjWRAP_JOINT) {
      mjgp_refuseKey(place,
                     "tendon '%s' is spatial, and only fixed ones have backlash; write none for "
                     "it, and make its motor a joint",
                     name);
      joint[i].gap = mjgpGAP_NONE;
    }
    const char* error = mjgp_preslidingError(joint + i);
    if (error) {
      mjgp_refuseKey(place, "joint '%s' %s", name, error);
    }
    ngap += joint[i].gap != mjgpGAP_NONE;
  }
  return ngap;
}


int mjgp_readGaps(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place) {
  static const char* const encoder_names[] = {"motor", "joint"};
  int before = place->report->count, added = 0;
  mjtNum* value = mju_malloc(sizeof(mjtNum) * (size_t)(n + 1));
  int given = mjgp_countGiven(place->m, place->instance, "backlash");
  int ngap = given ? readModels(joint, found, n, value, place) : 0;
  if (!ngap && place->report->count == before) {
    refuseKeys(place);
  } else if (ngap >= 0) {
    readGapNumbers(joint, found, n, value, place);
    added = readMotors(joint, found, n, start, place);
    place->key = "encoder";
    given = mjgp_readValues(value, encoder_names, 2, n, place) > 0;
    for (int i = 0; i < found && given; i++) {
      joint[i].encoder = (int)value[joint[i].item];
      if (joint[i].gap == mjgpGAP_LOAD) {
        mjgp_refuseKey(place,
                       "joint '%s' has a motor_joint; an actuator measures the joint it acts on",
                       mjgp_gearName(place->m, joint + i));
      }
    }
  }
  mju_free(value);
  for (int i = 0; i < found && place->report->count == before; i++) {
    if (mjgp_hasGap(joint + i)) {
      checkGap(joint + i, place);
    }
  }
  return added;
}


void mjgp_findPartners(mjgpJoint* joint, int total) {
  for (int i = 0; i < total; i++) {
    for (int k = 0; k < total && joint[i].partner >= 0; k++) {
      if (joint[k].joint == joint[i].partner) {
        joint[i].partner = k;
        break;
      }
    }
    if (joint[i].gap == mjgpGAP_LOAD) {
      int motor = joint[joint[i].partner].dof, first = motor < joint[i].dof;
      joint[i].sides[!first] = motor;
      joint[i].sides[first] = joint[i].dof;
      joint[i].signs[!first] = 1;
      joint[i].signs[first] = -1;
    }
  }
}

#include "configuration/gap.h"

#include "catalogue/quantity.h"
#include "configuration/jacobian.h"
#include "friction/engine.h"


double* mjgp_gapNumber(mjgpJoint* joint, int k) {
  double* number = mjgi_gapNumber(&joint->backlash, k);
  return number ? number : &joint->rotor_inertia;
}


int mjgp_readsGapKey(const mjgpJoint* joint, int k) {
  return k == mjgpROTORKEY ? joint->gap == mjgpGAP_ROTOR
                           : mjgi_usesGapNumber(joint->backlash.model, k);
}


// numbers of the gaps of joints that have one
static void readGapNumbers(mjgpJoint* joint, int found, int n, mjtNum* number, mjgpPlace* place) {
  for (int k = 0; k < mjgpNGAPKEY; k++) {
    place->key = mjg_gapKeyInfo(k)->name;
    int given = mjgp_readValues(number, n, place), status = 0;
    for (int i = 0; i < found && given > 0 && !status; i++) {
      mjtNum value = number[given == 1 ? 0 : joint[i].item];
      if (joint[i].gap == mjgpGAP_NONE) {
        continue;
      }
      if (value != 0 && !mjgp_readsGapKey(joint + i, k)) {
        status = mjgp_refuseKey(
            place,
            "backlash '%s' of joint '%s' does not use it; leave it out, or give "
            "this joint 0",
            mjg_backlashName(joint[i].backlash.model), mjgp_gearName(place->m, joint + i));
      }
      *mjgp_gapNumber(joint + i, k) = value;
    }
  }
}


// motors that are joints of the model: they join the list behind all others. partner is the other's joint id
// until the list is sorted. Returns their number
static int readMotors(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place) {
  const mjModel* m = place->m;
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
    if (mjgp_isNone(word, length)) {
      continue;
    }
    mjgpPlace home = *place;
    home.home = mjgp_homeOf(m, joint + i);
    int id = mjgp_findGeared(mjOBJ_JOINT, word, length, &home);
    if (id < 0) {
      continue;
    }
    const char *name = mjgp_nameOf(m, mjOBJ_JOINT, id), *load = mjgp_gearName(m, joint + i);
    if (joint[i].joint < 0) {
      mjgp_refuseKey(place, "tendon '%s' has a rotor of its own; write none for it", load);
    } else if (joint[i].gap == mjgpGAP_NONE) {
      mjgp_refuseKey(place, "joint '%s' has no backlash; give it a model in the key 'backlash'",
                     load);
    } else if (id == joint[i].joint) {
      mjgp_refuseKey(place, "'%s' is the motor of itself; name the joint that drives it", name);
    } else if (m->jnt_type[id] != m->jnt_type[joint[i].joint]) {
      mjgp_refuseKey(place, "'%s' and '%s' are a hinge and a slide; couple joints of one kind",
                     name, load);
    } else {
      joint[found + added] = mjgp_makeGeared(place, mjOBJ_JOINT, id, start + added, 0);
      joint[found + added].gap = mjgpGAP_MOTOR;
      joint[found + added].partner = joint[i].joint;
      joint[i].partner = id;
      joint[found + added].gear = joint[i].gear;
      joint[found + added].description = joint[i].description;
      joint[i].gap = mjgpGAP_LOAD;
      mjg_defaultTransmission(&joint[i].gear);
      mjg_defaultDescription(&joint[i].description);
      added++;
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


// refuse what a gap cannot be
static void checkGap(const mjgpJoint* joint, mjgpPlace* place) {
  const mjModel* m = place->m;
  const char* name = mjgp_gearName(m, joint);
  const char* error = mjg_backlashError(&joint->backlash);
  place->key = "backlash";
  if (error) {
    mjgp_refuseKey(place, "joint '%s': %s", name, error);
  }
  place->key = "rotor_inertia";
  const char* rotor_error = mjgp_rotorError(joint);
  if (rotor_error) {
    mjgp_refuseKey(place, "joint '%s' %s", name, rotor_error);
  }
  if (joint->gap == mjgpGAP_LOAD) {
    return;
  }
  int tendon = joint->kind == mjgpTRN_TENDON;
  mjtNum armature =
      mjgp_armature(m, joint) + mj_actuatorArmature(m, tendon ? mjOBJ_TENDON : mjOBJ_JOINT,
                                                    tendon ? joint->tendon : joint->joint);
  if (armature != 0) {
    mjgp_refuseKey(place,
                   "joint '%s' also has armature %g, but behind a gap the rotor is no part of the "
                   "joint; set its armature to 0",
                   name, armature);
  }
}


static void refusePresliding(const mjgpJoint* joint, mjgpPlace* place) {
  const char* error = mjgp_preslidingError(joint);
  if (error) {
    mjgp_refuseKey(place, "joint '%s' %s", mjgp_gearName(place->m, joint), error);
  }
}


// without a model no key of a gap means anything
static void refuseKeys(mjgpPlace* place) {
  for (int k = 0; k < mjgpNGAPKEY + 2; k++) {
    place->key = k < mjgpNGAPKEY    ? mjg_gapKeyInfo(k)->name
                 : k == mjgpNGAPKEY ? "motor_joint"
                                    : "encoder";
    if (mjgp_countWords(mjgp_value(place))) {
      mjgp_refuseKey(place, "the instance has no backlash; give a model in the key 'backlash'");
    }
  }
}


static int haveGaps(const mjgpJoint* joint, int found) {
  int any = 0;
  for (int i = 0; i < found; i++) {
    any |= joint[i].gap != mjgpGAP_NONE;
  }
  return any;
}


int mjgp_readGaps(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place) {
  const char* names[mjgNBACKLASH + 1];
  static const char* const encoder_names[] = {"motor", "joint"};
  for (int i = 0; i < mjgNBACKLASH; i++) {
    names[i] = mjg_backlashName(i);
  }
  names[mjgNBACKLASH] = "none";

  if (!mjgp_hasBacklash(place->m, place->instance)) {
    refuseKeys(place);
    return 0;
  }

  // models
  int before = place->report->count, added = 0;
  int* choice = mju_malloc(sizeof(int) * (size_t)(n + 1));
  mjtNum* number = mju_malloc(sizeof(mjtNum) * (size_t)(n + 1));
  place->key = "backlash";
  int given = mjgp_readChoices(choice, names, mjgNBACKLASH + 1, n, place);
  for (int i = 0; i < found && given > 0; i++) {
    int model = choice[given == 1 ? 0 : joint[i].item];
    joint[i].gap = model == mjgNBACKLASH ? mjgpGAP_NONE : mjgpGAP_ROTOR;
    int tendon = joint[i].tendon;
    if (tendon >= 0 && joint[i].gap != mjgpGAP_NONE &&
        place->m->wrap_type[place->m->tendon_adr[tendon]] != mjWRAP_JOINT) {
      mjgp_refuseKey(place,
                     "tendon '%s' is spatial, and only fixed ones have backlash; write none for "
                     "it, and make its motor a joint",
                     mjgp_gearName(place->m, joint + i));
      joint[i].gap = mjgpGAP_NONE;
    }
    joint[i].backlash = (mjgBacklash){.model = model, .exponent = 1};
    refusePresliding(joint + i, place);
  }
  if (given > 0 && !haveGaps(joint, found) && place->report->count == before) {
    refuseKeys(place);
  } else if (given > 0) {
    readGapNumbers(joint, found, n, number, place);
    added = readMotors(joint, found, n, start, place);
    place->key = "encoder";
    given = mjgp_readChoices(choice, encoder_names, 2, n, place);
    for (int i = 0; i < found && given > 0; i++) {
      joint[i].encoder = choice[given == 1 ? 0 : joint[i].item];
      if (joint[i].gap == mjgpGAP_LOAD) {
        mjgp_refuseKey(place,
                       "joint '%s' has a motor_joint; an actuator measures the joint it acts on",
                       mjgp_gearName(place->m, joint + i));
      }
    }
  }
  mju_free(choice);
  mju_free(number);
  for (int i = 0; i < found && place->report->count == before; i++) {
    if (joint[i].gap == mjgpGAP_ROTOR || joint[i].gap == mjgpGAP_LOAD) {
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
  }
}

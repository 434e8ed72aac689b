#include "configuration/brake.h"

#include "configuration/gap.h"
#include "configuration/names.h"
#include "configuration/parsing.h"

const char* const mjgp_brakeKeys[mjgpNBRAKEKEY] = {
    "holding_torque", "sliding_torque", "closing_time", "opening_time", "side", "normally"};


int mjgp_countBrakes(const mjModel* m, int instance) {
  int n = 0;
  for (int i = 0; i < m->nactuator; i++) {
    n += m->actuator_plugin[i] == instance;
  }
  return n;
}


//---------------------------------- one brake -----------------------------------------------------

static void readKeys(mjgpBrakeKeys* brake, mjgpPlace* place) {
  static const char* const words[][2] = {{"motor", "link"}, {"closed", "open"}};
  mjtNum x[mjgpNBRAKEKEY] = {0};
  int given[mjgpNBRAKEKEY];
  for (int k = 0; k < mjgpNBRAKEKEY; k++) {
    place->key = mjgp_brakeKeys[k];
    given[k] = mjgp_readValues(x + k, k < 4 ? NULL : words[k - 4], 2, 0, place);
    if (x[k] < 0) {
      given[k] = mjgp_refuseKey(place, "%g is negative; write 0 or more", x[k]);
    }
  }
  brake->holding = given[0] ? x[0] : x[1];
  brake->sliding = given[1] ? x[1] : x[0];
  brake->closing = x[2];
  brake->opening = x[3];
  brake->side = (int)x[4];
  brake->normally = (int)x[5];
  place->key = "holding_torque";
  if (!given[0] && !given[1]) {
    mjgp_refuseKey(place, "nothing says how strong the brake is; give its torque at the output");
  }
  if (given[0] > 0 && given[1] > 0 && brake->sliding > brake->holding) {
    mjgp_refuseKey(place,
                   "%g is less than sliding_torque = %g, but a brake holds at least what it has "
                   "when it slips; exchange them",
                   brake->holding, brake->sliding);
  }
}


static void refuseActuator(const mjModel* m, const mjgpBrakeKeys* brake, const mjgpPlace* place) {
  int i = brake->actuator;
  if (m->actuator_gear[6 * m->actuator_outadr[i]] != 1 || m->actuator_forcelimited[i] ||
      m->actuator_dyntype[i] != mjDYN_NONE || m->actuator_actnum[i] || m->actuator_delay[i] != 0 ||
      m->actuator_biastype[i] != mjBIAS_NONE || m->actuator_gaintype[i] != mjGAIN_FIXED) {
    mjgp_refuseKey(place,
                   "it has gear, forcerange, delay, a bias, gains or an activation, of its own or "
                   "from <default>, which a brake does not; give it a default class without them, "
                   "and closing_time and opening_time");
  }
}


// Returns the joint or tendon of an actuator; -1 after a refusal.
static int readTarget(int* type, const mjModel* m, int actuator, const mjgpPlace* place) {
  int kind = m->actuator_trntype[actuator], id = m->actuator_trnid[2 * actuator];
  *type = kind == mjTRN_TENDON ? mjOBJ_TENDON : mjOBJ_JOINT;
  int scalar =
      kind == mjTRN_TENDON ||
      (kind == mjTRN_JOINT && (m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE));
  if (!scalar) {
    return mjgp_refuseKey(place,
                          "actuator '%s' is on no hinge or slide joint and on no tendon; a brake "
                          "holds one of these",
                          mjgp_nameOf(m, mjOBJ_ACTUATOR, actuator));
  }
  return id;
}


//---------------------------------- all of them ---------------------------------------------------

// Returns the gear of a joint or tendon among n, or appends one.
static mjgpJoint* findJoint(mjgpJoint* joint, int* n, int type, int id, const mjgpPlace* place,
                            int index) {
  mjgpJoint made = mjgp_makeGeared(place, type, id, index, 0);
  for (int i = 0; i < *n; i++) {
    if (made.dof >= 0 ? joint[i].dof == made.dof : joint[i].tendon == made.tendon) {
      return joint + i;
    }
  }
  mjg_defaultTransmission(&made.gear);
  mjg_defaultDescription(&made.description);
  made.constant = 1;
  joint[*n] = made;
  return joint + (*n)++;
}


static void readBrake(mjgpJoint* joint, int* n, const mjModel* m, int actuator, int index,
                      mjgpPlace* place) {
  int type;
  mjgpBrakeKeys brake = {.actuator = actuator};
  readKeys(&brake, place);
  refuseActuator(m, &brake, place);
  int id = readTarget(&type, m, brake.actuator, place);
  if (id < 0) {
    return;
  }
  mjgpJoint* on = findJoint(joint, n, type, id, place, index);
  if (on->brake.actuator >= 0) {
    mjgp_refuseKey(place, "%s '%s' has a brake already, actuator '%s'; give each one brake",
                   mjgp_gearKind(on), mjgp_gearName(m, on),
                   mjgp_nameOf(m, mjOBJ_ACTUATOR, on->brake.actuator));
  } else if (on->gap != mjgpGAP_NONE) {
    mjgp_refuseKey(place, "%s '%s' has backlash, behind which a brake is not known; leave out one",
                   mjgp_gearKind(on), mjgp_gearName(m, on));
  } else {
    on->brake = brake;
    on->ordinary = 0;
    const char* yields = mjgp_preslidingError(on);
    if (yields) {
      mjgp_refuseKey(place, "%s '%s' %s", mjgp_gearKind(on), mjgp_gearName(m, on), yields);
    }
  }
}


int mjgp_readBrakes(mjgpJoint* joint, int n, mjgReport* report, const mjModel* m) {
  for (int i = 0; i < m->nplugin; i++) {
    if (!mjgp_isBrake(m, i)) {
      continue;
    }
    mjgpPlace place = {m, i, "holding_torque", report, 0};
    mjgp_refuseBlanks(&place, mjgp_brakeKeys, mjgpNBRAKEKEY);
    place.key = "holding_torque";
    int count = 0;
    for (int k = 0; k < m->nactuator; k++) {
      if (m->actuator_plugin[k] == i) {
        readBrake(joint, &n, m, k, count++, &place);
      }
    }
    if (!count) {
      mjgp_refuseKey(&place,
                     "no actuator is this brake; write <plugin instance=\"..\" joint=\"..\"/> "
                     "in <actuator>");
    }
  }
  return n;
}

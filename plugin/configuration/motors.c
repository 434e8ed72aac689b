#include "configuration/motors.h"

#include "configuration/jacobian.h"
#include "configuration/names.h"
#include "configuration/parsing.h"


//---------------------------------- transmissions -------------------------------------------------

// Returns 1 if a dof moves a body.
static int isAbove(const mjModel* m, int dof, int body) {
  while (body > 0 && !m->body_dofnum[body]) {
    body = m->body_parentid[body];
  }
  int d = body > 0 ? m->body_dofadr[body] + m->body_dofnum[body] - 1 : -1;
  while (d > dof) {
    d = m->dof_parentid[d];
  }
  return d == dof;
}


// Returns 1 if an actuator can move a dof; adhesion only one above its own body.
static int moves(const mjModel* m, int actuator, int dof) {
  int id = m->actuator_trnid[2 * actuator], other = m->actuator_trnid[2 * actuator + 1], found = 0;
  int type = m->actuator_trntype[actuator];
  switch (type) {
    case mjTRN_JOINT:
    case mjTRN_JOINTINPARENT:
      return m->dof_jntid[dof] == id;
    case mjTRN_TENDON:
      for (int k = 0; k < m->ten_J_rownnz[id]; k++) {
        found |= m->ten_J_colind[m->ten_J_rowadr[id] + k] == dof;
      }
      return found;
    case mjTRN_BODY:
      return isAbove(m, dof, id);
    default:  // sites; a ball joint moves no gear
      return (type == mjTRN_SITE || other >= 0) &&
             isAbove(m, dof, m->site_bodyid[id]) !=
                 (other >= 0 && isAbove(m, dof, m->site_bodyid[other]));
  }
}


// Returns the index of the gear on a tendon that an actuator drives, or mjgpDRIVES_*.
static int driveOf(const mjModel* m, int actuator, const mjgpJoint* joint, int n) {
  int type = m->actuator_trntype[actuator], id = m->actuator_trnid[2 * actuator], moved = 0;
  if (type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT) {
    return mjgpDRIVES_JOINTS;
  }
  if (type == mjTRN_TENDON) {
    for (int i = 0; i < n; i++) {
      if (joint[i].kind == mjgpTRN_TENDON && joint[i].tendon == id) {
        return i;
      }
    }
    int fixed = m->wrap_type[m->tendon_adr[id]] == mjWRAP_JOINT;
    return fixed ? mjgpDRIVES_JOINTS : mjgpDRIVES_NONE;
  }
  for (int dof = 0; dof < m->nv && type == mjTRN_SLIDERCRANK; dof++) {
    moved += moves(m, actuator, dof);
  }
  return moved == 1 ? mjgpDRIVES_JOINTS : mjgpDRIVES_NONE;
}


//---------------------------------- names ---------------------------------------------------------

static int isGears(const mjModel* m, int instance, int slot) {
  return m->plugin[instance] == slot && !mjgp_isBrake(m, instance);
}


int mjgp_countNamed(const mjModel* m, int slot) {
  int n = 0;
  for (int i = 0; i < m->nplugin; i++) {
    if (isGears(m, i, slot)) {
      n += mjgp_countGiven(m, i, "motor") * mjMAX(1, mjgp_countHomes(m, i));
    }
  }
  return n;
}


// Make an actuator that an instance names a motor of its joints.
static void nameMotor(mjgpMotors* motors, int actuator, const mjgpPlace* place,
                      const mjgpJoint* joint, int n, int slot) {
  const mjModel* m = place->m;
  const char* name = mjgp_nameOf(m, mjOBJ_ACTUATOR, actuator);
  int drive = motors->drive[actuator], plugin = m->actuator_plugin[actuator], moved = 0;
  for (int i = 0; i < n; i++) {
    int own = joint[i].instance == place->instance;
    moved |= own &&
             (joint[i].kind == mjgpTRN_JOINT
                  ? moves(m, actuator, joint[i].dof) || m->actuator_trntype[actuator] == mjTRN_BODY
                  : drive == i);
  }
  if (plugin >= 0 && mjgp_isOurs(m, plugin, slot)) {
    mjgp_refuseKey(place, "actuator '%s' is a brake, which drives nothing; leave it out", name);
  } else if (!moved) {
    mjgp_refuseKey(place, "actuator '%s' moves no joint of this instance; leave it out", name);
  } else if (drive >= 0 && joint[drive].instance != place->instance) {
    mjgp_refuseKey(place,
                   "actuator '%s' is the motor of tendon '%s', and its force passes one gear; "
                   "leave it out",
                   name, mjgp_gearName(m, joint + drive));
  } else if (drive == mjgpDRIVES_NONE || drive == mjgpDRIVES_NAMED) {
    motors->drive[actuator] = mjgpDRIVES_NAMED;
    motors->named[2 * motors->nnamed] = actuator;
    motors->named[2 * motors->nnamed++ + 1] = place->instance;
  }
}


// Refuse a tendon with motors and loads: the engine sums their damping and armature.
static void checkTendons(const mjgpMotors* motors, const mjgpJoint* joint, int n,
                         const mjgpPlace* place) {
  const mjModel* m = place->m;
  for (int a = 0; a < m->nactuator; a++) {
    for (int b = 0; b < m->nactuator; b++) {
      int i = 0, same = m->actuator_trntype[a] == mjTRN_TENDON &&
                        m->actuator_trntype[b] == mjTRN_TENDON &&
                        m->actuator_trnid[2 * a] == m->actuator_trnid[2 * b];
      while (same && i < n && joint[i].instance != place->instance) {
        i++;
      }
      if (same && i < n && joint[i].kind == mjgpTRN_JOINT && mjgp_isMotor(motors, a, joint, i) &&
          !mjgp_isMotor(motors, b, joint, i)) {
        mjgp_refuseKey(place, "actuators '%s' and '%s' pull on one tendon; name both",
                       mjgp_nameOf(m, mjOBJ_ACTUATOR, a), mjgp_nameOf(m, mjOBJ_ACTUATOR, b));
        return;
      }
    }
  }
}


// Read the actuators that an instance names, inside or outside its homes.
static void readNames(mjgpMotors* motors, mjgpPlace* place, const mjgpJoint* joint, int n,
                      int slot) {
  const char *text = mjgp_value(place), *word;
  for (int length; (word = mjgp_nextWord(&length, &text));) {
    int actuator = mjgp_isPlaceOf(word, length, mjOBJ_ACTUATOR, place)
                       ? mjgp_findGeared(mjOBJ_ACTUATOR, word, length, place)
                       : -1;
    if (actuator >= 0) {
      nameMotor(motors, actuator, place, joint, n, slot);
    }
  }
}


void mjgp_readMotors(mjgpMotors* motors, mjgReport* report, const mjModel* m,
                     const mjgpJoint* joint, int n, int slot) {
  motors->nnamed = motors->mixed = 0;
  for (int k = 0; k < m->nactuator; k++) {
    motors->drive[k] = driveOf(m, k, joint, n);
  }
  for (int i = 0; i < m->nplugin; i++) {
    mjgpPlace place = {m, i, "motor", report, 0};
    if (!isGears(m, i, slot) || !mjgp_countGiven(m, i, "motor")) {
      continue;
    }
    place.home = mjgp_nextHome(m, i, 0);
    do {
      readNames(motors, &place, joint, n, slot);
    } while ((place.home = place.home ? mjgp_nextHome(m, i, place.home) : 0));
    checkTendons(motors, joint, n, &place);
  }
  for (int k = 0; k < m->nactuator; k++) {
    motors->mixed |= motors->drive[k] != mjgpDRIVES_JOINTS &&
                     (motors->drive[k] >= 0 || m->actuator_trntype[k] == mjTRN_BODY);
    for (int i = 0; i < n && motors->drive[k] != mjgpDRIVES_JOINTS; i++) {
      motors->mixed |= joint[i].dof >= 0 && moves(m, k, joint[i].dof);
    }
  }
}


void mjgp_makeMotors(mjgpMotors* motors, mjgReport* report, const mjModel* m,
                     const mjgpJoint* joint, int n, int slot) {
  mjgReport none;
  mjg_startReport(&none, NULL, 0);
  motors->drive =
      mju_malloc(sizeof(int) * (size_t)(m->nactuator + 2 * mjgp_countNamed(m, slot) + 1));
  motors->named = motors->drive + m->nactuator;
  mjgp_readMotors(motors, report ? report : &none, m, joint, n, slot);
}


//---------------------------------- one gear ------------------------------------------------------

static int actsOn(const mjModel* m, int actuator, const mjgpJoint* joint) {
  int n, found = 0;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  for (int k = 0; k < n; k++) {
    found |= moves(m, actuator, dof[k]);
  }
  int plugin = m->actuator_plugin[actuator];
  return found && (plugin < 0 || !mjgp_isBrake(m, plugin));
}


int mjgp_isMotorOf(const mjgpMotors* motors, const mjModel* m, int actuator, const mjgpJoint* joint,
                   int i) {
  return actsOn(m, actuator, joint + i) && mjgp_isMotor(motors, actuator, joint, i);
}


int mjgp_isLoadOf(const mjgpMotors* motors, const mjModel* m, int actuator, const mjgpJoint* joint,
                  int i) {
  return actsOn(m, actuator, joint + i) && !mjgp_isMotor(motors, actuator, joint, i);
}

#include "state/changes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/gap.h"
#include "configuration/parsing.h"

// longest list of problems of a joint's numbers; the first line is reported
#define mjgpREASON 500

// numbers of the law that descriptions of all types give
static const int kDerived[] = {mjgKEY_GAMMA_U, mjgKEY_GAMMA_V, mjgKEY_COULOMB, mjgKEY_STATIC_RATIO};
enum {
  NDERIVED = sizeof(kDerived) / sizeof(*kDerived)
};
_Static_assert((int)mjgKEY_STATIC_RATIO < (int)mjgpNBIT, "mjgpSTATE_DERIVED has the first keys");


// Returns 1 if a number is an integer from 0 to most.
static int isCount(mjtNum x, mjtNum most) {
  return x >= 0 && x <= most && x == (mjtNum)(int64_t)x;
}


//---------------------------------- one joint -----------------------------------------------------

static void giveGear(mjgpJoint* joint, mjgReport* report, int key, double value) {
  const mjgKeyInfo* info = mjg_keyInfo(key);
  if (info->engine) {
    mjg_refuse(report, "key '%s' is the engine's; change mjModel.%s", info->name,
               strstr(info->name, "viscous") ? "dof_damping" : "dof_armature");
  } else if (!(joint->keys >> key & 1)) {
    mjg_refuse(
        report,
        "key '%s': the model does not give it, so that it cannot change; describe the gear by "
        "coefficients or efficiencies, or give the key in the model",
        info->name);
  } else if (joint->gap == mjgpGAP_LOAD) {
    mjg_refuse(report, "key '%s': the gear is that of the motor_joint; change it there",
               info->name);
  } else {
    mjg_give(&joint->description, key, value);
  }
}


static void giveGap(mjgpJoint* joint, mjgReport* report, int k, double value) {
  const char* key = mjg_gapKeyInfo(k)->name;
  if (joint->gap == mjgpGAP_NONE) {
    mjg_refuse(report, "key '%s': the joint has no backlash; give it a model in the key 'backlash'",
               key);
  } else if (joint->gap == mjgpGAP_MOTOR) {
    mjg_refuse(report, "key '%s': the gap is that of the joint that it drives; change it there",
               key);
  } else if (!isfinite(value)) {
    mjg_refuse(report, "%s = %g is not a number; write a finite one", key, value);
  } else if (value != 0 && k != mjgpROTORKEY && !mjgp_readsGapKey(joint, k)) {
    mjg_refuse(report, "key '%s': backlash '%s' does not use it; leave it out", key,
               mjg_backlashName(joint->backlash.model));
  } else {
    *mjgp_gapNumber(joint, k) = value;
  }
}


// Refuse an error of a joint, if there is one.
static void refuseJoint(mjgReport* report, const char* error) {
  if (error) {
    mjg_refuse(report, "it %s", error);
  }
}


static void refuseGap(mjgReport* report, const mjgpJoint* joint) {
  const char* error = mjg_backlashError(&joint->backlash);
  if (error) {
    mjg_refuse(report, "%s", error);
  }
}


// Check the bits of given keys. Returns 0 after a refusal.
static int areBits(mjgReport* report, mjtNum first, mjtNum second) {
  int first_is = isCount(first, mjgpBITS), second_is = isCount(second, mjgpBITS2);
  if (!first_is || !second_is) {
    mjg_refuse(report, "%g does not say which keys are given; write a sum of bits of keys",
               first_is ? second : first);
  }
  return first_is && second_is;
}


uint64_t mjgp_derivedOf(const mjtNum* state, const mjgpConfig* config, int i) {
  mjtNum derived = *mjgp_number(state, config, i, mjgpSTATE_DERIVED);
  return isCount(derived, mjgpBITS) ? (uint64_t)derived : 0;
}


int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config,
                     const mjtNum* state, int i) {
  int before = report->count, kind = 0;
  const mjtNum *given = mjgp_number(state, config, i, mjgpSTATE_GIVEN),
               *rest = mjgp_number(state, config, i, mjgpSTATE_GIVEN + 1);
  mjtNum type = *mjgp_number(state, config, i, mjgpSTATE_TYPE);
  *joint = config->joint[i];
  if (!areBits(report, *given, *rest)) {
    return 1;
  }
  if (!isCount(type, mjgNTYPE)) {
    mjg_refuse(report, "%g is not the type of a gear; write 0, or 1 + mjgType", type);
    return 1;
  }

  // described anew: remove the keys that describe the gear
  int flg_gear = type > 0, flg_gap = 0;
  if (type > 0) {
    joint->description.type = (int)type - 1;
  }
  for (int key = 0; key < mjgNKEY && type > 0; key++) {
    if (mjgp_isKind(key)) {
      joint->description.given[key] = 0;
      joint->description.value[key] = 0;
    }
  }

  for (int key = 0; key < mjgpNCHANGEKEY; key++) {
    int place = mjgp_placeOf(config, i, key);
    double value = place < 0 ? 0 : state[place];
    uint64_t bits =
        key < mjgpNBIT ? (uint64_t)*given & ~mjgp_derivedOf(state, config, i) : (uint64_t)*rest;
    if (!(bits & mjgp_keyBit(key))) {
      continue;
    }
    if (key < mjgNKEY) {
      giveGear(joint, report, key, value);
      kind |= mjgp_isKind(key);
      flg_gear = 1;
    } else {
      giveGap(joint, report, key - mjgNKEY, value);
      flg_gap = 1;
    }
  }
  if (type > 0 && !kind) {
    mjg_refuse(report, "%s", mjgpUNDESCRIBED);
  }

  if (flg_gap && report->count == before) {
    refuseGap(report, joint);
    refuseJoint(report, mjgp_rotorError(joint));
  }
  if (flg_gear && report->count == before) {
    mjgp_makeGear(joint, report);
    refuseJoint(report, mjgp_preslidingError(joint));
  }
  return report->count - before;
}


static mjtNum lawNumber(const mjgTransmission* gear, int key) {
  return *mjgi_keyMember((mjgTransmission*)gear, key);
}


void mjgp_derive(mjtNum* state, const mjgpConfig* config, int i, const mjgpJoint* joint) {
  mjtNum* number = mjgp_number(state, config, i, mjgpSTATE_GIVEN);
  uint64_t derived = mjgp_derivedOf(state, config, i), given = (uint64_t)*number & ~derived;
  derived = 0;
  for (int k = 0; k < NDERIVED; k++) {
    mjtNum value = lawNumber(&joint->gear, kDerived[k]);
    uint64_t bit = mjgp_keyBit(kDerived[k]);
    int differs = value != lawNumber(&config->joint[i].gear, kDerived[k]);
    if (!(given & bit)) {
      derived |= differs ? bit : 0;
      state[mjgp_placeOf(config, i, kDerived[k])] = differs ? value : 0;
    }
  }
  *number = (mjtNum)(given | derived);
  *mjgp_number(state, config, i, mjgpSTATE_DERIVED) = (mjtNum)derived;
}


//---------------------------------- the law of a step ---------------------------------------------

// Load the numbers of the law whose bits are given, and check them one by one if there is a report.
// Returns 1 if one of them changes.
static int loadNumbers(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config,
                       const mjtNum* state, int i) {
  const int* place = config->place + (ptrdiff_t)i * mjgpNCHANGEKEY;
  int changes = 0;
  for (int half = 0; half < 2; half++) {
    uint64_t left = (uint64_t)*mjgp_number(state, config, i, mjgpSTATE_GIVEN + half);
    for (; left; left &= left - 1) {
      int key = half * mjgpNBIT + __builtin_ctzll(left), of_gap = key >= mjgNKEY;
      double* member =
          of_gap ? mjgp_gapNumber(joint, key - mjgNKEY) : mjgi_keyMember(&joint->gear, key);
      if (member && place[key] >= 0) {
        changes |= *member != state[place[key]];
        *member = state[place[key]];
        if (report && !of_gap) {
          mjgi_checkNumber(report, &joint->gear, key);
        }
      }
    }
  }
  return changes;
}


// Returns 1 if the teeth of a changed gear follow the mesh: they are more numbers than a state has.
static int hasTeeth(const mjgpJoint* base, mjtNum given) {
  return base->gear.mesh || (uint64_t)given & mjgp_keyBit(mjgKEY_MESH);
}


int mjgp_loadLaw(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config, const mjtNum* state,
                 int i) {
  const mjgpJoint* base = config->joint + i;
  mjtNum given = *mjgp_number(state, config, i, mjgpSTATE_GIVEN);
  int before = report->count;
  memcpy(&joint->gear, &base->gear, offsetof(mjgTransmission, table));  // tables do not change
  joint->backlash = base->backlash;
  joint->rotor_inertia = base->rotor_inertia;
  if (!areBits(report, given, *mjgp_number(state, config, i, mjgpSTATE_GIVEN + 1))) {
    return 1;
  }
  loadNumbers(joint, report, config, state, i);
  if (hasTeeth(base, given)) {
    mjgpJoint whole;
    if (!mjgp_changeJoint(&whole, report, config, state, i)) {
      joint->gear.spur = whole.gear.spur;
      joint->gear.mesh = whole.gear.mesh;
    }
  }
  if (report->count == before) {
    mjgi_checkNumbers(report, &joint->gear);
    mjgp_checkGear(joint, report);
    refuseJoint(report, mjgp_preslidingError(joint));
  }
  if (mjgp_hasGap(joint)) {
    refuseJoint(report, mjgp_rotorError(joint));
    refuseGap(report, joint);
  }
  return report->count - before;
}


//---------------------------------- all joints ----------------------------------------------------

static void refuse(mjgpGears* g, const char* where, const char* reason) {
  g->refused = 1;
  mjgp_warn(
      g, mjgpWARN_REFUSED,
      "%s in plugin_state: %.*s. It is not used: what the model says counts, and steps have the "
      "status %d. Further occurrences have that status, but are not reported",
      where, (int)strcspn(reason, "\n"), reason, mjgERR_ARGUMENT);
}


// Apply the numbers of a joint in plugin_state. They are checked only if they are new.
static void applyChange(mjgpGears* g, const mjModel* m, const mjtNum* state, int i) {
  const mjgpConfig* config = g->config;
  if (!g->changes) {
    size_t size = sizeof(mjgpChange) * (size_t)config->n;
    g->changes = mju_malloc(size);
    memset(g->changes, 0, size);
  }
  mjgpChange* c = g->changes + i;
  const mjgpJoint* base = config->joint + i;
  mjtNum given[2] = {*mjgp_number(state, config, i, mjgpSTATE_GIVEN),
                     *mjgp_number(state, config, i, mjgpSTATE_GIVEN + 1)};
  int known = c->given[0] == given[0] && c->given[1] == given[1];
  if (c->base != config) {
    c->joint = *base;
    c->base = config;
  }
  if (!known || c->refused || hasTeeth(base, given[0]) ||
      loadNumbers(&c->joint, NULL, config, state, i)) {
    char reason[mjgpREASON], where[2 * mjgpMAXWORD];
    mjgReport report;
    mjg_startReport(&report, reason, sizeof(reason));
    c->refused = mjgp_loadLaw(&c->joint, &report, config, state, i) > 0;
    memcpy(c->given, given, sizeof(given));
    if (c->refused) {
      snprintf(where, sizeof(where), "%s '%.*s'", mjgp_gearKind(base), mjgpMAXWORD,
               mjgp_gearName(m, base));
      refuse(g, where, reason);
    }
  }
  g->in.joint[i] = c->refused ? base : &c->joint;
}


void mjgp_applyChanges(mjgpGears* g, const mjModel* m, mjData* d) {
  const mjgpConfig* config = g->config;
  g->refused = 0;
  mjtNum* state = d->plugin_state;
  mjtNum layout = state[config->system + mjgpSYSTEM_LAYOUT];
  int foreign = layout != 0 && layout != config->layout;
  if (foreign) {
    refuse(g, "the state", "it is that of a model with other gears or keys; reset the data");
  }
  for (int i = 0; i < config->n; i++) {
    if (!foreign && (*mjgp_number(state, config, i, mjgpSTATE_GIVEN) != 0 ||
                     *mjgp_number(state, config, i, mjgpSTATE_GIVEN + 1) != 0)) {
      applyChange(g, m, state, i);
    } else {
      g->in.joint[i] = config->joint + i;
    }
  }

  // the solver
  g->in.settings = config->settings;
  mjtNum solver = state[config->system + mjgpSYSTEM_SOLVER];
  if (solver != 0 && !foreign) {
    char reason[mjgpREASON];
    mjgReport report;
    mjg_startReport(&report, reason, sizeof(reason));
    if (!isCount(solver, mjgNSOLVER)) {
      mjg_refuse(&report, "%g is no solver; write 0, or 1 + mjgSolver", solver);
    } else {
      mjgp_checkSolver(&report, (int)solver - 1, config->n);
    }
    if (report.count) {
      refuse(g, "solver", reason);
    } else {
      g->in.settings.solver = (int)solver - 1;
    }
  }
}

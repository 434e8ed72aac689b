#include "state/changes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/gap.h"
#include "configuration/parsing.h"
#include "model/simd.h"

// longest list of problems of a joint's numbers; the first line is reported
#define mjgpREASON 500

// numbers of the law that descriptions of all types give
static const int kDerived[] = {mjgKEY_GAMMA_U, mjgKEY_GAMMA_V, mjgKEY_COULOMB, mjgKEY_STATIC_RATIO};
enum {
  NDERIVED = sizeof(kDerived) / sizeof(*kDerived)
};
_Static_assert((int)mjgKEY_STATIC_RATIO < (int)mjgpNBIT, "mjgpSTATE_DERIVED has the first keys");


//---------------------------------- numbers in plugin_state ---------------------------------------

void mjgp_findNumbers(int adr[mjgpNCHANGE], const mjgpConfig* config, int i) {
  for (int k = 0; k < mjgpCHANGE_KEY; k++) {
    adr[k] = config->state[i] + (mjgpSTATE_GIVEN + k) * config->stride[i];
  }
  memcpy(adr + mjgpCHANGE_KEY, config->place + (ptrdiff_t)i * mjgpNCHANGEKEY,
         sizeof(int) * mjgpNCHANGEKEY);
}


// Returns 1 if a number is an integer from 0 to most.
static int isCount(mjtNum x, mjtNum most) {
  return x >= 0 && x <= most && x == (mjtNum)(int64_t)x;
}


void mjgp_readNumbers(mjtNum number[mjgpNCHANGE], const mjgpConfig* config, const mjtNum* state,
                      int i) {
  int adr[mjgpNCHANGE];
  mjgp_findNumbers(adr, config, i);
  for (int k = 0; k < mjgpNCHANGE; k++) {
    number[k] = adr[k] < 0 ? 0 : state[adr[k]];
  }
  mjtNum *derived = number + mjgpCHANGE_DERIVED, *given = number + mjgpCHANGE_GIVEN;
  for (int k = 0; k < NDERIVED && isCount(*derived, mjgpBITS) && isCount(*given, mjgpBITS); k++) {
    uint64_t bit = mjgp_keyBit(kDerived[k]);
    if ((uint64_t)*derived & bit) {
      *given = (mjtNum)((uint64_t)*given & ~bit);
      number[mjgpCHANGE_KEY + kDerived[k]] = 0;
    }
  }
  *derived = 0;
}


void mjgp_writeNumbers(mjtNum* state, const mjgpConfig* config, const mjtNum number[mjgpNCHANGE],
                       int i) {
  int adr[mjgpNCHANGE];
  mjgp_findNumbers(adr, config, i);
  for (int k = 0; k < mjgpNCHANGE; k++) {
    if (adr[k] >= 0) {
      state[adr[k]] = number[k];
    }
  }
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


int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpJoint* base,
                     const mjtNum number[mjgpNCHANGE]) {
  int before = report->count, kind = 0;
  mjtNum type = number[mjgpCHANGE_TYPE];
  *joint = *base;
  if (!areBits(report, number[mjgpCHANGE_GIVEN], number[mjgpCHANGE_GIVEN + 1])) {
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
    double value = number[mjgpCHANGE_KEY + key];
    if (!((uint64_t)number[mjgp_givenOf(key)] & mjgp_keyBit(key))) {
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


void mjgp_derive(mjtNum number[mjgpNCHANGE], const mjgpJoint* joint, const mjgpJoint* base) {
  uint64_t given = (uint64_t)number[mjgpCHANGE_GIVEN], derived = 0;
  for (int k = 0; k < NDERIVED; k++) {
    mjtNum value = lawNumber(&joint->gear, kDerived[k]);
    if (!(given & mjgp_keyBit(kDerived[k])) && value != lawNumber(&base->gear, kDerived[k])) {
      derived |= mjgp_keyBit(kDerived[k]);
      number[mjgpCHANGE_KEY + kDerived[k]] = value;
    }
  }
  number[mjgpCHANGE_GIVEN] = (mjtNum)(given | derived);
  number[mjgpCHANGE_DERIVED] = (mjtNum)derived;
}


//---------------------------------- the law of a step ---------------------------------------------

// Returns number k of joint i (mjgpSTATE_*).
static inline mjtNum numberOf(const mjgpConfig* config, const mjtNum* state, int i, int k) {
  return state[config->state[i] + k * config->stride[i]];
}


// Load the numbers of the law whose bits are given, and check them one by one if there is a report.
// Returns 1 if one of them changes.
static int loadNumbers(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config,
                       const mjtNum* state, int i) {
  const int* place = config->place + (ptrdiff_t)i * mjgpNCHANGEKEY;
  int changes = 0;
  for (int half = 0; half < 2; half++) {
    uint64_t left = (uint64_t)numberOf(config, state, i, mjgpSTATE_GIVEN + half);
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
  mjtNum given = numberOf(config, state, i, mjgpSTATE_GIVEN);
  int before = report->count;
  memcpy(&joint->gear, &base->gear, offsetof(mjgTransmission, table));  // tables do not change
  joint->backlash = base->backlash;
  joint->rotor_inertia = base->rotor_inertia;
  if (!areBits(report, given, numberOf(config, state, i, mjgpSTATE_GIVEN + 1))) {
    return 1;
  }
  loadNumbers(joint, report, config, state, i);
  if (hasTeeth(base, given)) {
    mjgpJoint whole;
    mjtNum number[mjgpNCHANGE];
    mjgp_readNumbers(number, config, state, i);
    if (!mjgp_changeJoint(&whole, report, base, number)) {
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
  mjgpChange* c = g->changes + i;
  const mjgpConfig* config = g->config;
  const mjgpJoint* base = config->joint + i;
  mjtNum given[2] = {numberOf(config, state, i, mjgpSTATE_GIVEN),
                     numberOf(config, state, i, mjgpSTATE_GIVEN + 1)};
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
  int foreign = layout != 0 && layout != config->layout, changed = !foreign && g->changes != NULL;
  if (foreign) {
    refuse(g, "the state", "it is that of a model with other gears or keys; reset the data");
  }
  for (int k = 0; k < config->nchangeable && !changed && !foreign; k++) {
    const mjgpRange* range = config->changeable + k;
    changed = !mjgp_isZero(state + range->adr, 1, range->n);
  }
  if (changed && !g->changes) {
    size_t size = sizeof(mjgpChange) * (size_t)config->n;
    g->changes = mju_malloc(size);
    memset(g->changes, 0, size);
  }
  for (int i = 0; i < config->n && (changed || foreign); i++) {
    if (!foreign && (numberOf(config, state, i, mjgpSTATE_GIVEN) != 0 ||
                     numberOf(config, state, i, mjgpSTATE_GIVEN + 1) != 0)) {
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

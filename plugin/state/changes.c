#include "state/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/gap.h"
#include "configuration/parsing.h"
#include "friction/simd.h"

// longest list of problems of a joint's numbers; the first line is reported
#define mjgpREASON 500


//---------------------------------- numbers in plugin_state ---------------------------------------

void mjgp_findNumbers(int adr[mjgpNCHANGE], const mjgpConfig* config, int i) {
  for (int k = 0; k < mjgpCHANGE_KEY; k++) {
    adr[k] = config->state[i] + (mjgpSTATE_GIVEN + k) * config->stride[i];
  }
  memcpy(adr + mjgpCHANGE_KEY, config->place + (ptrdiff_t)i * mjgpNCHANGEKEY,
         sizeof(int) * mjgpNCHANGEKEY);
}


void mjgp_readNumbers(mjtNum number[mjgpNCHANGE], const mjgpConfig* config, const mjtNum* state,
                      int i) {
  int adr[mjgpNCHANGE];
  mjgp_findNumbers(adr, config, i);
  for (int k = 0; k < mjgpNCHANGE; k++) {
    number[k] = adr[k] < 0 ? 0 : state[adr[k]];
  }
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

// Set a number of a description.
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


// Set a number of a gap.
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


// Returns 1 if a number is an integer from 0 to most.
static int isCount(mjtNum x, mjtNum most) {
  return x >= 0 && x <= most && x == (mjtNum)(int64_t)x;
}


// Refuse an error of a joint, if there is one.
static void refuseJoint(mjgReport* report, const char* error) {
  if (error) {
    mjg_refuse(report, "it %s", error);
  }
}


// Check the bits of given keys and the type. Returns 0 after a refusal.
static int areKnown(mjgReport* report, const mjtNum number[mjgpNCHANGE]) {
  for (int k = mjgpCHANGE_GIVEN; k < mjgpCHANGE_TYPE; k++) {
    int bits = k == mjgpCHANGE_GIVEN ? mjgpNBIT : mjgpNCHANGEKEY - mjgpNBIT;
    if (!isCount(number[k], (mjtNum)(((uint64_t)1 << bits) - 1))) {
      mjg_refuse(report, "%g does not say which keys are given; write a sum of bits of keys",
                 number[k]);
      return 0;
    }
  }
  if (!isCount(number[mjgpCHANGE_TYPE], mjgNTYPE)) {
    mjg_refuse(report, "%g is no type of a gear; write 0, or 1 + mjgType", number[mjgpCHANGE_TYPE]);
    return 0;
  }
  return 1;
}


int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpJoint* base,
                     const mjtNum number[mjgpNCHANGE]) {
  int before = report->count, kind = 0;
  mjtNum type = number[mjgpCHANGE_TYPE];
  *joint = *base;
  if (!areKnown(report, number)) {
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
    const char* error = mjg_backlashError(&joint->backlash);
    if (error) {
      mjg_refuse(report, "%s", error);
    }
    refuseJoint(report, mjgp_rotorError(joint));
  }
  if (flg_gear && report->count == before) {
    mjgp_makeGear(joint, report);
    refuseJoint(report, mjgp_preslidingError(joint));
  }
  return report->count - before;
}


//---------------------------------- all joints ----------------------------------------------------

// Refuse numbers in plugin_state.
static void refuse(mjgpGears* g, const char* where, const char* reason) {
  g->refused = 1;
  mjgp_warn(
      g, mjgpWARN_REFUSED,
      "%s in plugin_state: %.*s. It is not used: what the model says counts, and steps have the "
      "status %d. Further occurrences have that status, but are not reported",
      where, (int)strcspn(reason, "\n"), reason, mjgERR_ARGUMENT);
}


// Copy the values of keys whose bits are in given, if it is a sum of the first nbit. Returns the
// next place.
static mjtNum* readGiven(mjtNum* next, const mjtNum* state, const int* place, mjtNum given,
                         int nbit) {
  if (!isCount(given, (mjtNum)(((int64_t)1 << nbit) - 1))) {
    return next;
  }
  for (int64_t left = (int64_t)given; left; left &= left - 1) {
    int adr = place[__builtin_ctzll((unsigned long long)left)];
    *next++ = adr < 0 ? 0 : state[adr];
  }
  return next;
}


// Read the numbers of joint i in plugin_state that are in effect.
static void readNumbersThatCount(mjgpNumbers* number, const mjgpConfig* config, const mjtNum* state,
                                 int i) {
  int stride = config->stride[i];
  const mjtNum* given = state + config->state[i] + mjgpSTATE_GIVEN * stride;
  const int* place = config->place + (ptrdiff_t)i * mjgpNCHANGEKEY;
  mjtNum* next = number->x;
  for (int k = 0; k < mjgpCHANGE_KEY; k++) {
    *next++ = given[k * stride];
  }
  next = readGiven(next, state, place, given[0], mjgpNBIT);
  if (given[stride] != 0) {
    next = readGiven(next, state, place + mjgpNBIT, given[stride], mjgpNCHANGEKEY - mjgpNBIT);
  }
  number->n = (int)(next - number->x);
}


// Compute the gear of joint i from the numbers in c.
static void deriveChange(mjgpGears* g, const mjModel* m, const mjData* d, mjgpChange* c, int i) {
  const mjgpJoint* base = g->config->joint + i;
  mjtNum number[mjgpNCHANGE];
  char reason[mjgpREASON], where[2 * mjgpMAXWORD];
  mjgReport report;
  mjg_startReport(&report, reason, sizeof(reason));
  mjgp_readNumbers(number, g->config, d->plugin_state, i);
  c->refused = mjgp_changeJoint(&c->joint, &report, base, number) > 0;
  c->base = g->config;
  if (c->refused) {
    snprintf(where, sizeof(where), "%s '%.*s'", mjgp_gearKind(base), mjgpMAXWORD,
             mjgp_gearName(m, base));
    refuse(g, where, reason);
  }
}


// Returns 1 if plugin_state changes the gear of a joint.
static inline int isChanged(const mjgpConfig* config, const mjtNum* state, int i) {
  int stride = config->stride[i];
  const mjtNum* given = state + config->state[i] + mjgpSTATE_GIVEN * stride;
  return given[0] != 0 || given[stride] != 0 || given[2 * stride] != 0;
}


// Read the numbers of joint i, and look up their gear if they are new.
static void seekChange(mjgpGears* g, const mjtNum* state, int i) {
  mjgpChange* c = g->changes + i;
  c->changes = isChanged(g->config, state, i);
  if (!c->changes) {
    return;
  }
  readNumbersThatCount(&c->number, g->config, state, i);
  c->hash = mjgp_seekChange(g->derived, g->config, i, &c->number);
}


// Returns 1 if c->joint was computed from the numbers of this step; there are too many of
// them to cache.
static int isMade(const mjgpChange* c, const mjgpConfig* config) {
  return c->base == config && c->made.n == c->number.n &&
         !memcmp(c->made.x, c->number.x, sizeof(mjtNum) * (size_t)c->number.n);
}


// Apply the numbers of a joint in plugin_state. Its gear is computed only if they are new to this
// mjData.
static void applyChange(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  mjgpChange* c = g->changes + i;
  if (!mjgp_recallChange(c, g->derived, g->config, i) && !isMade(c, g->config)) {
    deriveChange(g, m, d, c, i);
    c->made.n = c->number.n;
    memcpy(c->made.x, c->number.x, sizeof(mjtNum) * (size_t)c->number.n);
    mjgp_keepChange(&g->derived, c, i);
  }
  g->refused |= c->refused;
  g->in.joint[i] = c->refused ? g->config->joint + i : &c->joint;
}


void mjgp_applyChanges(mjgpGears* g, const mjModel* m, const mjData* d) {
  const mjgpConfig* config = g->config;
  g->refused = 0;
  const mjtNum* state = d->plugin_state;
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

  if (changed) {
    mjgp_countStep(g->derived);
  }

  // look up all before reading the first, to prefetch their memory
  for (int i = 0; i < config->n && changed; i++) {
    seekChange(g, state, i);
  }
  for (int i = 0; i < config->n && (changed || foreign); i++) {
    if (!foreign && g->changes[i].changes) {
      applyChange(g, m, d, i);
    } else {
      g->in.joint[i] = config->joint + i;
    }
  }

  // the solver
  g->in.settings = config->options.solver;
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

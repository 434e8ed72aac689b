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

static void refuse(mjgpGears* g, const char* where, const char* reason) {
  g->refused = 1;
  mjgp_warn(
      g, mjgpWARN_REFUSED,
      "%s in plugin_state: %.*s. It is not used: what the model says counts, and steps have the "
      "status %d. Further occurrences have that status, but are not reported",
      where, (int)strcspn(reason, "\n"), reason, mjgERR_ARGUMENT);
}


// Returns the address of number k of joint i (mjgpSTATE_*).
static inline mjtNum* numberOf(const mjgpConfig* config, mjtNum* state, int i, int k) {
  return state + config->state[i] + k * config->stride[i];
}


static inline int isChanged(const mjgpConfig* config, mjtNum* state, int i) {
  return *numberOf(config, state, i, mjgpSTATE_GIVEN) != 0 ||
         *numberOf(config, state, i, mjgpSTATE_GIVEN + 1) != 0 ||
         *numberOf(config, state, i, mjgpSTATE_TYPE) != 0;
}


// Returns the next key from key on whose bit a changed joint has, mjgpNCHANGEKEY if there is none.
static int nextGiven(const mjgpConfig* config, mjtNum* state, int i, int key) {
  for (int half = key >= mjgpNBIT; half < 2; half++) {
    int first = half * mjgpNBIT, nbit = half ? mjgpNCHANGEKEY - mjgpNBIT : mjgpNBIT;
    mjtNum given = *numberOf(config, state, i, mjgpSTATE_GIVEN + half);
    uint64_t left = isCount(given, (mjtNum)(((uint64_t)1 << nbit) - 1)) ? (uint64_t)given : 0;
    left &= ~(uint64_t)0 << (key > first ? key - first : 0);
    if (left) {
      return first + __builtin_ctzll(left);
    }
  }
  return mjgpNCHANGEKEY;
}


// Continue the hash of a seal: independent products, because the processor overlaps them.
static uint64_t addNumber(uint64_t* factor, uint64_t hash, mjtNum x) {
  uint64_t word;
  memcpy(&word, &x, sizeof(word));
  return hash + (word ^ word >> 32) * (*factor += 0x3c6ef372fe94f82au);
}


// Returns a positive number that identifies the model and the numbers of joint i in effect.
static mjtNum sealOf(const mjgpConfig* config, mjtNum* state, int i) {
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  const int* place = config->place + (ptrdiff_t)i * mjgpNCHANGEKEY;
  uint64_t hash = config->content, factor = golden;
  for (int k = mjgpSTATE_GIVEN; k <= mjgpSTATE_TYPE; k++) {
    hash = addNumber(&factor, hash, *numberOf(config, state, i, k));
  }
  for (int key = -1; (key = nextGiven(config, state, i, key + 1)) < mjgpNCHANGEKEY;) {
    hash = addNumber(&factor, hash, place[key] < 0 ? 0 : state[place[key]]);
  }
  hash = (hash ^ hash >> 32) * golden;
  return (mjtNum)(1 + (hash >> 12));
}


// Make the gear of joint i from its numbers and the law that was computed from them.
static void rebuild(mjgpJoint* joint, const mjgpConfig* config, mjtNum* state, int i) {
  const mjgpJoint* base = config->joint + i;
  const int* place = config->place + (ptrdiff_t)i * mjgpNCHANGEKEY;
  memcpy(&joint->gear, &base->gear, offsetof(mjgTransmission, table));  // tables do not change
  joint->backlash = base->backlash;
  joint->rotor_inertia = base->rotor_inertia;
  for (int key = -1; (key = nextGiven(config, state, i, key + 1)) < mjgpNCHANGEKEY;) {
    double* member =
        key < mjgNKEY ? mjgi_keyMember(&joint->gear, key) : mjgp_gapNumber(joint, key - mjgNKEY);
    if (member && place[key] >= 0) {
      *member = state[place[key]];
    }
  }
  joint->gear.gamma_u = *numberOf(config, state, i, mjgpSTATE_LAW);
  joint->gear.gamma_v = *numberOf(config, state, i, mjgpSTATE_LAW + 1);
  joint->gear.coulomb = *numberOf(config, state, i, mjgpSTATE_LAW + 2);
  joint->gear.static_ratio = *numberOf(config, state, i, mjgpSTATE_LAW + 3);
  mjgp_classify(joint);
}


// Write the law of a gear into plugin_state, sealed if the gear can be rebuilt: teeth cannot.
static void writeLaw(const mjgpChange* c, mjtNum* state, int i) {
  const mjgTransmission* gear = &c->joint.gear;
  const double law[] = {gear->gamma_u, gear->gamma_v, gear->coulomb, gear->static_ratio};
  for (int k = 0; k < 4 && c->seal > 0; k++) {
    *numberOf(c->base, state, i, mjgpSTATE_LAW + k) = law[k];
  }
  mjgpJoint again = c->joint;
  rebuild(&again, c->base, state, i);
  again.gear.ratio = gear->ratio;  // which no law reads
  int same = c->seal < 0 || (!memcmp(&again.gear, gear, sizeof(*gear)) &&
                             !memcmp(&again.backlash, &c->joint.backlash, sizeof(mjgBacklash)) &&
                             again.rotor_inertia == c->joint.rotor_inertia);
  *numberOf(c->base, state, i, mjgpSTATE_SEAL) = same ? c->seal : 0;
}


// Compute the gear of joint i from its numbers. Returns 0 if they are refused.
static int compute(mjgpGears* g, const mjModel* m, const mjtNum* state, mjgpJoint* joint, int i) {
  const mjgpJoint* base = g->config->joint + i;
  mjtNum number[mjgpNCHANGE];
  char reason[mjgpREASON], where[2 * mjgpMAXWORD];
  mjgReport report;
  mjg_startReport(&report, reason, sizeof(reason));
  mjgp_readNumbers(number, g->config, state, i);
  if (mjgp_changeJoint(joint, &report, base, number)) {
    snprintf(where, sizeof(where), "%s '%.*s'", mjgp_gearKind(base), mjgpMAXWORD,
             mjgp_gearName(m, base));
    refuse(g, where, reason);
  }
  return !report.count;
}


// Apply the numbers of a joint in plugin_state. Its gear is computed only if the numbers are new.
static void applyChange(mjgpGears* g, const mjModel* m, mjtNum* state, int i) {
  mjgpChange* c = g->changes + i;
  const mjgpConfig* config = g->config;
  mjtNum seal = sealOf(config, state, i), known = *numberOf(config, state, i, mjgpSTATE_SEAL);
  if (c->base != config) {
    c->joint = config->joint[i];
    c->base = config;
    c->seal = 0;
  }
  if (mju_abs(c->seal) != seal && mju_abs(known) == seal) {
    c->seal = known;
    if (known > 0) {
      rebuild(&c->joint, config, state, i);
    }
  } else if (mju_abs(c->seal) != seal) {
    c->seal = compute(g, m, state, &c->joint, i) ? seal : -seal;
    writeLaw(c, state, i);
  }
  g->refused |= c->seal < 0;
  g->in.joint[i] = c->seal < 0 ? config->joint + i : &c->joint;
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
    if (!foreign && isChanged(config, state, i)) {
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

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/gap.h"
#include "mjgear_plugin.h"
#include "state/changes.h"
#include "state/gears.h"

#define mjgpWHERE 200  // longest text that says of what a message is


//---------------------------------- which joint ---------------------------------------------------

// of a joint and its motor_joint the motor has the gear and the other the gap, whichever is named
static int gearOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_LOAD ? c->joint[i].partner : i;
}

static int gapOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_MOTOR ? c->joint[i].partner : i;
}


//---------------------------------- changing ------------------------------------------------------

// number of a key among mjgKEY and the keys of gaps behind them, -1: there is no such key
static int keyOf(const char* name) {
  int gap = mjgi_gapKeyFromName(name);
  return gap >= 0 ? mjgNKEY + gap : mjg_keyFromName(name);
}


// the joint of joint i, or its partner, that has the numbers of a key
static int ownerOf(const mjgpConfig* c, int i, int key) {
  return key < mjgNKEY ? gearOf(c, i) : gapOf(c, i);
}


// the same after a refusal
static int findKey(mjgReport* report, const char* name) {
  int key = name ? keyOf(name) : -1;
  if (key < 0) {
    int nearest = mjg_keyNearest(name);
    mjg_refuse(report, "unknown key '%.60s'%s%s; choose a key that describes a gear or its gap",
               name ? name : "", nearest < 0 ? "" : ", did you mean ",
               nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
  }
  return key;
}


// a key is given a value, or is not given any more
static void give(mjtNum number[mjgpNCHANGE], int key, double value, int given) {
  mjtNum* mask = number + mjgp_givenOf(key);
  uint64_t bit = mjgp_keyBit(key), others = (uint64_t)*mask & ~bit;
  *mask = (mjtNum)(given ? others | bit : others);
  number[mjgpCHANGE_KEY + key] = value;
}


// forget the keys that say what the gear is
static void forgetKind(mjtNum number[mjgpNCHANGE]) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (mjgp_isKind(key)) {
      give(number, key, 0, 0);
    }
  }
  number[mjgpCHANGE_TYPE] = 1 + mjgTYPE_AUTO;
}


// write "mjgear.transmission, joint 'x'" and start a report of what is wrong there
static void startReport(mjgReport* report, char where[mjgpWHERE], const mjModel* m, int joint,
                        char* error, int error_sz) {
  int njnt = m ? (int)m->njnt : 0, tendon = joint - njnt;
  const char* name = NULL;
  if (m && joint >= 0 && tendon < m->ntendon) {
    name = tendon < 0 ? mj_id2name(m, mjOBJ_JOINT, joint) : mj_id2name(m, mjOBJ_TENDON, tendon);
  }
  char number[20];
  snprintf(number, sizeof(number), "%d", joint);
  snprintf(where, mjgpWHERE, mjgpNAME ", %s '%.100s'", name && tendon >= 0 ? "tendon" : "joint",
           name && name[0] ? name : number);
  mjg_startReport(report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  report->where = where;
}


// give keys new values in a plugin_state; if flg_describe, keys that said what the gear is are forgotten
// before. All or, after refusals, none
static void change(mjgReport* report, mjtNum* state, const mjgpConfig* c, int i,
                   const char* const* key, const double* value, int n, int flg_describe) {
  int before = report->count, gear = gearOf(c, i), gap = gapOf(c, i);

  // what was given and what is new
  mjtNum of_gear[mjgpNCHANGE], of_gap[mjgpNCHANGE];
  mjtNum* gap_number = gap == gear ? of_gear : of_gap;
  mjgp_readNumbers(of_gear, c, state, gear);
  mjgp_readNumbers(of_gap, c, state, gap);
  if (flg_describe) {
    forgetKind(of_gear);
  }
  for (int k = 0; k < n; k++) {
    int number = findKey(report, key[k]);
    if (number >= 0) {
      give(number < mjgNKEY ? of_gear : gap_number, number, value[k], 1);
    }
  }

  // checked as a whole
  mjgpJoint changed;
  mjgp_changeJoint(&changed, report, c->joint + gear, of_gear);
  if (gap != gear) {
    mjgp_changeJoint(&changed, report, c->joint + gap, of_gap);
  }
  if (report->count == before) {
    mjgp_writeNumbers(state, c, of_gear, gear);
    if (gap != gear) {
      mjgp_writeNumbers(state, c, of_gap, gap);
    }
  }
}


// is there something to write, and a gear; number of the joint, -1 after a refusal
static int startChange(mjgReport* report, const mjgpConfig* c, int joint, const char* const* key,
                       const double* value, int n) {
  int i = mjgp_findGear(c, joint);
  if (n < 0 || (n && (!key || !value))) {
    mjg_refuse(report, "keys or values are missing; give an array of each");
    return -1;
  }
  if (i < 0) {
    mjg_refuse(report, "it has no gear; name one of the joints in the plugin's key 'joint'");
  }
  return i;
}


// the same for the state of a mjData; 0, or -1 after refusals
static int changeData(const mjModel* m, mjData* d, int joint, const char* const* key,
                      const double* value, int n, int flg_describe, char* error, int error_sz) {
  char where[mjgpWHERE];
  mjgReport report;
  startReport(&report, where, m, joint, error, error_sz);
  const char* problem = mjgp_belongError(m, d);
  if (problem) {
    mjg_refuse(&report, "%s", problem);
    return -1;
  }
  const mjgpConfig* c = mjgp_gears(m, d)->config;
  int i = startChange(&report, c, joint, key, value, n);
  if (i >= 0) {
    change(&report, d->plugin_state, c, i, key, value, n, flg_describe);
  }
  return report.count ? -1 : 0;
}


int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                 const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, key, value, n, 0, error, error_sz);
}


int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value, char* error,
                int error_sz) {
  return changeData(m, d, joint, &key, &value, 1, 0, error, error_sz);
}


int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                     const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, key, value, n, 1, error, error_sz);
}


int mjg_setSolver(const mjModel* m, mjData* d, const char* solver, char* error, int error_sz) {
  mjgReport report;
  mjg_startReport(&report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  report.where = mjgpNAME ", key 'solver'";
  const char* problem = mjgp_belongError(m, d);
  if (problem) {
    mjg_refuse(&report, "%s", problem);
    return -1;
  }
  const mjgpConfig* c = mjgp_gears(m, d)->config;
  int choice = mjg_solverFromName(solver);
  if (choice < 0) {
    mjg_refuse(&report, "unknown solver '%.60s'; choose one that doc/mjcf.md lists",
               solver ? solver : "");
  } else {
    mjgp_checkSolver(&report, choice, c->n);
  }
  if (report.count) {
    return -1;
  }
  d->plugin_state[c->system + mjgpSYSTEM_SOLVER] = 1 + choice;
  return 0;
}


int mjg_resetGears(const mjModel* m, mjData* d) {
  const mjtNum none[mjgpNCHANGE] = {0};
  const mjgpGears* g = mjgp_gears(m, d);
  if (!g) {
    return -1;
  }
  for (int i = 0; i < g->config->n; i++) {
    mjgp_writeNumbers(d->plugin_state, g->config, none, i);
  }
  d->plugin_state[g->config->system + mjgpSYSTEM_SOLVER] = 0;
  return 0;
}


//---------------------------------- reading -------------------------------------------------------

// a gear as a plugin_state makes it; the model's if it refuses the numbers
static void effectiveJoint(mjgpJoint* joint, const mjgpConfig* c, const mjtNum* state, int i) {
  mjtNum number[mjgpNCHANGE];
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  mjgp_readNumbers(number, c, state, i);
  if (mjgp_changeJoint(joint, &report, c->joint + i, number)) {
    *joint = c->joint[i];
  }
}


// value of a key in joint i, as mjg_getGear
static int getValue(double* value, const mjgpConfig* c, const mjtNum* state, int i,
                    const char* key) {
  mjgpJoint found;
  int k = keyOf(key), kind = mjg_tableFromName(key);
  if (kind >= 0) {
    *value = c->joint[gearOf(c, i)].gear.table[kind].n;  // points of a table
    return *value > 0;
  }
  if (k < 0) {
    return -1;
  }
  effectiveJoint(&found, c, state, ownerOf(c, i, k));
  if (k >= mjgNKEY) {
    int known = found.gap != mjgpGAP_NONE && mjgp_readsGapKey(&found, k - mjgNKEY);
    *value = known ? *mjgp_gapNumber(&found, k - mjgNKEY) : *value;
    return known;
  }
  if (found.description.given[k]) {
    *value = found.description.value[k];
    return 1;
  }
  double eta_f, eta_b;
  switch (k) {
    case mjgKEY_GAMMA_U:
      *value = found.gear.gamma_u;
      return 1;
    case mjgKEY_GAMMA_V:
      *value = found.gear.gamma_v;
      return 1;
    case mjgKEY_ETA_FORWARD:
    case mjgKEY_ETA_BACKWARD:
      if (mjg_efficiencies(&eta_f, &eta_b, found.gear.gamma_u, found.gear.gamma_v)) {
        return 0;
      }
      *value = k == mjgKEY_ETA_FORWARD ? eta_f : eta_b;
      return 1;
    default:
      return 0;
  }
}


int mjg_getGear(double* value, const mjModel* m, const mjData* d, int joint, const char* key) {
  const mjgpGears* g = value && key ? mjgp_gears(m, d) : NULL;
  int i = g ? mjgp_findGear(g->config, joint) : -1;
  return i < 0 ? -1 : getValue(value, g->config, d->plugin_state, i, key);
}


const char* mjg_getSolver(const mjModel* m, const mjData* d) {
  const mjgpGears* g = mjgp_gears(m, d);
  if (!g) {
    return NULL;
  }
  mjtNum solver = d->plugin_state[g->config->system + mjgpSYSTEM_SOLVER];
  return mjg_solverName(solver > 0 && solver <= mjgNSOLVER ? (int)solver - 1
                                                           : g->config->options.solver.solver);
}


int mjg_getCounts(mjgCounts* counts, const mjModel* m, const mjData* d) {
  const mjgpGears* g = counts ? mjgp_gears(m, d) : NULL;
  if (!g) {
    return -1;
  }
  *counts = (mjgCounts){.problems = g->count.steps,
                        .solved = g->count.solved,
                        .ill_posed = g->count.ill_posed,
                        .approximate = g->count.approximate,
                        .unsolved = g->count.unsolved,
                        .fallbacks = g->count.fallbacks,
                        .unconfirmed = g->count.unconfirmed};
  return 0;
}


//---------------------------------- where the numbers stand ---------------------------------------

// numbers in plugin_state that are not values of keys, by name
static const struct {
  const char* name;
  int number;
  int gap;  // 1: of a gap
} numbers[] = {{"friction", mjgpSTATE_FRICTION, 0},
               {"mode", mjgpSTATE_PIECE, 0},
               {"lag", mjgpSTATE_LAG, 0},
               {"tooth", mjgpSTATE_TOOTH, 0},
               {"given", mjgpSTATE_GIVEN, 0},
               {"given_2", mjgpSTATE_GIVEN + 1, 0},
               {"type", mjgpSTATE_TYPE, 0},
               {"gap_started", mjgpGAP_STARTED, 1},
               {"rotor_angle", mjgpGAP_ANGLE, 1},
               {"rotor_velocity", mjgpGAP_RATE, 1},
               {"gap_position", mjgpGAP_POSITION, 1},
               {"gap_twist", mjgpGAP_TWIST, 1}};


// address of a number of joint i, or of the whole system, -1 if there is none
static int findAddress(mjgStateAddress* address, const mjgpConfig* c, int i, const char* name) {
  int key = keyOf(name);
  *address = (mjgStateAddress){.value = -1, .given = -1};
  if (!strcmp(name, "solver") || !strcmp(name, "fallbacks")) {
    address->value = c->system + (name[0] == 's' ? mjgpSYSTEM_SOLVER : mjgpSYSTEM_FALLBACKS);
    return 0;
  }
  if (i < 0) {
    return -1;
  }
  if (key >= 0) {
    int adr[mjgpNCHANGE];
    mjgp_findNumbers(adr, c, ownerOf(c, i, key));
    *address = (mjgStateAddress){.value = adr[mjgpCHANGE_KEY + key],
                                 .given = adr[mjgp_givenOf(key)],
                                 .bit = (mjtNum)mjgp_keyBit(key)};
    return address->value < 0 ? -1 : 0;
  }
  if (!strcmp(name, "brake")) {
    address->value = c->brake[i];
    return c->brake[i] < 0 ? -1 : 0;
  }
  for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
    if (!strcmp(numbers[k].name, name) && (!numbers[k].gap || c->joint[i].backlashes)) {
      i = numbers[k].number == mjgpSTATE_TYPE && !numbers[k].gap ? gearOf(c, i) : i;
      address->value =
          (numbers[k].gap ? c->gap[i] : c->state[i]) + numbers[k].number * c->stride[i];
      return 0;
    }
  }
  return -1;
}


// configuration of a model that no mjData is given for, to be freed; null if it has none
static const mjgpConfig* readModel(mjgpConfigs* known, const mjModel* m) {
  int slot = mjgp_slot(), forgotten;
  *known = (mjgpConfigs){0};
  return m && mjgp_leader(m, slot) >= 0 ? mjgp_findConfig(known, &forgotten, m) : NULL;
}


int mjg_stateAddress(mjgStateAddress* address, const mjModel* m, int joint, const char* name) {
  mjgpConfigs known;
  mjgStateAddress found;
  const mjgpConfig* c = address && name ? readModel(&known, m) : NULL;
  if (!c) {
    return -1;
  }
  int status = findAddress(&found, c, mjgp_findGear(c, joint), name);
  if (!status) {
    *address = found;
  }
  mjgp_freeConfigs(&known);
  return status;
}


//---------------------------------- many simulations ----------------------------------------------

int mjg_setStates(const mjModel* m, mjtNum* plugin_state, int nstate, int stride, int joint,
                  const char* const* key, const double* value, int n, int describe, char* error,
                  int error_sz) {
  char where[mjgpWHERE];
  mjgReport report;
  mjgpConfigs known;
  startReport(&report, where, m, joint, error, error_sz);
  const mjgpConfig* c = readModel(&known, m);
  if (!c) {
    mjg_refuse(&report, "the model has no gear; give it an instance of the plugin");
    return -1;
  }
  int i = startChange(&report, c, joint, key, value, n), size = (int)m->npluginstate;
  if (i >= 0 && (nstate < 0 || (nstate && !plugin_state) || stride < size)) {
    mjg_refuse(&report, "the states are missing or closer than %d numbers; give whole states",
               size);
  }

  // into copies first, so that all change or none
  mjtNum* changed = report.count ? NULL : mju_malloc(sizeof(mjtNum) * (size_t)(size * nstate + 1));
  char place[2 * mjgpWHERE];
  for (int k = 0; changed && k < nstate && !report.count; k++) {
    mjtNum* state = changed + (ptrdiff_t)k * size;
    mju_copy(state, plugin_state + (ptrdiff_t)k * stride, size);
    snprintf(place, sizeof(place), "%s, state %d", where, k);
    report.where = place;
    change(&report, state, c, i, key, value + (ptrdiff_t)k * n, n, describe);
  }
  for (int k = 0; changed && k < nstate && !report.count; k++) {
    mju_copy(plugin_state + (ptrdiff_t)k * stride, changed + (ptrdiff_t)k * size, size);
  }
  mju_free(changed);
  mjgp_freeConfigs(&known);
  return report.count ? -1 : 0;
}


int mjg_getStates(double* value, const mjModel* m, const mjtNum* plugin_state, int nstate,
                  int stride, int joint, const char* key) {
  mjgpConfigs known;
  const mjgpConfig* c =
      value && plugin_state && key && m && stride >= m->npluginstate ? readModel(&known, m) : NULL;
  if (!c) {
    return -1;
  }
  int i = mjgp_findGear(c, joint), given = i < 0 ? -1 : 1;
  for (int k = 0; k < nstate && given >= 0; k++) {
    value[k] = NAN;
    int one = getValue(value + k, c, plugin_state + (ptrdiff_t)k * stride, i, key);
    given = one < 0 ? -1 : given & one;
  }
  mjgp_freeConfigs(&known);
  return given;
}

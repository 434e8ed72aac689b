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

// of a joint and its motor_joint the motor has the gear and the other the gap, whichever
// is named
static int gearOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_LOAD ? c->joint[i].partner : i;
}

static int gapOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_MOTOR ? c->joint[i].partner : i;
}


//---------------------------------- changing ------------------------------------------------------

// number of a key as in layout.h, -1: there is no such key
static int keyOf(const char* name) {
  int gap = mjgi_gapKeyFromName(name);
  return gap >= 0 ? mjgNKEY + gap : mjg_keyFromName(name);
}


// the joint of joint i, or its partner, that has the numbers of a key
static int ownerOf(const mjgpConfig* c, int i, int key) {
  return key < mjgNKEY ? gearOf(c, i) : gapOf(c, i);
}


// number of a key, -1 after a refusal
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


// keys and their new values in many states
typedef struct Change_ {
  int n;
  const char* const* key;  //                                                          (n)
  const double* value;     //                                                          (nstate x n)
  int describe;            // 1: keys that said what the gear is are forgotten before
} Change;


// check the k-th values of a change in a plugin_state, or, where they are checked, write
// them
static void changeState(mjgReport* report, mjtNum* state, const mjgpConfig* c, int i,
                        const Change* change, int k, int flg_write) {
  const int owner[2] = {gearOf(c, i), gapOf(c, i)}, last = owner[0] != owner[1];
  mjtNum number[2][mjgpNCHANGE];
  mjgpJoint changed;
  for (int o = 0; o <= last; o++) {
    mjgp_readNumbers(number[o], c, state, owner[o]);
  }
  if (change->describe) {
    forgetKind(number[0]);
  }
  for (int j = 0; j < change->n; j++) {
    int key = findKey(report, change->key[j]);
    if (key >= 0) {
      give(number[key < mjgNKEY ? 0 : last], key, change->value[k * change->n + j], 1);
    }
  }
  for (int o = 0; o <= last; o++) {
    if (flg_write) {
      mjgp_writeNumbers(state, c, number[o], owner[o]);
    } else {
      mjgp_changeJoint(&changed, report, c->joint + owner[o], number[o]);
    }
  }
}


// change the gear of a joint in all states or, after refusals, in none; stride 0: in one,
// which messages do not count. 0, or -1
static int changeStates(mjgReport* report, const mjgpConfig* c, int joint, mjtNum* state,
                        int nstate, int stride, const Change* change) {
  int i = mjgp_findGear(c, joint);
  if (change->n < 0 || (change->n && (!change->key || !change->value))) {
    mjg_refuse(report, "keys or values are missing; give an array of each");
  } else if (i < 0) {
    mjg_refuse(report, "it has no gear; name one of the joints in the plugin's key 'joint'");
  }
  const char* where = report->where;
  char place[2 * mjgpWHERE];
  for (int flg_write = 0; flg_write < 2; flg_write++) {
    for (int k = 0; k < nstate && !report->count; k++) {
      snprintf(place, sizeof(place), "%s, state %d", where, k);
      report->where = stride ? place : where;
      changeState(report, state + (ptrdiff_t)k * stride, c, i, change, k, flg_write);
    }
  }
  report->where = where;
  return report->count ? -1 : 0;
}


//---------------------------------- one simulation ------------------------------------------------

// write "mjgear.transmission, joint 'x'" and start a report of what is wrong there
static void startReport(mjgReport* report, char where[mjgpWHERE], const mjModel* m, int joint,
                        char* error, int error_sz) {
  int id = m ? joint - (int)m->njnt : -1, tendon = id >= 0 && id < (int)m->ntendon;
  const char* name =
      !m ? "" : mjgp_nameOf(m, tendon ? mjOBJ_TENDON : mjOBJ_JOINT, tendon ? id : joint);
  char number[20];
  snprintf(number, sizeof(number), "%d", joint);
  snprintf(where, mjgpWHERE, mjgpNAME ", %s '%.100s'", tendon ? "tendon" : "joint",
           name[0] ? name : number);
  mjg_startReport(report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  report->where = where;
}


// configuration of a mjData, null after a refusal
static const mjgpConfig* configOf(mjgReport* report, const mjModel* m, const mjData* d) {
  const char* problem = mjgp_belongError(m, d);
  if (problem) {
    mjg_refuse(report, "%s", problem);
  }
  return problem ? NULL : mjgp_gears(m, d)->config;
}


// the same for a mjData
static int changeData(const mjModel* m, mjData* d, int joint, const Change* change, char* error,
                      int error_sz) {
  char where[mjgpWHERE];
  mjgReport report;
  startReport(&report, where, m, joint, error, error_sz);
  const mjgpConfig* c = configOf(&report, m, d);
  return c ? changeStates(&report, c, joint, d->plugin_state, 1, 0, change) : -1;
}


int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                 const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, &(Change){n, key, value, 0}, error, error_sz);
}


int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value, char* error,
                int error_sz) {
  return changeData(m, d, joint, &(Change){1, &key, &value, 0}, error, error_sz);
}


int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                     const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, &(Change){n, key, value, 1}, error, error_sz);
}


int mjg_setSolver(const mjModel* m, mjData* d, const char* solver, char* error, int error_sz) {
  mjgReport report;
  mjg_startReport(&report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  report.where = mjgpNAME ", key 'solver'";
  const mjgpConfig* c = configOf(&report, m, d);
  int choice = mjg_solverFromName(solver);
  if (c && choice < 0) {
    mjg_refuse(&report, "unknown solver '%.60s'; choose one that doc/mjcf.md lists",
               solver ? solver : "");
  } else if (c) {
    mjgp_checkSolver(&report, choice, c->n);
  }
  if (!report.count) {
    d->plugin_state[c->system + mjgpSYSTEM_SOLVER] = 1 + choice;
  }
  return report.count ? -1 : 0;
}


int mjg_resetGears(const mjModel* m, mjData* d) {
  const mjtNum none[mjgpNCHANGE] = {0};
  const mjgpGears* g = mjgp_gears(m, d);
  for (int i = 0; g && i < g->config->n; i++) {
    mjgp_writeNumbers(d->plugin_state, g->config, none, i);
  }
  if (g) {
    d->plugin_state[g->config->system + mjgpSYSTEM_SOLVER] = 0;
  }
  return g ? 0 : -1;
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
  enum {
    OF_JOINT,
    OF_GEAR,
    OF_GAP,
    OF_BRAKE,
    OF_SYSTEM
  } whose;
  int number;
} numbers[] = {{"friction", OF_JOINT, mjgpSTATE_FRICTION},
               {"mode", OF_JOINT, mjgpSTATE_PIECE},
               {"lag", OF_JOINT, mjgpSTATE_LAG},
               {"tooth", OF_JOINT, mjgpSTATE_TOOTH},
               {"given", OF_JOINT, mjgpSTATE_GIVEN},
               {"given_2", OF_JOINT, mjgpSTATE_GIVEN + 1},
               {"type", OF_GEAR, mjgpSTATE_TYPE},
               {"gap_started", OF_GAP, mjgpGAP_STARTED},
               {"rotor_angle", OF_GAP, mjgpGAP_ANGLE},
               {"rotor_velocity", OF_GAP, mjgpGAP_RATE},
               {"gap_position", OF_GAP, mjgpGAP_POSITION},
               {"gap_twist", OF_GAP, mjgpGAP_TWIST},
               {"brake", OF_BRAKE, mjgpSTATE_BRAKE},
               {"solver", OF_SYSTEM, mjgpSYSTEM_SOLVER},
               {"fallbacks", OF_SYSTEM, mjgpSYSTEM_FALLBACKS}};


// address of a number of joint i, or of the whole system, -1 if there is none
static int findAddress(mjgStateAddress* address, const mjgpConfig* c, int i, const char* name) {
  int key = keyOf(name);
  *address = (mjgStateAddress){.value = -1, .given = -1};
  if (key >= 0 && i >= 0) {
    int adr[mjgpNCHANGE];
    mjgp_findNumbers(adr, c, ownerOf(c, i, key));
    *address = (mjgStateAddress){.value = adr[mjgpCHANGE_KEY + key],
                                 .given = adr[mjgp_givenOf(key)],
                                 .bit = (mjtNum)mjgp_keyBit(key)};
  }
  for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
    int number = numbers[k].number;
    if (strcmp(numbers[k].name, name)) {
      continue;
    }
    if (numbers[k].whose == OF_SYSTEM) {
      address->value = c->system + number;
    } else if (i >= 0) {
      int braked = c->joint[i].brake.actuator >= 0;
      const int first[] = {c->state[i], c->state[gearOf(c, i)], c->gap[i],
                           braked ? c->state[i] : -1};
      int adr = first[numbers[k].whose];
      address->value = adr < 0 ? -1 : adr + number * c->stride[i];
    }
  }
  return address->value < 0 ? -1 : 0;
}


// configuration of a model that no mjData is given for, to be freed; null if it has none
static const mjgpConfig* readModel(mjgpConfigs* known, const mjModel* m) {
  int slot = mjgp_slot();
  *known = (mjgpConfigs){0};
  return m && mjgp_leader(m, slot) >= 0 ? mjgp_findConfig(known, m) : NULL;
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
  int size = (int)m->npluginstate;
  if (nstate < 0 || (nstate && !plugin_state) || stride < size) {
    mjg_refuse(&report, "the states are missing or closer than %d numbers; give whole states",
               size);
  } else {
    const Change change = {n, key, value, describe};
    changeStates(&report, c, joint, plugin_state, nstate, stride, &change);
  }
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

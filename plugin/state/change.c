#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/gap.h"
#include "configuration/names.h"
#include "mjgear_plugin.h"
#include "state/changes.h"
#include "state/gears.h"

#define mjgpWHERE 200  // longest subject of a message


//---------------------------------- which joint ---------------------------------------------------

// Returns the joint that has the gear: of a joint and its motor_joint the motor. The load has the
// gap.
static int gearOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_LOAD ? c->joint[i].partner : i;
}

static int gapOf(const mjgpConfig* c, int i) {
  return c->joint[i].gap == mjgpGAP_MOTOR ? c->joint[i].partner : i;
}


//---------------------------------- changing ------------------------------------------------------

// Returns the number of a key (layout.h), or -1.
static int keyOf(const char* name) {
  int gap = mjgi_gapKeyFromName(name);
  return gap >= 0 ? mjgNKEY + gap : mjg_keyFromName(name);
}


// Returns joint i or its partner, whichever has the numbers of a key.
static int ownerOf(const mjgpConfig* c, int i, int key) {
  return key < mjgNKEY ? gearOf(c, i) : gapOf(c, i);
}


// Returns the number of a key, -1 after a refusal.
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


// Give a key of a gear a value, or remove it.
static void give(mjtNum* state, const mjgpConfig* c, int i, int key, double value, int given) {
  int place = mjgp_placeOf(c, i, key);
  mjtNum *mask = state + mjgp_givenOf(c, i, key),
         *derived = mjgp_number(state, c, i, mjgpSTATE_DERIVED);
  uint64_t bit = mjgp_keyBit(key), others = (uint64_t)*mask & ~bit;
  *mask = (mjtNum)(given ? others | bit : others);
  *derived = key < mjgpNBIT ? (mjtNum)(mjgp_derivedOf(state, c, i) & ~bit) : *derived;
  if (place >= 0) {
    state[place] = value;
  }
}


// Remove the keys that describe a gear.
static void forgetKind(mjtNum* state, const mjgpConfig* c, int i) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (mjgp_isKind(key)) {
      give(state, c, i, key, 0, 0);
    }
  }
  *mjgp_number(state, c, i, mjgpSTATE_TYPE) = 1 + mjgTYPE_AUTO;
}


// keys and their new values in many states
typedef struct Change_ {
  int n;
  const char* const* key;  //                                                          (n)
  const double* value;     //                                                          (nstate x n)
  int describe;            // 1: keys that describe the gear are removed first
  int row;                 // numbers from the values of one state to the next, at least n
} Change;


// Make the k-th values of a change in a plugin_state. number: number of each key.
static void changeState(mjgReport* report, mjtNum* state, const mjgpConfig* c, int i,
                        const Change* change, const int* number, int k) {
  const int owner[2] = {gearOf(c, i), gapOf(c, i)};
  if (change->describe) {
    forgetKind(state, c, owner[0]);
  }
  for (int j = 0; j < change->n; j++) {
    if (number[j] >= 0) {
      give(state, c, owner[number[j] >= mjgNKEY], number[j], change->value[k * change->row + j], 1);
    }
  }
  for (int o = 0; o <= (owner[0] != owner[1]); o++) {
    mjgpJoint changed;
    if (!mjgp_changeJoint(&changed, report, c, state, owner[o])) {
      mjgp_derive(state, c, owner[o], &changed);
    }
  }
}


// Write "mjgear.transmission, joint 'x'", the beginning of each line about a gear.
static void nameGear(char where[mjgpWHERE], const mjModel* m, int joint) {
  int id, type = mjgp_gearObject(&id, m, joint);
  const char* name = type == mjOBJ_UNKNOWN ? "" : mjgp_nameOf(m, type, id);
  char number[20];
  snprintf(number, sizeof(number), "%d", joint);
  snprintf(where, mjgpWHERE, mjgpNAME ", %s '%.100s'", type == mjOBJ_TENDON ? "tendon" : "joint",
           name[0] ? name : number);
}


// changes of gears in all states; the k-th is of joint[k]
typedef struct Changes_ {
  const mjModel* m;
  const mjgpConfig* config;
  const int* joint;      //                                                            (n)
  const Change* change;  //                                                            (n)
  int n;
  mjtNum* state;  // whole states
  int nstate;
  int stride;  // numbers from one state to the next; 0: one state, which messages do not count
} Changes;


// Check all changes in copies of the states, up to the first refused one. key: room for the numbers
// of all keys; copy: for a state.
static void checkChanges(mjgReport* report, const Changes* all, int* key, mjtNum* copy) {
  for (int k = 0; k < all->n; k++) {
    const Change* change = all->change + k;
    char where[mjgpWHERE], place[2 * mjgpWHERE];
    nameGear(where, all->m, all->joint[k]);
    report->where = where;
    int i = mjgp_findGear(all->config, all->joint[k]), before = report->count;
    if (change->n < 0 || (change->n && (!change->key || !change->value))) {
      mjg_refuse(report, "keys or values are missing; give an array of each");
      break;
    }
    if (i < 0) {
      mjg_refuse(report, "it has no gear; name one of the joints in the plugin's key 'joint'");
      break;
    }
    for (int j = 0; j < change->n; j++) {
      key[j] = findKey(report, change->key[j]);
    }
    for (int s = 0; s < all->nstate && (!s || report->count == before); s++) {
      if (all->stride) {
        snprintf(place, sizeof(place), "%s, state %d", where, s);
        report->where = place;
      }
      mju_copy(copy, all->state + (ptrdiff_t)s * all->stride, (int)all->m->npluginstate);
      changeState(report, copy, all->config, i, change, key, s);
    }
    key += change->n;
  }
  report->where = NULL;
}


// Make all changes or, after a refusal, none. Returns 0, or -1.
static int makeChanges(mjgReport* report, const Changes* all) {
  int nkey = 0;
  for (int k = 0; k < all->n; k++) {
    nkey += mjMAX(all->change[k].n, 0);
  }
  mjtNum* copy =
      mju_malloc(sizeof(mjtNum) * (size_t)all->m->npluginstate + sizeof(int) * (size_t)nkey);
  int* key = (int*)(copy + all->m->npluginstate);
  checkChanges(report, all, key, copy);
  for (int k = 0; k < all->n && !report->count; k++) {
    int i = mjgp_findGear(all->config, all->joint[k]);
    for (int s = 0; s < all->nstate; s++) {
      changeState(report, all->state + (ptrdiff_t)s * all->stride, all->config, i, all->change + k,
                  key, s);
    }
    key += all->change[k].n;
  }
  mju_free(copy);
  return report->count ? -1 : 0;
}


//---------------------------------- one simulation ------------------------------------------------

// Returns the configuration of a mjData, null after a refusal.
static const mjgpConfig* configOf(mjgReport* report, const mjModel* m, const mjData* d) {
  const char* problem = mjgp_belongError(m, d);
  if (problem) {
    mjg_refuse(report, "%s", problem);
  }
  return problem ? NULL : mjgp_gears(m, d)->config;
}


static int changeData(const mjModel* m, mjData* d, int joint, const Change* change, char* error,
                      int error_sz) {
  char where[mjgpWHERE];
  mjgReport report;
  mjg_startReport(&report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  nameGear(where, m, joint);
  report.where = where;
  const mjgpConfig* c = configOf(&report, m, d);
  return c ? makeChanges(&report, &(Changes){m, c, &joint, change, 1, d->plugin_state, 1, 0}) : -1;
}


int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                 const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, &(Change){n, key, value, 0, n}, error, error_sz);
}


int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value, char* error,
                int error_sz) {
  return changeData(m, d, joint, &(Change){1, &key, &value, 0, 1}, error, error_sz);
}


int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                     const double* value, int n, char* error, int error_sz) {
  return changeData(m, d, joint, &(Change){n, key, value, 1, n}, error, error_sz);
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
  const mjgpGears* g = mjgp_gears(m, d);
  for (int i = 0; g && i < g->config->n; i++) {
    for (int key = 0; key < mjgpNCHANGEKEY; key++) {
      give(d->plugin_state, g->config, i, key, 0, 0);
    }
    for (int k = mjgpSTATE_GIVEN; k <= mjgpSTATE_TYPE; k++) {
      *mjgp_number(d->plugin_state, g->config, i, k) = 0;
    }
  }
  if (g) {
    d->plugin_state[g->config->system + mjgpSYSTEM_SOLVER] = 0;
  }
  return g ? 0 : -1;
}


//---------------------------------- reading -------------------------------------------------------

// Returns the gear of a plugin_state, with the law of its numbers: the model's if nothing is changed
// or the change is refused, else changed.
static const mjgpJoint* effectiveJoint(mjgpJoint* changed, const mjgpConfig* c, const mjtNum* state,
                                       int i) {
  mjgReport report;
  int flg_same = 1;
  for (int k = mjgpSTATE_GIVEN; k <= mjgpSTATE_TYPE; k++) {
    flg_same &= *mjgp_number(state, c, i, k) == 0;
  }
  if (flg_same) {
    return &c->joint[i];
  }
  mjg_startReport(&report, NULL, 0);
  mjgp_changeJoint(changed, &report, c, state, i);
  return mjgp_loadLaw(changed, &report, c, state, i) ? &c->joint[i] : changed;
}


// Get the value of a key in joint i, as mjg_getGear.
static int getValue(double* value, const mjgpConfig* c, const mjtNum* state, int i,
                    const char* key) {
  mjgpJoint changed;
  int k = keyOf(key), kind = mjg_tableFromName(key);
  if (kind >= 0) {
    int points = c->joint[gearOf(c, i)].gear.table[kind].n;
    *value = points ? points : *value;
    return points > 0;
  }
  if (!strcmp(key, "brake")) {
    const mjgpBrakeKeys* brake = &c->joint[i].brake;
    if (brake->actuator < 0) {
      return 0;
    }
    *value = mjgp_closedShare(brake, *mjgp_number(state, c, i, mjgpSTATE_BRAKE));
    return 1;
  }
  if (k < 0) {
    return -1;
  }
  const mjgpJoint* found = effectiveJoint(&changed, c, state, ownerOf(c, i, k));
  if (k >= mjgNKEY) {
    int known = found->gap != mjgpGAP_NONE && mjgp_readsGapKey(found, k - mjgNKEY);
    *value = known ? *mjgp_gapNumber((mjgpJoint*)found, k - mjgNKEY) : *value;
    return known;
  }
  if (found->description.given[k]) {
    *value = found->description.value[k];
    return 1;
  }
  double eta_f, eta_b;
  switch (k) {
    case mjgKEY_GAMMA_U:
      *value = found->gear.gamma_u;
      return 1;
    case mjgKEY_GAMMA_V:
      *value = found->gear.gamma_v;
      return 1;
    case mjgKEY_ETA_FORWARD:
    case mjgKEY_ETA_BACKWARD:
      if (mjg_efficiencies(&eta_f, &eta_b, found->gear.gamma_u, found->gear.gamma_v)) {
        return 0;
      }
      *value = k == mjgKEY_ETA_FORWARD ? eta_f : eta_b;
      return 1;
    default:
      return 0;
  }
}


int mjg_gearId(const mjModel* m, int objtype, const char* name) {
  if (!m || !name || (objtype != mjOBJ_JOINT && objtype != mjOBJ_TENDON)) {
    return -1;
  }
  return mjgp_gearNumber(m, objtype, mj_name2id(m, objtype, name));
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
                                                           : g->config->settings.solver);
}


//---------------------------------- addresses in plugin_state -------------------------------------

// numbers in plugin_state that are not values of keys, by name
static const struct {
  const char* name;
  enum {
    OF_JOINT,
    OF_GAP,
    OF_BRAKE,
    OF_SYSTEM
  } whose;
  int number;
} numbers[] = {{"friction", OF_JOINT, mjgpSTATE_FRICTION},
               {"mode", OF_JOINT, mjgpSTATE_PIECE},
               {"tooth", OF_JOINT, mjgpSTATE_TOOTH},
               {"given", OF_JOINT, mjgpSTATE_GIVEN},
               {"given_2", OF_JOINT, mjgpSTATE_GIVEN + 1},
               {"gap_started", OF_GAP, mjgpGAPSTATE_STARTED},
               {"rotor_angle", OF_GAP, mjgpGAPSTATE_ANGLE},
               {"rotor_velocity", OF_GAP, mjgpGAPSTATE_RATE},
               {"gap_position", OF_GAP, mjgpGAPSTATE_POSITION},
               {"gap_twist", OF_GAP, mjgpGAPSTATE_TWIST},
               {"brake_travel", OF_BRAKE, mjgpSTATE_BRAKE},
               {"solver", OF_SYSTEM, mjgpSYSTEM_SOLVER},
               {"fallbacks", OF_SYSTEM, mjgpSYSTEM_FALLBACKS},
               {"steps", OF_SYSTEM, mjgpSYSTEM_STEPS},
               {"unsolved", OF_SYSTEM, mjgpSYSTEM_UNSOLVED},
               {"slow", OF_SYSTEM, mjgpSYSTEM_SLOW}};


// Find the address of a number of joint i, or of the system. Returns -1 if there is none.
static int findAddress(mjgStateAddress* address, const mjgpConfig* c, int i, const char* name) {
  int key = keyOf(name);
  *address = (mjgStateAddress){.value = -1, .given = -1};
  mjgTransmission any;
  int of_law = key >= mjgNKEY || (key >= 0 && mjgi_keyMember(&any, key));
  if (of_law && i >= 0) {
    int owner = ownerOf(c, i, key);
    *address = (mjgStateAddress){.value = mjgp_placeOf(c, owner, key),
                                 .given = mjgp_givenOf(c, owner, key),
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
      const int first[] = {c->state[i], c->gap[i], braked ? c->state[i] : -1};
      int adr = first[numbers[k].whose];
      address->value = adr < 0 ? -1 : adr + number * c->stride[i];
    }
  }
  return address->value < 0 ? -1 : 0;
}


int mjg_stateAddress(mjgStateAddress* address, const mjModel* m, int joint, const char* name) {
  mjgStateAddress found;
  mjgpConfig* c = address && name ? mjgp_borrowConfig(m) : NULL;
  if (!c) {
    return -1;
  }
  int status = findAddress(&found, c, mjgp_findGear(c, joint), name);
  if (!status) {
    *address = found;
  }
  mjgp_returnConfig(c);
  return status;
}


//---------------------------------- many simulations ----------------------------------------------

int mjg_setStates(const mjModel* m, mjtNum* plugin_state, int nstate, int stride, const int* joint,
                  const char* const* key, const double* value, const int* describe, int n,
                  char* error, int error_sz) {
  mjgReport report;
  mjg_startReport(&report, error, error && error_sz > 0 ? (size_t)error_sz : 0);
  report.where = mjgpNAME;
  mjgpConfig* c = mjgp_borrowConfig(m);
  if (!c) {
    mjg_refuse(&report, "the model has no gear; give it an instance of the plugin");
    return -1;
  }
  int size = (int)m->npluginstate, ngear = 0, refused = 0;
  if (nstate < 0 || (nstate && !plugin_state) || stride < size) {
    mjg_refuse(&report, "the states are missing or closer than %d numbers; give whole states",
               size);
  } else if (n < 0 || (n && (!joint || !key || !value))) {
    mjg_refuse(&report, "joints, keys or values are missing; give an array of each");
  } else {
    // adjacent keys of one joint are one change
    Change* change = mju_malloc((sizeof(Change) + sizeof(int)) * (size_t)(n + 1));
    int* changed = (int*)(change + n + 1);
    for (int k = 0; k < n; k++) {
      if (!k || joint[k] != joint[k - 1]) {
        changed[ngear] = joint[k];
        change[ngear++] = (Change){0, key + k, value + k, 0, n};
      }
      change[ngear - 1].n++;
      change[ngear - 1].describe |= describe && describe[k];
    }
    refused |= makeChanges(&report,
                           &(Changes){m, c, changed, change, ngear, plugin_state, nstate, stride});
    mju_free(change);
  }
  mjgp_returnConfig(c);
  return refused || report.count ? -1 : 0;
}


int mjg_getStates(double* value, const mjModel* m, const mjtNum* plugin_state, int nstate,
                  int stride, int joint, const char* key) {
  mjgpConfig* c =
      value && plugin_state && key && m && stride >= m->npluginstate ? mjgp_borrowConfig(m) : NULL;
  if (!c) {
    return -1;
  }
  int i = mjgp_findGear(c, joint), given = i < 0 ? -1 : 1;
  for (int k = 0; k < nstate && given >= 0; k++) {
    value[k] = NAN;
    int one = getValue(value + k, c, plugin_state + (ptrdiff_t)k * stride, i, key);
    given = one < 0 ? -1 : given & one;
  }
  mjgp_returnConfig(c);
  return given;
}

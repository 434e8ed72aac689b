#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear_params.h"

enum {
  GAMMA_U,
  GAMMA_V,
  ETA_FORWARD,
  ETA_BACKWARD
};

const TuneKey tuneKeys[] = {
    [GAMMA_U] = {"gamma_u", 0, 1},
    [GAMMA_V] = {"gamma_v", 0, 1.5},
    [ETA_FORWARD] = {"eta_forward", 0.05, 1},
    [ETA_BACKWARD] = {"eta_backward", -1, 1},
    {"mu", 0, 0.5},
    {"lead_angle", 0.01, 1},
    {"pressure_angle", 0, 1},
    {"coulomb", 0, 10},
    {"static_ratio", 1, 3},
    {"stribeck_friction", 0, 10},
    {"stribeck_velocity", 0.001, 1},
    {"half_gap", 0, 0.1},
    {"stiffness", 1, 1e5},
    {"damping", 0, 100},
};
const int tuneNKey = (int)(sizeof(tuneKeys) / sizeof(*tuneKeys));

const char* const tuneSolvers[] = {"newton", "gauss_seidel", "projection", "extragradient",
                                   "lemke"};
const int tuneNSolver = (int)(sizeof(tuneSolvers) / sizeof(*tuneSolvers));

// keys that describe a gear as coefficients and efficiencies do
static const char* const rivals[] = {
    "type",         "gamma_u",          "gamma_v",           "eta_forward",
    "eta_backward", "starting_forward", "starting_backward", "lead_angle",
    "lead",         "pitch_diameter",   "pressure_angle",    "mu",
    "radius_in",    "radius_out",       "contact",           "module",
    "mesh",         "motor_starting"};


//---------------------------------- reading -------------------------------------------------------

// the word of a list that belongs to a joint: its own, or the only one; 0 if there is none
static int findWord(char* word, size_t size, const char* list, int index) {
  static const char space[] = " \t\r\n";
  int n = 0;
  for (; list && *(list += strspn(list, space)); n++) {
    size_t length = strcspn(list, space);
    if (n == 0 || n == index) {
      snprintf(word, size, "%.*s", (int)length, list);
    }
    list += length;
  }
  return n == 1 || n > index;
}


// what the configuration says about a joint
static int readWord(char* word, size_t size, const Sim* sim, int gear, const char* key) {
  const SimGear* g = sim->gear + gear;
  return findWord(word, size, mj_getPluginConfig(sim->m, g->instance, key), g->index);
}


// coefficients and efficiencies, from whatever describes the gear
static int readGear(double value[4], const Sim* sim, int gear) {
  mjgDescription description;
  mjgTransmission transmission;
  mjgReport report;
  char word[256];
  mjg_defaultDescription(&description);
  mjg_startReport(&report, NULL, 0);
  for (int key = 0; key < mjgNKEY; key++) {
    if (readWord(word, sizeof(word), sim, gear, mjg_keyInfo(key)->name)) {
      mjg_give(&description, key, strtod(word, NULL));
    }
  }
  if (readWord(word, sizeof(word), sim, gear, "type")) {
    description.type = mjg_typeFromName(word);
  }
  if (mjg_transmission(&transmission, &report, &description)) {
    return 0;
  }
  value[GAMMA_U] = transmission.gamma_u;
  value[GAMMA_V] = transmission.gamma_v;
  return mjg_efficiencies(value + ETA_FORWARD, value + ETA_BACKWARD, transmission.gamma_u,
                          transmission.gamma_v) == 0;
}


int tuneValue(double* value, const Show* show, int gear, int key) {
  double four[4];
  char word[256];
  if (key <= ETA_BACKWARD) {
    int known = readGear(four, show->sim, gear);
    *value = known ? four[key] : 0;
    return known;
  }
  int given = readWord(word, sizeof(word), show->sim, gear, tuneKeys[key].name);
  *value = given ? strtod(word, NULL) : 0;
  return given;
}


int tuneSolver(const Show* show) {
  for (int g = 0; g < show->sim[0].ngear; g++) {
    char word[64];
    for (int i = 0; readWord(word, sizeof(word), show->sim, g, "solver") && i < tuneNSolver; i++) {
      if (!strcmp(word, tuneSolvers[i])) {
        return i;
      }
    }
  }
  return 0;
}


//---------------------------------- changing ------------------------------------------------------

// values of a key for all joints of an instance, with one of them changed
static void writeList(char* list, size_t size, const Show* show, int gear, int key, double value) {
  const Sim* sim = show->sim;
  size_t n = 0;
  list[0] = 0;
  for (int index = 0;; index++) {
    int other = -1;
    for (int g = 0; g < sim->ngear; g++) {
      if (sim->gear[g].instance == sim->gear[gear].instance && sim->gear[g].index == index) {
        other = g;
      }
    }
    if (other < 0 || n >= size) {
      return;
    }
    double own = value;
    if (other != gear) {
      tuneValue(&own, show, other, key);
    }
    n += (size_t)snprintf(list + n, size - n, "%s%.9g", index ? " " : "", own);
  }
}


// compile with the changed settings and move over, with the state
static int apply(Show* show, const SimSettings* changed, char* error, size_t error_size) {
  Sim* old = show->sim;
  Sim next;
  if (simLoad(&next, show->scene, show->variant, changed, simGEAR, NULL, error, (int)error_size)) {
    return -1;
  }
  if (next.nstate != old->nstate) {
    snprintf(error, error_size, "this change needs another state: reload with the new value");
    simFree(&next);
    return -1;
  }
  mjtNum* state = malloc(sizeof(mjtNum) * (size_t)old->nstate);
  if (!state) {
    snprintf(error, error_size, "out of memory");
    simFree(&next);
    return -1;
  }
  mj_getState(old->m, old->d, state, mjSTATE_INTEGRATION);
  mj_setState(next.m, next.d, state, mjSTATE_INTEGRATION);
  free(state);
  simMoveHistory(&next, old);
  simFree(old);
  *old = next;
  show->settings = *changed;
  return 0;
}


int tuneSetValue(Show* show, int gear, int key, double value, char* error, size_t error_size) {
  SimSettings changed = show->settings;
  char list[sizeof(changed.setting[0].value)];
  const char* instance = mj_id2name(show->sim->m, mjOBJ_PLUGIN, show->sim->gear[gear].instance);
  int full = 0;
  if (key > ETA_BACKWARD) {
    writeList(list, sizeof(list), show, gear, key, value);
    full = simSet(&changed, instance, tuneKeys[key].name, list);
  } else {
    // a pair of coefficients, or of efficiencies, takes the place of all that described the gear
    int first = key <= GAMMA_V ? GAMMA_U : ETA_FORWARD;
    for (size_t i = 0; i < sizeof(rivals) / sizeof(*rivals); i++) {
      const char* given =
          mj_getPluginConfig(show->sim->m, show->sim->gear[gear].instance, rivals[i]);
      int mine =
          !strcmp(rivals[i], tuneKeys[first].name) || !strcmp(rivals[i], tuneKeys[first + 1].name);
      if (given && given[0] && !mine) {
        full |= simSet(&changed, instance, rivals[i], "");
      }
    }
    for (int k = first; k <= first + 1; k++) {
      double own = value;
      if (k != key) {
        tuneValue(&own, show, gear, k);
      }
      writeList(list, sizeof(list), show, gear, k, own);
      full |= simSet(&changed, instance, tuneKeys[k].name, list);
    }
  }
  if (full) {
    snprintf(error, error_size, "more than %d settings were changed; reload", simNSETTING);
    return -1;
  }
  return apply(show, &changed, error, error_size);
}


int tuneSetSolver(Show* show, int solver, char* error, size_t error_size) {
  // it holds for the whole model: every instance that names one must agree
  SimSettings changed = show->settings;
  for (int g = 0; g < show->sim->ngear; g++) {
    const char* instance = mj_id2name(show->sim->m, mjOBJ_PLUGIN, show->sim->gear[g].instance);
    if (simSet(&changed, instance, "solver", tuneSolvers[solver])) {
      snprintf(error, error_size, "more than %d settings were changed; reload", simNSETTING);
      return -1;
    }
  }
  return apply(show, &changed, error, error_size);
}

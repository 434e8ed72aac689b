#include "tune.h"

#include <stdio.h>
#include <string.h>

#include "load.h"
#include "mjgear.h"
#include "mjgear_plugin.h"

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
    {"oneway", -1, 1},
    {"stribeck_friction", 0, 10},
    {"stribeck_velocity", 0.001, 1},
    {"temperature", -40, 100},
    {"half_gap", 0, 0.1},
    {"stiffness", 1, 1e5},
    {"damping", 0, 100},
    {"slip_torque", 0.1, 100},
    {"tooth_pitch", 0, 1},
};
const int tuneNKey = (int)(sizeof(tuneKeys) / sizeof(*tuneKeys));

const char* const tuneSolvers[] = {"newton", "gauss_seidel", "projection", "extragradient",
                                   "lemke"};
const int tuneNSolver = (int)(sizeof(tuneSolvers) / sizeof(*tuneSolvers));


//---------------------------------- functions of the plugin ---------------------------------------

typedef struct Plugin_ {
  __typeof__(mjg_setGear)* setGear;
  __typeof__(mjg_describeGear)* describeGear;
  __typeof__(mjg_getGear)* getGear;
  __typeof__(mjg_setSolver)* setSolver;
  __typeof__(mjg_getSolver)* getSolver;
} Plugin;


// they are in the library that the engine loaded; 0, or -1 if it is a foreign one
static int findPlugin(Plugin* plugin, char* error, size_t error_size) {
  int missing = mjg_findFunction(&plugin->setGear, "mjg_setGear") +
                mjg_findFunction(&plugin->describeGear, "mjg_describeGear") +
                mjg_findFunction(&plugin->getGear, "mjg_getGear") +
                mjg_findFunction(&plugin->setSolver, "mjg_setSolver") +
                mjg_findFunction(&plugin->getSolver, "mjg_getSolver");
  if (missing) {
    snprintf(error, error_size,
             "libmjgear.so cannot change a running simulation; build it from the same sources");
  }
  return missing ? -1 : 0;
}


//---------------------------------- reading -------------------------------------------------------

// coefficients and efficiencies, for any description of the gear
static int readGear(double value[4], const Plugin* plugin, const Sim* sim, int joint) {
  return plugin->getGear(value + GAMMA_U, sim->m, sim->d, joint, "gamma_u") == 1 &&
         plugin->getGear(value + GAMMA_V, sim->m, sim->d, joint, "gamma_v") == 1 &&
         mjg_efficiencies(value + ETA_FORWARD, value + ETA_BACKWARD, value[GAMMA_U],
                          value[GAMMA_V]) == 0;
}


int tuneValue(double* value, const Show* show, int gear, int key) {
  const Sim* sim = show->sim;
  int joint = sim->gear[gear].joint;
  double four[4];
  Plugin plugin;
  *value = 0;
  if (findPlugin(&plugin, NULL, 0)) {
    return 0;
  }
  if (key <= ETA_BACKWARD) {
    int known = readGear(four, &plugin, sim, joint);
    *value = known ? four[key] : 0;
    return known;
  }
  return plugin.getGear(value, sim->m, sim->d, joint, tuneKeys[key].name) == 1;
}


int tuneSolver(const Show* show) {
  Plugin plugin;
  const char* name =
      findPlugin(&plugin, NULL, 0) ? NULL : plugin.getSolver(show->sim->m, show->sim->d);
  for (int i = 0; i < tuneNSolver && name; i++) {
    if (!strcmp(name, tuneSolvers[i])) {
      return i;
    }
  }
  return 0;
}


//---------------------------------- changing ------------------------------------------------------

int tuneSetValue(Show* show, int gear, int key, double value, char* error, size_t error_size) {
  const Sim* sim = show->sim;
  int joint = sim->gear[gear].joint;
  Plugin plugin;
  if (findPlugin(&plugin, error, error_size)) {
    return -1;
  }
  if (key > ETA_BACKWARD) {
    return plugin.setGear(sim->m, sim->d, joint, tuneKeys[key].name, value, error, (int)error_size);
  }

  // a pair of coefficients, or of efficiencies, replaces the description of the gear
  double four[4];
  if (!readGear(four, &plugin, sim, joint)) {
    snprintf(error, error_size, "%s has no efficiencies", sim->gear[gear].name);
    return -1;
  }
  four[key] = value;
  int first = key <= GAMMA_V ? GAMMA_U : ETA_FORWARD;
  const char* name[] = {tuneKeys[first].name, tuneKeys[first + 1].name};
  return plugin.describeGear(sim->m, sim->d, joint, name, four + first, 2, error, (int)error_size);
}


int tuneSetSolver(Show* show, int solver, char* error, size_t error_size) {
  Plugin plugin;
  if (findPlugin(&plugin, error, error_size)) {
    return -1;
  }
  return plugin.setSolver(show->sim->m, show->sim->d, tuneSolvers[solver], error, (int)error_size);
}

#include "tune.h"

#include <stdio.h>
#include <string.h>

#include "mjgear.h"

enum { GAMMA_U, GAMMA_V, ETA_FORWARD, ETA_BACKWARD };

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

const char* const tuneSolvers[] = {"newton", "gauss_seidel", "projection", "lemke"};
const int tuneNSolver = (int)(sizeof(tuneSolvers) / sizeof(*tuneSolvers));

// coefficients and efficiencies, for any description of the gear: 1, or 0 if it has none
static int readGear(double value[4], const Sim* sim, int joint) {
  return sim->plugin.getGear(value + GAMMA_U, sim->m, sim->d, joint, "gamma_u") == 1 &&
         sim->plugin.getGear(value + GAMMA_V, sim->m, sim->d, joint, "gamma_v") == 1 &&
         mjg_efficiencies(value + ETA_FORWARD, value + ETA_BACKWARD, value[GAMMA_U], value[GAMMA_V]) == 0;
}

int tuneValue(double* value, const Sim* sim, int gear, int key) {
  int joint = sim->gear[gear].joint;
  double four[4] = {0};
  *value = 0;
  if (key > ETA_BACKWARD) {
    return sim->plugin.getGear(value, sim->m, sim->d, joint, tuneKeys[key].name) == 1;
  }
  int known = readGear(four, sim, joint);
  *value = known ? four[key] : 0;
  return known;
}

int tuneSolver(const Sim* sim) {
  const char* name = sim->plugin.getSolver ? sim->plugin.getSolver(sim->m, sim->d) : NULL;
  for (int i = 0; i < tuneNSolver && name; i++) {
    if (!strcmp(name, tuneSolvers[i])) {
      return i;
    }
  }
  return 0;
}

int tuneSetValue(Sim* sim, int gear, int key, double value, char* error, size_t error_size) {
  int joint = sim->gear[gear].joint;
  if (key > ETA_BACKWARD) {
    return sim->plugin.setGear(sim->m, sim->d, joint, tuneKeys[key].name, value, error, (int)error_size);
  }

  // a pair of coefficients, or of efficiencies, replaces the description of the gear
  double four[4];
  if (!readGear(four, sim, joint)) {
    snprintf(error, error_size, "%s has no efficiencies", sim->gear[gear].name);
    return -1;
  }
  four[key] = value;
  int first = key <= GAMMA_V ? GAMMA_U : ETA_FORWARD;
  const char* name[] = {tuneKeys[first].name, tuneKeys[first + 1].name};
  return sim->plugin.describeGear(sim->m, sim->d, joint, name, four + first, 2, error, (int)error_size);
}

int tuneSetSolver(Sim* sim, int solver, char* error, size_t error_size) {
  return sim->plugin.setSolver(sim->m, sim->d, tuneSolvers[solver], error, (int)error_size);
}

#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/config.h"
#include "configuration/names.h"
#include "load.h"
#include "mjgear.h"
#include "mjgear_text.h"
#include "observe/sensor.h"
#include "observe/visualize.h"

const char* const simName[simNVALUE] = {
    "Position", "Velocity", "Torque in", "Torque out", "Friction",   "Internal force",
    "Mode",     "State",    "Loss",      "Gap",        "Iterations", "Residual",
};

//---------------------------------- geared joints -------------------------------------------------

// by instance, in the order of its names
static int compareGears(const void* a, const void* b) {
  const mjgpJoint *first = a, *second = b;
  return first->instance != second->instance ? first->instance - second->instance : first->index - second->index;
}

// gears as the plugin reads them from a model that it has accepted; 0, or -1: no memory
static int findGears(Sim* sim, const mjModel* m) {
  int slot = -1, n = 0;
  mjgSettings settings;
  mjgReport report;
  mjp_getPlugin(mjgpNAME, &slot);
  mjg_startReport(&report, NULL, 0);
  mjgpJoint* joint = mjgp_configure(&n, &settings, &report, m, slot);
  sim->gear = n ? calloc((size_t)n, sizeof(SimGear)) : NULL;
  if (n && !sim->gear) {
    mju_free(joint);
    return -1;
  }
  qsort(joint, (size_t)n, sizeof(*joint), compareGears);
  for (int i = 0; i < n; i++) {
    // the motor in front of a gap is of one gear with the joint behind it
    if (joint[i].gap == mjgpGAP_MOTOR) {
      continue;
    }
    SimGear* gear = sim->gear + sim->ngear++;
    *gear = (SimGear){.joint = joint[i].number,
                      .tendon = joint[i].kind == mjgpTRN_TENDON ? joint[i].tendon : -1,
                      .instance = joint[i].instance};
    snprintf(gear->name, sizeof(gear->name), "%.63s", mjgp_gearName(m, &joint[i]));
  }
  mju_free(joint);
  return 0;
}

//---------------------------------- load ----------------------------------------------------------

// functions of the library that the engine loaded; 0: it has all
static int findPlugin(SimPlugin* plugin) {
  return mjg_findFunction(&plugin->readGear, "mjg_readGear") + mjg_findFunction(&plugin->getGear, "mjg_getGear") +
         mjg_findFunction(&plugin->setGear, "mjg_setGear") +
         mjg_findFunction(&plugin->describeGear, "mjg_describeGear") +
         mjg_findFunction(&plugin->getSolver, "mjg_getSolver") + mjg_findFunction(&plugin->setSolver, "mjg_setSolver");
}

int simLoad(Sim* sim, const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting, int nsetting,
            SimFriction friction, const double* frictionloss, char* error, int error_size) {
  *sim = (Sim){.friction = friction, .variant = variant};
  mjModel* m = mjg_loadScene(scene, variant, setting, nsetting, error, error_size);
  if (!m) {
    return -1;
  }
  sim->m = m;
  sim->d = mj_makeData(m);
  if (!sim->d || findGears(sim, m)) {
    snprintf(error, (size_t)error_size, "%s: no memory", scene->name);
    simFree(sim);
    return -1;
  }
  if (sim->ngear > 0 && findPlugin(&sim->plugin)) {
    snprintf(error, (size_t)error_size, "libmjgear.so is another release's; build it from the same sources");
    simFree(sim);
    return -1;
  }
  for (int i = 0; i < sim->ngear && friction != simGEAR; i++) {
    const SimGear* gear = sim->gear + i;
    mjtNum* loss =
        gear->tendon >= 0 ? m->tendon_frictionloss + gear->tendon : m->dof_frictionloss + m->jnt_dofadr[gear->joint];
    *loss = frictionloss ? frictionloss[i] : 0;
  }
  return 0;
}

void simMakeIdeal(Sim* sim) {
  static const char* const both[] = {"gamma_u", "gamma_v"};
  static const char* const keys[] = {
      "coulomb", "stribeck_friction", "gamma_u_stribeck", "gamma_v_stribeck", "gamma_u_quadratic", "gamma_v_quadratic",
      "oneway"};
  const double zero[2] = {0};
  char error[1400];
  for (int i = 0; i < sim->ngear && sim->friction != simGEAR; i++) {
    int joint = sim->gear[i].joint;
    double value;
    int failed = sim->plugin.describeGear(sim->m, sim->d, joint, both, zero, 2, error, sizeof(error));
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys) && !failed; k++) {
      failed = sim->plugin.getGear(&value, sim->m, sim->d, joint, keys[k]) == 1 && value != 0 &&
               sim->plugin.setGear(sim->m, sim->d, joint, keys[k], 0, error, sizeof(error));
    }
    if (failed) {
      mju_warning("%s keeps friction: %s", sim->gear[i].name, error);
    }
  }
}

void simFree(Sim* sim) {
  mj_deleteData(sim->d);
  mj_deleteModel(sim->m);
  free(sim->gear);
  *sim = (Sim){0};
}

//---------------------------------- values --------------------------------------------------------

// force of the engine's own dry friction on a joint or tendon, opposing motion
static double nativeFriction(const mjModel* m, const mjData* d, const SimGear* gear) {
  int type = gear->tendon >= 0 ? mjCNSTR_FRICTION_TENDON : mjCNSTR_FRICTION_DOF;
  int id = gear->tendon >= 0 ? gear->tendon : m->jnt_dofadr[gear->joint];
  for (int i = 0; i < d->nefc; i++) {
    if (d->efc_type[i] == type && d->efc_id[i] == id) {
      return -d->efc_force[i];
    }
  }
  return 0;
}

// length and velocity of a tendon: of a fixed one at the state, of a spatial one at the engine's
// last position
static void tendonMotion(double value[simROOM], const mjModel* m, const mjData* d, int tendon) {
  int first = m->tendon_adr[tendon];
  if (m->wrap_type[first] != mjWRAP_JOINT) {
    value[simPOSITION] = d->ten_length[tendon];
    value[simVELOCITY] = d->ten_velocity[tendon];
    return;
  }
  for (int k = first; k < first + m->tendon_num[tendon]; k++) {
    int joint = m->wrap_objid[k];
    value[simPOSITION] += m->wrap_prm[k] * d->qpos[m->jnt_qposadr[joint]];
    value[simVELOCITY] += m->wrap_prm[k] * d->qvel[m->jnt_dofadr[joint]];
  }
}

void simValues(double value[simROOM], const Sim* sim, int gear) {
  static const int kSensor[][2] = {
      {simTORQUE_IN, mjgSENSOR_TORQUE_IN},
      {simTORQUE_OUT, mjgSENSOR_TORQUE_OUT},
      {simFRICTION, mjgSENSOR_FRICTION},
      {simINTERNAL, mjgSENSOR_LAMBDA},
      {simMODE, mjgSENSOR_MODE},
      {simSTATE, mjgSENSOR_STATE},
      {simLOSS, mjgSENSOR_POWER_LOSS},
      {simGAP, mjgSENSOR_GAP},
      {simITERATIONS, mjgSENSOR_ITERATIONS},
      {simRESIDUAL, mjgSENSOR_RESIDUAL},
  };
  const SimGear* g = sim->gear + gear;
  const mjModel* m = sim->m;
  const mjData* d = sim->d;
  mju_zero(value, simROOM);
  if (g->tendon >= 0) {
    tendonMotion(value, m, d, g->tendon);
  } else {
    value[simPOSITION] = d->qpos[m->jnt_qposadr[g->joint]];
    value[simVELOCITY] = d->qvel[m->jnt_dofadr[g->joint]];
  }
  double s[mjgNSENSOR] = {0}, native = nativeFriction(m, d, g);
  sim->plugin.readGear(s, m, d, g->joint);
  for (size_t i = 0; i < sizeof(kSensor) / sizeof(*kSensor); i++) {
    value[kSensor[i][0]] = s[kSensor[i][1]];
  }

  // friction acts on the velocity at the end of the step, which its power gives; without power it is shown unchanged
  double t = value[simFRICTION];
  value[simSLIP] = value[simMODE] == 0 ? 0 : t != 0 ? value[simLOSS] / t : value[simVELOCITY];
  value[simFRICTION] += native;
}

int simIsLength(const Sim* sim, int gear) {
  const mjModel* m = sim->m;
  int t = sim->gear[gear].tendon, joint = sim->gear[gear].joint;
  if (t >= 0) {
    // a spatial tendon, or a fixed one by its first joint
    int first = m->tendon_adr[t];
    if (m->wrap_type[first] != mjWRAP_JOINT) {
      return 1;
    }
    joint = m->wrap_objid[first];
  }
  return m->jnt_type[joint] == mjJNT_SLIDE;
}

const char* simUnit(const Sim* sim, int gear, int value) {
  static const char* const unit[2][simNVALUE] = {
      {"rad", "rad/s", "N m", "N m", "N m", "N m", "", "", "W", "rad", "", ""},
      {"m", "m/s", "N", "N", "N", "N", "", "", "W", "m", "", ""}};
  return unit[simIsLength(sim, gear)][value];
}

void simText(char* text, size_t text_size, const Sim* sim, int gear, int value) {
  static const char* const modes[] = {"backward", "stuck", "forward"};
  double v[simROOM];
  simValues(v, sim, gear);
  int state = (int)v[simSTATE];

  // round-off is zero, and motion by round-off is rest; the forces lead to these velocities
  double x = fabs(v[value]) < 1e-9 ? 0 : v[value];
  int flg_still = fabs(v[simSLIP]) < 1e-9;
  if (value == simMODE) {
    snprintf(text, text_size, "%s", modes[flg_still ? 1 : (int)x + 1]);
  } else if (value == simSTATE) {
    int flg_moves = state == mjgpGEAR_DRIVING || state == mjgpGEAR_DRIVEN || state == mjgpGEAR_DRIVEN_BY_BOTH;
    state = flg_moves && flg_still ? mjgpGEAR_STUCK : state;
    snprintf(text, text_size, "%s", mjgpStateName[state]);
  } else if (value == simRESIDUAL) {
    snprintf(text, text_size, v[value] > 0 ? "%.0e" : "%.0f", v[value]);
  } else {
    const char* unit = simUnit(sim, gear, value);
    snprintf(text, text_size, "%.4g%s%s", x, unit[0] ? " " : "", unit);
  }
}

int simHasBacklash(const Sim* sim) {
  for (int i = 0; i < sim->ngear; i++) {
    const char* model = mj_getPluginConfig(sim->m, sim->gear[i].instance, "backlash");
    if (model && model[0]) {
      return 1;
    }
  }
  return 0;
}

int simHasFriction(const Sim* sim) {
  for (int i = 0; i < sim->ngear; i++) {
    if (mjg_hasFriction(sim->m, sim->d, sim->gear[i].joint)) {
      return 1;
    }
  }
  return 0;
}

//---------------------------------- parameters ----------------------------------------------------

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

int tuneValue(double* value, const Sim* sim, int gear, int key) {
  *value = 0;
  return sim->plugin.getGear(value, sim->m, sim->d, sim->gear[gear].joint, tuneKeys[key].name) == 1;
}

int tuneSolver(const Sim* sim) {
  int solver = sim->plugin.getSolver ? mjg_solverFromName(sim->plugin.getSolver(sim->m, sim->d)) : 0;
  return solver < 0 ? 0 : solver;
}

int tuneSetValue(Sim* sim, int gear, int key, double value, char* error, size_t error_size) {
  int joint = sim->gear[gear].joint;
  if (key > ETA_BACKWARD) {
    return sim->plugin.setGear(sim->m, sim->d, joint, tuneKeys[key].name, value, error, (int)error_size);
  }

  // a pair of coefficients, or of efficiencies, replaces the description of the gear
  int first = key <= GAMMA_V ? GAMMA_U : ETA_FORWARD;
  double pair[2];
  const char* name[] = {tuneKeys[first].name, tuneKeys[first + 1].name};
  for (int i = 0; i < 2; i++) {
    tuneValue(&pair[i], sim, gear, first + i);
  }
  pair[key - first] = value;
  return sim->plugin.describeGear(sim->m, sim->d, joint, name, pair, 2, error, (int)error_size);
}

int tuneSetSolver(Sim* sim, int solver, char* error, size_t error_size) {
  return sim->plugin.setSolver(sim->m, sim->d, mjg_solverName(solver), error, (int)error_size);
}

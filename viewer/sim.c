#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/config.h"
#include "configuration/names.h"
#include "load.h"
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


// element of the compiled specification that has this id
static mjsElement* findElement(mjSpec* spec, mjtObj type, int id) {
  mjsElement* e = mjs_firstElement(spec, type);
  while (e && mjs_getId(e) != id) {
    e = mjs_nextElement(spec, e);
  }
  return e;
}


// 1 if an element refers to our plugin, by the plugin's name or an instance's name
static int isOurs(mjSpec* spec, const mjsPlugin* plugin) {
  const char* name = mjs_getString(plugin->plugin_name);
  if (plugin->active && !name[0]) {
    mjsElement* instance = mjs_findElement(spec, mjOBJ_PLUGIN, mjs_getString(plugin->name));
    name = instance ? mjs_getString(mjs_asPlugin(instance)->plugin_name) : "";
  }
  return plugin->active && !strcmp(name, mjgpNAME);
}


// delete the instances of our plugin, or the sensors that refer to one
static void deleteOurs(mjSpec* spec, mjtObj type) {
  mjsElement* next;
  for (mjsElement* e = mjs_firstElement(spec, type); e; e = next) {
    next = mjs_nextElement(spec, e);
    int flg_ours = type == mjOBJ_PLUGIN ? !strcmp(mjs_getString(mjs_asPlugin(e)->plugin_name), mjgpNAME)
                                        : isOurs(spec, &mjs_asSensor(e)->plugin);
    if (flg_ours) {
      mjs_delete(spec, e);
    }
  }
}


// remove the gears and all references to them, and set native friction instead
static void removeGears(mjSpec* spec, const SimGear* gear, int ngear, const double* frictionloss) {
  // ids are those of the compiled model, before anything is deleted
  for (int i = 0; i < ngear; i++) {
    int flg_tendon = gear[i].tendon >= 0;
    mjsElement* element =
        findElement(spec, flg_tendon ? mjOBJ_TENDON : mjOBJ_JOINT, flg_tendon ? gear[i].tendon : gear[i].joint);
    double* loss = flg_tendon ? &mjs_asTendon(element)->frictionloss : &mjs_asJoint(element)->frictionloss;
    *loss = frictionloss ? frictionloss[i] : 0;
  }

  // a body keeps the name to which it refers: without one the engine would copy an instance that is gone
  for (mjsElement* e = mjs_firstElement(spec, mjOBJ_BODY); e; e = mjs_nextElement(spec, e)) {
    mjsPlugin* plugin = &mjs_asBody(e)->plugin;
    if (!isOurs(spec, plugin)) {
      continue;
    }
    plugin->active = 0;

    // an instance inside of a body does not name the body
    if (plugin->element) {
      mjs_setString(mjs_asPlugin(plugin->element)->plugin_name, mjgpNAME);
    }
  }
  deleteOurs(spec, mjOBJ_SENSOR);
  deleteOurs(spec, mjOBJ_PLUGIN);
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
  mjSpec* spec = mjg_readScene(scene, variant, setting, nsetting, error, error_size);
  mjModel* m = spec ? mjg_compileScene(spec, scene, variant, error, error_size) : NULL;
  if (!m) {
    goto fail;
  }

  if (findGears(sim, m)) {
    snprintf(error, (size_t)error_size, "%s: no memory", scene->name);
    goto fail;
  }

  // compile again with another friction
  if (sim->ngear > 0 && friction != simGEAR) {
    removeGears(spec, sim->gear, sim->ngear, frictionloss);
    mj_deleteModel(m);
    m = mjg_compileScene(spec, scene, variant, error, error_size);
    if (!m) {
      goto fail;
    }
  } else if (sim->ngear > 0 && findPlugin(&sim->plugin)) {
    snprintf(error, (size_t)error_size, "libmjgear.so is another release's; build it from the same sources");
    goto fail;
  }
  sim->m = m;
  sim->d = mj_makeData(m);
  if (!sim->d) {
    snprintf(error, (size_t)error_size, "%s: the engine cannot make its data", scene->name);
    goto fail;
  }
  sim->nstate = (int)mj_stateSize(m, mjSTATE_INTEGRATION);
  mj_deleteSpec(spec);
  return 0;

fail:
  if (spec) {
    mj_deleteSpec(spec);
  }
  mj_deleteModel(m);
  free(sim->gear);
  *sim = (Sim){0};
  return -1;
}


void simFree(Sim* sim) {
  mj_deleteData(sim->d);
  mj_deleteModel(sim->m);
  free(sim->gear);
  free(sim->history);
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
  double s[mjgNSENSOR], native = nativeFriction(m, d, g);
  if (sim->plugin.readGear && sim->plugin.readGear(s, m, d, g->joint) == mjgNSENSOR) {
    for (size_t i = 0; i < sizeof(kSensor) / sizeof(*kSensor); i++) {
      value[kSensor[i][0]] = s[kSensor[i][1]];
    }

    // friction acts on the velocity at the end of the step, which its power gives; without power it
    // is shown unchanged
    double t = value[simFRICTION];
    value[simSLIP] = value[simMODE] == 0 ? 0 : t != 0 ? value[simLOSS] / t : value[simVELOCITY];
    value[simFRICTION] += native;
  } else {
    value[simSTATE] = -1;
    value[simFRICTION] = native;
    value[simLOSS] = native * value[simVELOCITY];
  }
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
    snprintf(text, text_size, "%s", state < 0 ? "" : mjgpStateName[state]);
  } else if (value == simRESIDUAL) {
    snprintf(text, text_size, v[value] > 0 ? "%.0e" : "%.0f", v[value]);
  } else {
    const char* unit = simUnit(sim, gear, value);
    snprintf(text, text_size, "%.4g%s%s", x, unit[0] ? " " : "", unit);
  }
}


int simHasBacklash(const Sim* sim) {
  for (int i = 0; i < sim->ngear && sim->friction == simGEAR; i++) {
    const char* model = mj_getPluginConfig(sim->m, sim->gear[i].instance, "backlash");
    if (model && model[0]) {
      return 1;
    }
  }
  return 0;
}


int simHasFriction(const Sim* sim) {
  for (int i = 0; i < sim->ngear && sim->friction == simGEAR; i++) {
    if (mjg_hasFriction(sim->m, sim->d, sim->gear[i].joint)) {
      return 1;
    }
  }
  return 0;
}


//---------------------------------- history -------------------------------------------------------

void simSave(Sim* sim) {
  // as many states as simulate keeps, within 32 MiB
  if (!sim->history) {
    size_t bytes = sizeof(mjtNum) * (size_t)sim->nstate, n = ((size_t)32 << 20) / bytes;
    sim->nhistory = n > 2000 ? 2000 : n < 2 ? 2 : (int)n;
    sim->history = calloc((size_t)sim->nhistory, bytes);
    if (!sim->history) {
      return;
    }
  }
  sim->newest = (sim->newest + 1) % sim->nhistory;
  sim->nsaved += sim->nsaved < sim->nhistory;
  mj_getState(sim->m, sim->d, sim->history + (size_t)sim->newest * (size_t)sim->nstate, mjSTATE_INTEGRATION);
}


int simRecall(Sim* sim, int back) {
  if (back < 0 || back >= sim->nsaved) {
    return 0;
  }
  int i = (sim->newest - back + sim->nhistory) % sim->nhistory;
  mj_setState(sim->m, sim->d, sim->history + (size_t)i * (size_t)sim->nstate, mjSTATE_INTEGRATION);
  mj_forward(sim->m, sim->d);
  return 1;
}

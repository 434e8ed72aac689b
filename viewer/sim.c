#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "mjgear_plugin.h"
#include "observe/sensor.h"

#define PLUGIN_NAME "mjgear.transmission"
#define SENSOR_NAME "mjgear-view %d"  // of those that are added to the model


//---------------------------------- geared joints -------------------------------------------------

// is plugin instance i one of ours
static int isTransmission(const mjModel* m, int i) {
  const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
  return plugin && strcmp(plugin->name, PLUGIN_NAME) == 0;
}


// geared joints in the order of instances and their keys; gear is nullable to count only
static int findGears(SimGear* gear, const mjModel* m) {
  int n = 0;
  for (int i = 0; i < m->nplugin; i++) {
    const char* names = isTransmission(m, i) ? mj_getPluginConfig(m, i, "joint") : NULL;
    static const char space[] = " \t\n\r";
    while (names && *(names += strspn(names, space))) {
      size_t length = strcspn(names, space);
      char name[256];
      snprintf(name, sizeof(name), "%.*s", (int)length, names);
      names += length;
      int joint = mj_name2id(m, mjOBJ_JOINT, name);
      if (joint < 0) {
        continue;
      }
      if (gear) {
        gear[n] = (SimGear){.joint = joint,
                            .qpos = m->jnt_qposadr[joint],
                            .dof = m->jnt_dofadr[joint],
                            .instance = i,
                            .sensor = -1};
        snprintf(gear[n].name, sizeof(gear[n].name), "%.63s", name);
      }
      n++;
    }
  }
  return n;
}


// give each geared joint a sensor, so that its values can be read like any user's
static void addSensors(mjSpec* spec, const mjModel* m, const SimGear* gear, int ngear) {
  for (int i = 0; i < ngear; i++) {
    char name[32];
    mjsSensor* sensor = mjs_addSensor(spec);
    snprintf(name, sizeof(name), SENSOR_NAME, i);
    mjs_setName(sensor->element, name);
    sensor->type = mjSENS_PLUGIN;
    sensor->objtype = mjOBJ_JOINT;
    mjs_setString(sensor->objname, mj_id2name(m, mjOBJ_JOINT, gear[i].joint));
    sensor->plugin.active = 1;
    mjs_setString(sensor->plugin.plugin_name, PLUGIN_NAME);
    mjs_setString(sensor->plugin.name, mj_id2name(m, mjOBJ_PLUGIN, gear[i].instance));
  }
}


// take our plugin out and set native friction instead
static void removePlugin(mjSpec* spec, const mjModel* m, const SimGear* gear, int ngear,
                         const double* frictionloss) {
  static const mjtObj types[] = {mjOBJ_SENSOR, mjOBJ_PLUGIN};
  for (int k = 0; k < 2; k++) {
    mjsElement* next;
    for (mjsElement* e = mjs_firstElement(spec, types[k]); e; e = next) {
      next = mjs_nextElement(spec, e);
      mjsPlugin* plugin = types[k] == mjOBJ_PLUGIN ? mjs_asPlugin(e) : &mjs_asSensor(e)->plugin;
      if ((types[k] == mjOBJ_PLUGIN || plugin->active) &&
          strcmp(mjs_getString(plugin->plugin_name), PLUGIN_NAME) == 0) {
        mjs_delete(spec, e);
      }
    }
  }
  for (int i = 0; i < ngear; i++) {
    const char* name = mj_id2name(m, mjOBJ_JOINT, gear[i].joint);
    mjsJoint* joint = mjs_asJoint(mjs_findElement(spec, mjOBJ_JOINT, name));
    joint->frictionloss = frictionloss ? frictionloss[i] : 0;
  }
}


//---------------------------------- load ----------------------------------------------------------

int simSet(SimSettings* settings, const char* instance, const char* key, const char* value) {
  int i = 0;
  while (i < settings->n && (strcmp(settings->setting[i].instance, instance) ||
                             strcmp(settings->setting[i].key, key))) {
    i++;
  }
  if (i == simNSETTING || strlen(instance) >= sizeof(settings->setting[i].instance) ||
      strlen(key) >= sizeof(settings->setting[i].key) ||
      strlen(value) >= sizeof(settings->setting[i].value)) {
    return -1;
  }
  strcpy(settings->setting[i].instance, instance);
  strcpy(settings->setting[i].key, key);
  strcpy(settings->setting[i].value, value);
  settings->n = i < settings->n ? settings->n : i + 1;
  return 0;
}


int simLoad(Sim* sim, const mjgScene* scene, const mjgCase* variant, const SimSettings* settings,
            SimFriction friction, const double* frictionloss, char* error, int error_size) {
  *sim = (Sim){.friction = friction, .variant = variant};
  mjgSetting setting[simNSETTING];
  int nsetting = settings ? settings->n : 0;
  for (int i = 0; i < nsetting; i++) {
    setting[i] = (mjgSetting){settings->setting[i].instance, settings->setting[i].key,
                              settings->setting[i].value};
  }
  mjSpec* spec = mjg_readScene(scene, variant, setting, nsetting, error, error_size);
  mjModel* m = spec ? mjg_compileScene(spec, scene, variant, error, error_size) : NULL;
  if (!m) {
    goto fail;
  }

  // compile once more, with the sensors that we read or with another friction
  sim->ngear = findGears(NULL, m);
  if (sim->ngear > 0) {
    sim->gear = calloc((size_t)sim->ngear, sizeof(SimGear));
    findGears(sim->gear, m);
    if (friction == simGEAR) {
      addSensors(spec, m, sim->gear, sim->ngear);
    } else {
      removePlugin(spec, m, sim->gear, sim->ngear, frictionloss);
    }
    mj_deleteModel(m);
    m = mjg_compileScene(spec, scene, variant, error, error_size);
    if (!m) {
      goto fail;
    }
    for (int i = 0; i < sim->ngear && friction == simGEAR; i++) {
      char name[32];
      snprintf(name, sizeof(name), SENSOR_NAME, i);
      sim->gear[i].sensor = m->sensor_adr[mj_name2id(m, mjOBJ_SENSOR, name)];
    }
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

// force of the engine's own dry friction on a dof, opposing motion
static double nativeFriction(const mjData* d, int dof) {
  for (int i = 0; i < d->nefc; i++) {
    if (d->efc_type[i] == mjCNSTR_FRICTION_DOF && d->efc_id[i] == dof) {
      return -d->efc_force[i];
    }
  }
  return 0;
}


SimValues simValues(const Sim* sim, int gear) {
  const SimGear* g = sim->gear + gear;
  const mjData* d = sim->d;
  SimValues values = {.position = d->qpos[g->qpos], .velocity = d->qvel[g->dof], .state = -1};
  if (g->sensor >= 0) {
    const mjtNum* s = d->sensordata + g->sensor;
    values.friction = s[mjgSENSOR_FRICTION] + nativeFriction(d, g->dof);
    values.lambda = s[mjgSENSOR_LAMBDA];
    values.torque_in = s[mjgSENSOR_TORQUE_IN];
    values.torque_out = s[mjgSENSOR_TORQUE_OUT];
    values.mode = (int)s[mjgSENSOR_MODE];
    values.state = (int)s[mjgSENSOR_STATE];
    values.power_loss = s[mjgSENSOR_POWER_LOSS];
    values.gap = s[mjgSENSOR_GAP];
    values.iterations = (int)s[mjgSENSOR_ITERATIONS];
    values.residual = s[mjgSENSOR_RESIDUAL];
  } else {
    values.friction = nativeFriction(d, g->dof);
    values.power_loss = values.friction * values.velocity;
  }
  return values;
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
    size_t bytes = sizeof(mjtNum) * (size_t)sim->nstate;
    size_t n = ((size_t)32 << 20) / bytes;
    sim->nhistory = n > 2000 ? 2000 : n < 2 ? 2 : (int)n;
    sim->history = malloc(bytes * (size_t)sim->nhistory);
    if (!sim->history) {
      return;
    }
    memset(sim->history, 0, bytes * (size_t)sim->nhistory);
  }
  sim->newest = (sim->newest + 1) % sim->nhistory;
  sim->nsaved += sim->nsaved < sim->nhistory;
  mj_getState(sim->m, sim->d, sim->history + (size_t)sim->newest * (size_t)sim->nstate,
              mjSTATE_INTEGRATION);
}


void simClearHistory(Sim* sim) {
  sim->nsaved = 0;
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

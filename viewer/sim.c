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


// gears of one key of an instance, which names joints or tendons; gear is nullable to count only. Returns their number
static int findKey(SimGear* gear, const mjModel* m, int instance, const char* key, int type) {
  static const char space[] = " \t\n\r";
  const char* names = mj_getPluginConfig(m, instance, key);
  int n = 0;
  while (names && *(names += strspn(names, space))) {
    size_t length = strcspn(names, space);
    char name[256];
    snprintf(name, sizeof(name), "%.*s", (int)length, names);
    names += length;
    int id = mj_name2id(m, type, name);
    if (id < 0) {
      continue;
    }
    if (gear) {
      int flg_tendon = type == mjOBJ_TENDON;
      gear[n] = (SimGear){.joint = flg_tendon ? (int)m->njnt + id : id,
                          .tendon = flg_tendon ? id : -1,
                          .qpos = flg_tendon ? -1 : m->jnt_qposadr[id],
                          .dof = flg_tendon ? -1 : m->jnt_dofadr[id],
                          .instance = instance,
                          .sensor = -1};
      snprintf(gear[n].name, sizeof(gear[n].name), "%.63s", name);
    }
    n++;
  }
  return n;
}


// gears in the order of instances, joints before tendons; gear is nullable to count only
static int findGears(SimGear* gear, const mjModel* m) {
  int n = 0;
  for (int i = 0; i < m->nplugin; i++) {
    if (isTransmission(m, i)) {
      n += findKey(gear ? gear + n : NULL, m, i, "joint", mjOBJ_JOINT);
      n += findKey(gear ? gear + n : NULL, m, i, "tendon", mjOBJ_TENDON);
    }
  }
  return n;
}


// what a gear is on
static mjtObj typeOf(const SimGear* gear) {
  return gear->tendon >= 0 ? mjOBJ_TENDON : mjOBJ_JOINT;
}


static const char* nameOf(const mjModel* m, const SimGear* gear) {
  return mj_id2name(m, (int)typeOf(gear), gear->tendon >= 0 ? gear->tendon : gear->joint);
}


// give each gear a sensor, so that its values can be read like any user's
static void addSensors(mjSpec* spec, const mjModel* m, const SimGear* gear, int ngear) {
  for (int i = 0; i < ngear; i++) {
    char name[32];
    mjsSensor* sensor = mjs_addSensor(spec);
    snprintf(name, sizeof(name), SENSOR_NAME, i);
    mjs_setName(sensor->element, name);
    sensor->type = mjSENS_PLUGIN;
    sensor->objtype = typeOf(gear + i);
    mjs_setString(sensor->objname, nameOf(m, gear + i));
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
    mjsElement* element = mjs_findElement(spec, typeOf(gear + i), nameOf(m, gear + i));
    double* loss = gear[i].tendon >= 0 ? &mjs_asTendon(element)->frictionloss
                                       : &mjs_asJoint(element)->frictionloss;
    *loss = frictionloss ? frictionloss[i] : 0;
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

// force of the engine's own dry friction on a joint or tendon, opposing motion
static double nativeFriction(const mjData* d, const SimGear* gear) {
  int type = gear->tendon >= 0 ? mjCNSTR_FRICTION_TENDON : mjCNSTR_FRICTION_DOF;
  int id = gear->tendon >= 0 ? gear->tendon : gear->dof;
  for (int i = 0; i < d->nefc; i++) {
    if (d->efc_type[i] == type && d->efc_id[i] == id) {
      return -d->efc_force[i];
    }
  }
  return 0;
}


// length and velocity of a tendon: of a fixed one at the state, of a spatial one where the engine has been
static void tendonMotion(SimValues* values, const mjModel* m, const mjData* d, int tendon) {
  int first = m->tendon_adr[tendon];
  if (m->wrap_type[first] != mjWRAP_JOINT) {
    values->position = d->ten_length[tendon];
    values->velocity = d->ten_velocity[tendon];
    return;
  }
  for (int k = first; k < first + m->tendon_num[tendon]; k++) {
    int joint = m->wrap_objid[k];
    values->position += m->wrap_prm[k] * d->qpos[m->jnt_qposadr[joint]];
    values->velocity += m->wrap_prm[k] * d->qvel[m->jnt_dofadr[joint]];
  }
}


SimValues simValues(const Sim* sim, int gear) {
  const SimGear* g = sim->gear + gear;
  const mjData* d = sim->d;
  SimValues values = {.state = -1};
  if (g->tendon >= 0) {
    tendonMotion(&values, sim->m, d, g->tendon);
  } else {
    values.position = d->qpos[g->qpos];
    values.velocity = d->qvel[g->dof];
  }
  if (g->sensor >= 0) {
    const mjtNum* s = d->sensordata + g->sensor;
    values.friction = s[mjgSENSOR_FRICTION] + nativeFriction(d, g);
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
    values.friction = nativeFriction(d, g);
    values.power_loss = values.friction * values.velocity;
  }
  return values;
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

#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/config.h"
#include "configuration/names.h"
#include "load.h"
#include "mjgear_text.h"
#include "observe/sensor.h"


//---------------------------------- geared joints -------------------------------------------------

// by instance, in the order of its names
static int compareGears(const void* a, const void* b) {
  const mjgpJoint *first = a, *second = b;
  return first->instance != second->instance ? first->instance - second->instance
                                             : first->index - second->index;
}


// gears as the plugin reads them from a model that it has accepted; 0, or -1: no memory
static int findGears(Sim* sim, const mjModel* m) {
  int slot = -1, n = 0;
  mjgpOptions options;
  mjgReport report;
  mjp_getPlugin(mjgpNAME, &slot);
  mjg_startReport(&report, NULL, 0);
  mjgpJoint* joint = mjgp_configure(&n, &options, &report, m, slot);
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
    int flg_tendon = joint[i].kind == mjgpTRN_TENDON, id = joint[i].joint;
    SimGear* gear = sim->gear + sim->ngear++;
    *gear = (SimGear){.joint = joint[i].number,
                      .tendon = flg_tendon ? joint[i].tendon : -1,
                      .qpos = flg_tendon ? -1 : m->jnt_qposadr[id],
                      .dof = flg_tendon ? -1 : m->jnt_dofadr[id],
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
    int flg_ours = type == mjOBJ_PLUGIN
                       ? !strcmp(mjs_getString(mjs_asPlugin(e)->plugin_name), mjgpNAME)
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
    mjsElement* element = findElement(spec, flg_tendon ? mjOBJ_TENDON : mjOBJ_JOINT,
                                      flg_tendon ? gear[i].tendon : gear[i].joint);
    double* loss =
        flg_tendon ? &mjs_asTendon(element)->frictionloss : &mjs_asJoint(element)->frictionloss;
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
  } else if (sim->ngear > 0 && mjg_findFunction(&sim->readGear, "mjg_readGear")) {
    snprintf(error, (size_t)error_size,
             "libmjgear.so has no mjg_readGear; build it from the same sources");
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


// length and velocity of a tendon: of a fixed one at the state, of a spatial one at the engine's
// last position
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
  double s[mjgNSENSOR];
  if (sim->readGear && sim->readGear(s, sim->m, d, g->joint) == mjgNSENSOR) {
    values.friction = s[mjgSENSOR_FRICTION] + nativeFriction(d, g);
    values.lambda = s[mjgSENSOR_LAMBDA];
    values.torque_in = s[mjgSENSOR_TORQUE_IN];
    values.torque_out = s[mjgSENSOR_TORQUE_OUT];
    values.mode = (int)s[mjgSENSOR_MODE];
    values.state = (int)s[mjgSENSOR_STATE];
    values.power_loss = s[mjgSENSOR_POWER_LOSS];

    // friction acts on the velocity at the end of the step, which its power gives; without power it
    // is shown unchanged
    double t = s[mjgSENSOR_FRICTION];
    values.slip = values.mode == 0 ? 0 : t != 0 ? values.power_loss / t : values.velocity;
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

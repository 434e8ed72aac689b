#include "sensor.h"

#include "gears.h"


// is a sensor one of ours
static int isOurs(const mjModel* m, int sensor, int slot) {
  int instance = m->sensor_type[sensor] == mjSENS_PLUGIN ? m->sensor_plugin[sensor] : -1;
  return instance >= 0 && m->plugin[instance] == slot;
}


int mjgp_nsensordata(const mjModel* m, int instance, int sensor) {
  int one = m->sensor_objtype[sensor] == mjOBJ_JOINT;
  return mjgNSENSOR * (one ? 1 : mjgp_countJoints(m, instance));
}


int mjgp_checkSensors(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                      int slot) {
  int count = 0;
  for (int s = 0; s < m->nsensor; s++) {
    if (!isOurs(m, s, slot)) {
      continue;
    }
    count++;

    // nothing named: all joints of the instance; else one of them
    int instance = m->sensor_plugin[s], type = m->sensor_objtype[s], known = 0;
    for (int i = 0; i < n && !known; i++) {
      known = joint[i].instance == instance && joint[i].joint == m->sensor_objid[s];
    }
    if (type != mjOBJ_UNKNOWN && (type != mjOBJ_JOINT || !known)) {
      const char* name = mj_id2name(m, mjOBJ_SENSOR, s);
      const char* owner = mj_id2name(m, mjOBJ_PLUGIN, instance);
      const char* object = mj_id2name(m, type, m->sensor_objid[s]);
      mjg_refuse(report,
                 mjgpNAME
                 ", sensor '%.60s': %s '%.60s' is not a geared joint of instance '%.60s'; name a "
                 "joint of its key 'joint', or leave objtype and objname out for all of them",
                 name ? name : "", mju_type2Str(type), object ? object : "", owner ? owner : "");
    }
  }
  return count;
}


void mjgp_measure(mjtNum* value, const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  // torques as the law has them, with the acceleration over the step
  mjtNum a = (g->v_next[i] - g->v[i]) / m->opt.timestep;
  mjtNum u = g->tau[i] - g->inertia[i] * a;
  value[mjgSENSOR_FRICTION] = g->t[i];
  value[mjgSENSOR_LAMBDA] = g->lambda[i];
  value[mjgSENSOR_TORQUE_IN] = u;
  value[mjgSENSOR_TORQUE_OUT] = u - g->t[i];
  value[mjgSENSOR_MODE] = g->mode[i];
  value[mjgSENSOR_POWER_LOSS] = g->t[i] * g->v_next[i];

  // without backlash the rotor is the joint
  value[mjgSENSOR_GAP] = 0;
  value[mjgSENSOR_ROTOR_ANGLE] = d->qpos[g->joint[i].qpos];
  value[mjgSENSOR_ROTOR_VELOCITY] = d->qvel[g->joint[i].dof];

  // of the solver, the same for all joints
  value[mjgSENSOR_ITERATIONS] = g->info.iterations;
  value[mjgSENSOR_RESIDUAL] = g->info.residual;
  value[mjgSENSOR_STATUS] = g->info.status;
  value[mjgSENSOR_FALLBACKS] = g->count.fallbacks;
}


void mjgp_writeSensors(const mjgpGears* g, const mjModel* m, mjData* d) {
  if (!g->nsensor || (m->opt.disableflags & mjDSBL_SENSOR)) {
    return;
  }
  int slot = m->plugin[g->leader];
  for (int s = 0; s < m->nsensor; s++) {
    if (!isOurs(m, s, slot)) {
      continue;
    }
    mjtNum* data = d->sensordata + m->sensor_adr[s];
    int one = m->sensor_objtype[s] == mjOBJ_JOINT;
    for (int k = 0; k < g->nactive; k++) {
      int i = g->active[k];
      if (g->joint[i].instance == m->sensor_plugin[s] &&
          (!one || g->joint[i].joint == m->sensor_objid[s])) {
        mjgp_measure(data + (one ? 0 : mjgNSENSOR * g->joint[i].index), g, m, d, i);
      }
    }

    // the engine's cutoff, which acts on every number
    mjtNum cutoff = m->sensor_cutoff[s];
    for (int k = 0; cutoff > 0 && k < m->sensor_dim[s]; k++) {
      data[k] = mju_clip(data[k], -cutoff, cutoff);
    }
  }
}

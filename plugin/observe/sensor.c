#include "observe/sensor.h"

#include "gear/backlash.h"
#include "gear/friction.h"
#include "state/gears.h"


// Returns the state of a joint (mjgpGEAR_*) from its measured values.
static int stateOf(const mjgpGears* g, int i, const mjtNum value[mjgNSENSOR]) {
  if (mjgp_hasGap(g->config->joint + i) && value[mjgSENSOR_TORQUE_OUT] == 0) {
    return mjgpGEAR_IN_GAP;
  }

  // the motor drives the link, or the link the gear, alone or with the motor
  mjtNum direction = value[mjgSENSOR_MODE];
  if (direction != 0) {
    int driven = direction * value[mjgSENSOR_TORQUE_OUT] < 0;
    int both = driven && direction * value[mjgSENSOR_TORQUE_IN] > 0;
    return both ? mjgpGEAR_DRIVEN_BY_BOTH : driven ? mjgpGEAR_DRIVEN : mjgpGEAR_DRIVING;
  }
  return mjgp_isLocked(g, i) ? mjgpGEAR_LOCKED : mjgpGEAR_STUCK;
}


void mjgp_measure(mjtNum* value, const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  // torques of the law, with the acceleration over the step
  const mjgpJoint* joint = g->config->joint + i;
  mjtNum u = g->out.u[i];
  value[mjgSENSOR_FRICTION] = g->out.t[i];
  value[mjgSENSOR_LAMBDA] = g->out.lambda[i];
  value[mjgSENSOR_TORQUE_IN] = u;
  value[mjgSENSOR_TORQUE_OUT] = u - value[mjgSENSOR_FRICTION];
  value[mjgSENSOR_MODE] = g->out.mode[i];
  value[mjgSENSOR_POWER_LOSS] =
      value[mjgSENSOR_FRICTION] * mjgp_slip(g, i, g->out.v_next[i], g->out.t[i]);
  value[mjgSENSOR_GAP] = 0;

  // the gap's gear and rotor belong to the other joint
  if (mjgp_hasGap(joint)) {
    const mjgCouplingStep* step = g->out.gap + i;
    value[mjgSENSOR_FRICTION] = step->friction;
    value[mjgSENSOR_LAMBDA] = step->lambda;
    value[mjgSENSOR_TORQUE_IN] = step->T + step->friction;
    value[mjgSENSOR_TORQUE_OUT] = step->T;
    value[mjgSENSOR_POWER_LOSS] = step->friction * step->velocity;
    value[mjgSENSOR_GAP] = step->theta_b;
  }
  mjgp_rotorMotion(value + mjgSENSOR_ROTOR_ANGLE, value + mjgSENSOR_ROTOR_VELOCITY, g, m, d, i);
  value[mjgSENSOR_STATE] = stateOf(g, i, value);

  // results of the solver, the same for all joints
  value[mjgSENSOR_ITERATIONS] = g->out.info.iterations;
  value[mjgSENSOR_RESIDUAL] = g->out.info.residual;
  value[mjgSENSOR_STATUS] = g->out.info.status;
  value[mjgSENSOR_FALLBACKS] =
      d->plugin_state[g->config->system + mjgpSYSTEM_FALLBACKS] + g->out.info.fallbacks;
}


// Returns the next sensor of the plugin after s; nsensor if none, or sensors are disabled.
static inline int nextSensor(const mjgpGears* g, const mjModel* m, int s) {
  int nsensor = (int)m->nsensor;
  if (!g->config->nsensor || (m->opt.disableflags & mjDSBL_SENSOR)) {
    return nsensor;
  }
  do {
    s++;
  } while (s < nsensor && !mjgp_isOurSensor(m, s, m->plugin[g->config->leader]));
  return s;
}


void mjgp_writeStatus(const mjgpGears* g, const mjModel* m, mjData* d) {
  for (int s = -1; (s = nextSensor(g, m, s)) < m->nsensor;) {
    d->sensordata[m->sensor_adr[s] + mjgSENSOR_STATUS] = g->out.info.status;
  }
}


void mjgp_writeSensors(const mjgpGears* g, const mjModel* m, mjData* d) {
  for (int s = -1; (s = nextSensor(g, m, s)) < m->nsensor;) {
    // the values of a sleeping joint stay
    int i = mjgp_sensorJoint(m, g->config->joint, g->config->n, s), awake = 0;
    for (int k = 0; k < g->in.nactive && !awake; k++) {
      awake = g->in.active[k] == i;
    }
    mjtNum* data = d->sensordata + m->sensor_adr[s];
    if (awake) {
      mjgp_measure(data, g, m, d, i);
    }

    // the engine's cutoff, which acts on every number
    mjtNum cutoff = m->sensor_cutoff[s];
    for (int k = 0; cutoff > 0 && awake && k < mjgNSENSOR; k++) {
      data[k] = mju_clip(data[k], -cutoff, cutoff);
    }
  }
}

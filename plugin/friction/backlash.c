#include "friction/backlash.h"

#include "configuration/jacobian.h"
#include "friction/friction.h"
#include "state/layout.h"


// number k of the state of a joint's gap
static inline mjtNum* gapState(const mjgpGears* g, const mjData* d, int i, int k) {
  return d->plugin_state + g->config->gap[i] + k * g->config->stride[i];
}


//---------------------------------- one step ------------------------------------------------------

void mjgp_makeCoupling(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpJoint* joint = g->in.joint[i];
  mjgCoupling* c = g->in.coupling + i;
  const mjtNum* state = d->plugin_state + g->config->gap[i];
  mjtNum h = m->opt.timestep;
  int stride = g->config->stride[i];
  c->law = &joint->backlash;
  c->h = h;

  // the sides: a rotor, or two joints
  mjtNum inverse =
      joint->dof < 0 ? m->tendon_invweight0[joint->tendon] : m->dof_invweight0[joint->dof];
  if (joint->gap == mjgpGAP_ROTOR) {
    c->theta_d = state[mjgpGAP_ANGLE * stride];
    c->omega_d = state[mjgpGAP_RATE * stride];
    c->inertia = joint->rotor_inertia;
    c->velocity = g->in.v[i] + c->omega_d;
    c->torque = g->in.motor[i];

    // gains and dampers act on the rotor; those of a servo that measures the joint are
    // explicit
    if (joint->encoder == mjgpENCODER_MOTOR) {
      c->inertia += g->in.implicit[i] + g->in.shared[i];
      c->torque -= g->in.drag[i] * c->velocity;
    } else {
      c->torque = g->in.tau[i];
    }
    c->gamma_u = g->in.gamma_u[i];
    c->gamma_v = g->in.gamma_v[i];
    c->coulomb = g->in.coulomb[i];
    c->static_ratio = g->in.static_ratio[i];
    inverse += 1 / joint->rotor_inertia;
  } else {
    const mjgpJoint* motor = g->config->joint + joint->partner;
    c->inertia = 0;
    c->theta_d = d->qpos[motor->qpos] - g->in.q[i];
    c->omega_d = g->in.v[i];
    inverse += m->dof_invweight0[motor->dof];
  }
  c->yield = h * inverse;
  c->blend = mjg_couplingBlend(c->law, c->yield, h);

  // the gap
  if (state[mjgpGAP_STARTED * stride] != 0) {
    c->theta_b = state[mjgpGAP_POSITION * stride];
    c->omega_s = state[mjgpGAP_TWIST * stride];
  } else {
    mjg_couplingRest(&c->theta_b, &c->omega_s, c->law, c->theta_d, c->omega_d);
  }
}


int mjgp_areGapsNew(const mjgpGears* g, const mjData* d) {
  int started = 0;
  for (int i = 0; i < g->config->n; i++) {
    started |= mjgp_hasGap(g->config->joint + i) && *gapState(g, d, i, mjgpGAP_STARTED) != 0;
  }
  return !started;
}


void mjgp_advanceGap(const mjgpGears* g, const mjModel* m, mjData* d, int i) {
  const mjgCouplingStep* step = g->out.gap + i;
  mjtNum* state = d->plugin_state + g->config->gap[i];
  int stride = g->config->stride[i];
  state[mjgpGAP_STARTED * stride] = 1;
  state[mjgpGAP_POSITION * stride] = step->theta_b;
  state[mjgpGAP_TWIST * stride] = step->omega_s;
  if (g->config->joint[i].gap == mjgpGAP_ROTOR) {
    mjtNum rate = step->velocity - mjgp_mulRow(g->in.E[i], d->qvel);
    state[mjgpGAP_RATE * stride] = rate;
    state[mjgpGAP_ANGLE * stride] += m->opt.timestep * rate;
  }
}


//---------------------------------- what the motor sees -------------------------------------------

// what an encoder on the rotor of gear i, -1: none, measures of actuator k besides;
// scale: length of the actuator per position of the gear
static inline void addRotor(const mjgpGears* g, const mjModel* m, mjData* d, int k, int i,
                            mjtNum scale) {
  const mjgpJoint* joint = i < 0 ? NULL : g->config->joint + i;
  if (joint && joint->gap == mjgpGAP_ROTOR && joint->encoder == mjgpENCODER_MOTOR &&
      mjgp_isAwake(m, d, g->in.E[i].dof[0])) {
    int adr = m->actuator_outadr[k];
    d->actuator_length[adr] += scale * *gapState(g, d, i, mjgpGAP_ANGLE);
    d->actuator_velocity[adr] += scale * *gapState(g, d, i, mjgpGAP_RATE);
  }
}


void mjgp_addEncoder(const mjgpGears* g, const mjModel* m, mjData* d, int sign) {
  for (int k = 0; k < m->nactuator && g->config->encoders; k++) {
    int id = m->actuator_trnid[2 * k];
    mjtNum gear = sign * m->actuator_gear[6 * m->actuator_outadr[k]];
    if (m->actuator_trntype[k] == mjTRN_JOINT) {
      addRotor(g, m, d, k, g->config->geared[m->jnt_dofadr[id]], gear);
    } else if (m->actuator_trntype[k] == mjTRN_TENDON && g->config->tendon[id] >= 0) {
      addRotor(g, m, d, k, g->config->tendon[id], gear);
    } else if (m->actuator_trntype[k] == mjTRN_TENDON) {
      // the rotors that a tendon without a gear of its own drives
      int first = m->ten_J_rowadr[id], end = first + m->ten_J_rownnz[id];
      for (int p = first; p < end; p++) {
        addRotor(g, m, d, k, g->config->geared[m->ten_J_colind[p]], gear * d->ten_J[p]);
      }
    }
  }
}


mjtNum mjgp_rotorAngle(const mjgpGears* g, const mjData* d, int i) {
  const mjgpJoint* joint = g->config->joint + i;
  mjtNum q = mjgp_position(d, joint);
  switch (joint->gap) {
    case mjgpGAP_ROTOR:
      return q + *gapState(g, d, i, mjgpGAP_ANGLE);
    case mjgpGAP_LOAD:
      return d->qpos[g->config->joint[joint->partner].qpos];
    default:
      return q;
  }
}


mjtNum mjgp_rotorVelocity(const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpJoint* joint = g->config->joint + i;
  mjtNum v = mjgp_mulRow(mjgp_row(m, d, joint), d->qvel);
  switch (joint->gap) {
    case mjgpGAP_ROTOR:
      return v + *gapState(g, d, i, mjgpGAP_RATE);
    case mjgpGAP_LOAD:
      return d->qvel[g->config->joint[joint->partner].dof];
    default:
      return v;
  }
}

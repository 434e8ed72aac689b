#include "gear/backlash.h"

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/friction.h"
#include "state/layout.h"


// Returns number k of the state of a joint's gap.
static inline mjtNum* gapState(const mjgpGears* g, const mjData* d, int i, int k) {
  return d->plugin_state + g->config->gap[i] + k * g->config->stride[i];
}


//---------------------------------- one step ------------------------------------------------------

void mjgp_makeCoupling(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpJoint* joint = g->in.joint[i];
  const mjgpGearInput* in = g->in.gear + i;
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
    c->theta_d = state[mjgpGAPSTATE_ANGLE * stride];
    c->omega_d = state[mjgpGAPSTATE_RATE * stride];
    c->inertia = joint->rotor_inertia;
    c->velocity = in->v + c->omega_d;
    c->torque = in->motor;

    // gains and dampers act on the rotor; a servo that measures the joint is explicit
    if (joint->encoder == mjgpENCODER_MOTOR) {
      c->inertia += in->implicit + in->shared;
      c->torque -= in->drag * c->velocity;
    } else {
      c->torque = in->tau;
    }
    c->gamma_u = in->gamma_u;
    c->gamma_v = in->gamma_v;
    c->coulomb = in->coulomb;
    c->static_ratio = in->static_ratio;
    inverse += 1 / joint->rotor_inertia;
  } else {
    const mjgpJoint* motor = g->config->joint + joint->partner;
    c->inertia = 0;
    c->theta_d = d->qpos[motor->qpos] - in->q;
    c->omega_d = in->v;
    inverse += m->dof_invweight0[motor->dof];
  }
  c->yield = h * inverse;
  c->blend = mjg_couplingBlend(c->law, c->yield, h);

  // the gap
  if (state[mjgpGAPSTATE_STARTED * stride] != 0) {
    c->theta_b = state[mjgpGAPSTATE_POSITION * stride];
    c->omega_s = state[mjgpGAPSTATE_TWIST * stride];
  } else {
    mjg_couplingRest(&c->theta_b, &c->omega_s, c->law, c->theta_d, c->omega_d);
  }
}


int mjgp_areGapsNew(const mjgpGears* g, const mjData* d) {
  int started = 0;
  for (int i = 0; i < g->config->n; i++) {
    started |= mjgp_hasGap(g->config->joint + i) && *gapState(g, d, i, mjgpGAPSTATE_STARTED) != 0;
  }
  return !started;
}


void mjgp_advanceGap(const mjgpGears* g, const mjModel* m, mjData* d, int i) {
  const mjgCouplingStep* step = g->out.gap + i;
  mjtNum* state = d->plugin_state + g->config->gap[i];
  int stride = g->config->stride[i];
  state[mjgpGAPSTATE_STARTED * stride] = 1;
  state[mjgpGAPSTATE_POSITION * stride] = step->theta_b;
  state[mjgpGAPSTATE_TWIST * stride] = step->omega_s;
  if (g->config->joint[i].gap == mjgpGAP_ROTOR) {
    mjtNum rate = step->velocity - mjgp_mulRow(g->in.E[i], d->qvel);
    state[mjgpGAPSTATE_RATE * stride] = rate;
    state[mjgpGAPSTATE_ANGLE * stride] += m->opt.timestep * rate;
  }
}


//---------------------------------- encoders on rotors --------------------------------------------

// Add the rotor's displacement to the measurement of force output out. scale: length of
// the actuator per position of the gear.
static inline void addRotor(const mjgpGears* g, const mjModel* m, mjData* d, int out, int i,
                            mjtNum scale) {
  const mjgpJoint* joint = g->config->joint + i;
  if (joint->gap == mjgpGAP_ROTOR && joint->encoder == mjgpENCODER_MOTOR &&
      mjgp_isAwake(m, d, g->in.E[i].dof[0])) {
    d->actuator_length[out] += scale * *gapState(g, d, i, mjgpGAPSTATE_ANGLE);
    d->actuator_velocity[out] += scale * *gapState(g, d, i, mjgpGAPSTATE_RATE);
  }
}


void mjgp_addEncoder(const mjgpGears* g, const mjModel* m, mjData* d, int sign) {
  const mjgpConfig* c = g->config;
  for (int k = 0; k < m->nactuator && c->encoders; k++) {
    int first = m->actuator_outadr[k], gear = c->motors.drive[k];
    if (gear >= 0) {
      addRotor(g, m, d, first, gear, sign * m->actuator_gear[6 * first]);
    }
    for (int out = first; out < first + m->actuator_outnum[k] && gear < 0; out++) {
      for (int p = d->moment_rowadr[out]; p < d->moment_rowadr[out] + d->moment_rownnz[out]; p++) {
        int i = c->geared[d->moment_colind[p]];
        if (i >= 0 && mjgp_isMotor(&c->motors, k, c->joint, i)) {
          addRotor(g, m, d, out, i, sign * d->actuator_moment[p]);
        }
      }
    }
  }
}


void mjgp_rotorMotion(mjtNum* angle, mjtNum* velocity, const mjgpGears* g, const mjModel* m,
                      const mjData* d, int i) {
  const mjgpJoint* joint = g->config->joint + i;
  if (joint->gap == mjgpGAP_LOAD) {
    joint = g->config->joint + joint->partner;
  }
  *angle = mjgp_position(d, joint);
  *velocity = mjgp_mulRow(mjgp_row(m, d, joint), d->qvel);
  if (joint->gap == mjgpGAP_ROTOR) {
    *angle += *gapState(g, d, i, mjgpGAPSTATE_ANGLE);
    *velocity += *gapState(g, d, i, mjgpGAPSTATE_RATE);
  }
}

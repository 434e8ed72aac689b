#include "model/evaluation.h"

#include <string.h>

#include "configuration/engine.h"
#include "gear/backlash.h"
#include "gear/friction.h"


// Run the stages after mj_fwdVelocity. Under "discrete" the metric and the regularization depend
// on which actuators are at their limits, and the engine computes them after the callback.
// Options without solver iterations are set in a copy, since threads share the model.
static void forward(const mjModel* m, mjData* d, int actuated) {
  mjModel copy = *m;
  copy.opt.solver = m->opt.solver == mjSOL_PGS ? mjSOL_PGS : mjSOL_CG;
  copy.opt.tolerance = 1e30;
  copy.opt.noslip_iterations = 0;
  copy.opt.disableflags |= mjDSBL_WARMSTART;
  if (actuated) {
    mj_forwardSkip(&copy, d, mjSTAGE_VEL, 1);
  } else {
    copy.opt.disableflags |= mjDSBL_ACTUATION;
    mj_forwardSkip(&copy, d, mjSTAGE_POS, 1);
  }
}


// The shift of position gains is computed again after the callback, with the velocity of
// joints and not of rotors
static void restoreShift(const mjModel* m, mjData* d) {
#if mjgpDISCRETE
  if (d->nefmA) {
    mju_zero(d->efm_ca, (int)m->nv);
  }
  for (int k = 0; k < d->nefmA; k++) {
    int actuator = d->efm_aid[k], out = m->actuator_outadr[actuator];
    for (int i = out; i < out + m->actuator_outnum[actuator]; i++) {
      for (int p = d->moment_rowadr[i]; p < d->moment_rowadr[i] + d->moment_rownnz[i]; p++) {
        d->efm_ca[d->moment_colind[p]] -=
            d->efm_ak[k] * d->actuator_velocity[i] * d->actuator_moment[p];
      }
    }
  }
#else
  (void)m, (void)d;
#endif
}


// Returns 1 if all actuator forces are known when the engine calls plugins, except for clamping
// and projection to joints.
static int isNearlyDone(const mjgpGears* g, const mjModel* m) {
  int rest = g->config->encoders | g->config->foreign;  // other plugins may give forces
  for (int i = 0; i < m->nactuator; i++) {
    int gain = m->actuator_gaintype[i], bias = m->actuator_biastype[i];
    rest |= (gain > mjGAIN_MUSCLE && gain != mjGAIN_USER) |
            (bias > mjBIAS_MUSCLE && bias != mjBIAS_USER);
  }
  for (int i = 0; i < m->ntendon; i++) {
    rest |= m->tendon_actfrclimited[i];
  }
  for (int i = 0; i < m->njnt; i++) {
    rest |= m->jnt_actgravcomp[i];
  }
  return !rest;
}


// Clamp and project forces. The engine repeats it without effect.
static void finishActuation(const mjModel* m, mjData* d) {
  mjtNum* joint = d->qfrc_actuator;
  mju_zero(joint, (int)m->nv);
  for (int k = 0; k < m->nactuator; k++) {
    const mjtNum* range = m->actuator_forcerange + 2 * k;
    int first = m->actuator_outadr[k], end = first + m->actuator_outnum[k];
    for (int i = first; i < end; i++) {
      mjtNum force = d->actuator_force[i];
      if (m->actuator_forcelimited[k]) {
        force = d->actuator_force[i] = mju_clip(force, range[0], range[1]);
      }
      int adr = d->moment_rowadr[i], after = adr + d->moment_rownnz[i];
      for (int p = adr; p < after; p++) {
        joint[d->moment_colind[p]] += d->actuator_moment[p] * force;
      }
    }
  }
  for (int i = 0; i < m->njnt; i++) {
    if (m->jnt_actfrclimited[i]) {
      mjtNum* force = joint + m->jnt_dofadr[i];
      *force = mju_clip(*force, m->jnt_actfrcrange[2 * i], m->jnt_actfrcrange[2 * i + 1]);
    }
  }
}


// Compute actuator forces, with encoders on rotors.
static void nestActuation(const mjgpGears* g, const mjModel* m, mjData* d) {
  mjgp_addEncoder(g, m, d, 1);
  mj_fwdActuation(m, d);
  mjgp_addEncoder(g, m, d, -1);
}


// Returns the force that the engine adds to a DC motor after the callback, at the
// velocity of its joint: cogging and bristles. The bristles' state follows slew rate,
// integral and temperature in act.
static mjtNum forceBehind(const mjModel* m, const mjData* d, int k) {
  const mjtNum *bias = m->actuator_biasprm + mjNBIAS * k, *dyn = m->actuator_dynprm + mjNDYN * k;
  int group = m->actuator_group[k], adr = d->moment_rowadr[m->actuator_outadr[k]];
  int off = group >= 0 && group <= 30 && m->opt.disableactuator >> group & 1;
  off |= !d->moment_rownnz[m->actuator_outadr[k]] || !mjgp_isAwake(m, d, d->moment_colind[adr]);
  if (m->actuator_biastype[k] != mjBIAS_DCMOTOR || m->actuator_plugin[k] >= 0 || off) {
    return 0;
  }
  mjtNum force =
      bias[0] != 0
          ? bias[0] * mju_sin(bias[1] * d->actuator_length[m->actuator_outadr[k]] + bias[2])
          : 0;
  if (dyn[5] > 0) {
    int state = m->actuator_actadr[k] + (dyn[7] > 0) + (m->actuator_gainprm[mjNGAIN * k + 5] > 0) +
                (dyn[2] > 0);
    force -= dyn[5] * d->act[state] + dyn[6] * d->act_dot[state];
  }
  return force;
}


// Returns actuator forces less the forces that the engine adds after the callback; NULL
// if it adds none.
static mjtNum* takeBehind(const mjModel* m, mjData* d) {
  int any = 0;
  for (int k = 0; k < m->nactuator; k++) {
    any |= m->actuator_biastype[k] == mjBIAS_DCMOTOR;
  }
  if (!any) {
    return NULL;
  }
  mjtNum* given = mj_stackAllocNum(d, (size_t)m->nout);
  mju_copy(given, d->actuator_force, (int)m->nout);
  for (int k = 0; k < m->nactuator; k++) {
    given[m->actuator_outadr[k]] -= forceBehind(m, d, k);
  }
  return given;
}


// Compute the quantities that the engine derives from actuator forces under "discrete":
// by inverse dynamics if the metric need not be factored, else by forward dynamics.
static void derive(mjgpGears* g, const mjModel* m, mjData* d, int actuated, int done) {
  g->in.factored = m->opt.enableflags & (mjENBL_SLEEP | mjENBL_INVDISCRETE);
  if (!g->in.factored) {
    if (actuated && !done) {
      nestActuation(g, m, d);
    }
    mj_inverseSkip(m, d, actuated ? mjSTAGE_VEL : mjSTAGE_POS, 1);
  } else {
    mjgp_addEncoder(g, m, d, 1);
    forward(m, d, actuated);
    mjgp_addEncoder(g, m, d, -1);
    if (g->config->encoders) {
      restoreShift(m, d);
    }
  }
}


mjtNum* mjgp_evaluateActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated) {
  int done = actuated && isNearlyDone(g, m);
  mjtNum* given = NULL;
  g->in.factored = 0;
  if (done) {
    finishActuation(m, d);
  } else if (actuated && !g->config->encoders) {
    given = mj_stackAllocNum(d, (size_t)m->nout);
    mju_copy(given, d->actuator_force, (int)m->nout);
  }
  if (done && !mjgp_isDiscrete(m)) {
    return given;
  }

  // keep the engine's timers unchanged
  mjTimerStat timer[mjNTIMER];
  memcpy(timer, d->timer, sizeof(timer));
  g->nested = 1;
  if (mjgp_isDiscrete(m)) {
    derive(g, m, d, actuated, done);
  } else if (actuated && !done) {
    nestActuation(g, m, d);
  } else if (!actuated) {
    mj_referenceConstraint(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    mj_tendonBias(m, d, d->qfrc_bias);
  }
  memcpy(d->timer, timer, sizeof(timer));
  g->nested = 0;
  return actuated && !done && g->config->encoders ? takeBehind(m, d) : given;
}

#include "gear/friction.h"

#include <math.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "configuration/names.h"
#include "gear/backlash.h"
#include "gear/bound.h"
#include "law/law.h"
#include "model/actuation.h"
#include "state/layout.h"


// Returns the direction in which a gear cannot turn in this step. A ratchet holds at the
// tooth that it passed last. The joint may be behind this tooth by the motion of a step,
// but not by a pitch.
static int findBlocked(mjtNum* tooth, const mjgTransmission* gear, mjtNum q) {
  if (gear->tooth_pitch == 0) {
    return -(int)gear->oneway;
  }
  mjtNum place = gear->oneway * (q - gear->tooth_phase) / gear->tooth_pitch, below = floor(place);
  int holds = place == below || *tooth == 2 * (below + 1) + 1;
  *tooth = place > below && holds ? *tooth : 2 * below + 1;
  return holds ? -(int)gear->oneway : 0;
}


// Returns the travel of a brake from its place without power, 0 to 1; before: in the last step. A
// disabled actuator, or one with control NaN, has no power.
static mjtNum moveBrake(const mjgpBrakeKeys* brake, const mjModel* m, const mjData* d,
                        mjtNum before) {
  int group = m->actuator_group[brake->actuator];
  int off = !mjgp_actuationActive(m) ||
            (group >= 0 && group <= 30 && m->opt.disableactuator >> group & 1);
  mjtNum ctrl = d->ctrl[m->actuator_ctrladr[brake->actuator]];
  mjtNum asked = off || mju_isBad(ctrl) ? 0 : mju_clip(ctrl, 0, 1);
  before = mju_isBad(before) ? 0 : mju_clip(before, 0, 1);  // plugin_state is the program's
  int closes = (asked > before) == (brake->normally == mjgpNORMALLY_OPEN);
  mjtNum time = closes ? brake->closing : brake->opening;
  mjtNum most = time > 0 ? m->opt.timestep / time : 1;
  return before + mju_clip(asked - before, -most, most);
}


// Set the brake or backstop of a gear in this step.
static void makeBrake(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpBrakeKeys* keys = &g->config->joint[i].brake;
  mjgpBrake* brake = g->in.brake + i;
  const mjtNum* state = d->plugin_state + g->config->state[i];
  int stride = g->config->stride[i];
  *brake = (mjgpBrake){.tooth = state[mjgpSTATE_TOOTH * stride]};
  brake->blocked = findBlocked(&brake->tooth, &g->in.joint[i]->gear, g->in.gear[i].q);
  if (keys->actuator >= 0) {
    brake->travel = moveBrake(keys, m, d, state[mjgpSTATE_BRAKE * stride]);
    mjtNum closed = mjgp_closedShare(keys, brake->travel);
    brake->sliding = closed * keys->sliding;
    brake->holding = closed * keys->holding;
    brake->front = keys->side == mjgpSIDE_MOTOR;
  }
}


// Set the parameters of a gear that is not ordinary (mjgp_isOrdinary), beside its
// coefficients.
static void makeOther(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  mjgpGearInput* in = g->in.gear + i;
  const mjgpJoint* joint = g->in.joint[i];
  mjtNum stiffness = joint->gear.presliding_stiffness;
  in->static_ratio = joint->gear.static_ratio;
  in->compliance = stiffness > 0 ? mjg_preslidingCompliance(stiffness, m->opt.timestep) : 0;
  in->ordinary =
      joint->constant ? joint->ordinary : mjgp_isOrdinary(joint, in->gamma_u, in->gamma_v);

  in->braked = joint->brake.actuator >= 0 || joint->gear.oneway != 0;
  if (in->braked) {
    makeBrake(g, m, d, i);
  }
}


void mjgp_makeLaw(mjgpGears* g, const mjModel* m, const mjData* d) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgpGearInput* in = g->in.gear + i;
    const mjgpJoint* joint = g->in.joint[i];
    const mjgTransmission* gear = &joint->gear;

    // friction that depends on the load beyond the law uses the load of steady motion with the
    // last friction
    in->t_last = d->plugin_state[g->config->state[i]];
    if (joint->constant) {
      in->gamma_u = gear->gamma_u;
      in->gamma_v = gear->gamma_v;
      in->coulomb = gear->coulomb;
    } else {
      // a gear in front of a gap turns with its rotor
      mjtNum v = in->v, angle;
      if (joint->gap == mjgpGAP_ROTOR) {
        mjgp_rotorMotion(&angle, &v, g, m, d, i);
      }
      mjg_frictionAt(&in->gamma_u, &in->gamma_v, &in->coulomb, gear, in->q, v, in->tau,
                     in->tau - in->t_last);
    }
    if (!joint->ordinary || !in->ordinary) {
      makeOther(g, m, d, i);
    }
  }
}


int mjgp_isLocked(const mjgpGears* g, int i) {
  const mjgpGearInput* in = g->in.gear + i;
  mjgpBound bound = mjgp_boundOf(&g->in, i, g->out.t[i] > 0 ? 1 : -1, 0);
  return g->out.mode[i] == 0 && !mjgp_hasGap(g->config->joint + i) &&
         mjgi_lawLocked(g->out.t[i], g->out.lambda[i] + bound.shift, in->gamma_v, bound.c,
                        in->static_ratio, in->v);
}


void mjgp_takeMotors(const mjgpGears* g, mjData* d) {
  for (int a = 0; a < g->in.nactive && g->config->rotors; a++) {
    int i = g->in.active[a];
    if (g->config->joint[i].gap == mjgpGAP_ROTOR) {
      mjgp_addRow(d->qfrc_passive, g->in.E[i], -g->in.gear[i].tau);
    }
  }
}


void mjgp_applyFriction(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* t) {
  const mjgpConfig* config = g->config;
  const mjtNum* base = g->in.base;
  mjtNum* passive = d->qfrc_passive;
  for (int k = 0; k < config->ndof; k++) {
    int dof = config->dof[k];
    if (mjgp_isAwake(m, d, dof)) {
      passive[dof] = base[dof];
    }
  }
  mjgp_takeMotors(g, d);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgp_addRow(passive, g->in.E[i], -t[i]);
  }
}


void mjgp_recordSolve(mjgpGears* g, const mjModel* m, const mjData* d, int status, int worst) {
  // report the worst problem of a step
  const mjgInfo* last = &g->out.last_info;
  g->out.info.iterations = mjMAX(g->out.info.iterations, last->iterations);
  g->out.info.factorizations += last->factorizations;
  g->out.info.fallbacks += last->fallbacks;
  g->out.info.residual = mju_max(g->out.info.residual, last->residual);
  if (status < 0 || (g->out.info.status >= 0 && status > g->out.info.status)) {
    g->out.info.status = status;
  }

  g->count.steps++;
  g->count.solved += status == mjgSOLVED;
  g->count.iterations += last->iterations;
  g->count.fallbacks += last->fallbacks;
  g->count.unsolved += status < mjgSOLVED || status > mjgJAMMED;
  if (status == mjgITERATION_LIMIT) {
    const mjgpJoint* joint = worst >= 0 ? g->config->joint + worst : NULL;
    const char* name = joint ? mjgp_gearName(m, joint) : NULL;
    mjgp_warn(g, mjgpWARN_UNSOLVED,
              "at time %g: %s (relative residual %g, %s '%.60s'). Further occurrences are "
              "counted, not reported",
              d->time, mjg_statusString(status), last->residual,
              joint ? mjgp_gearKind(joint) : "joint", name ? name : "");
  }
}

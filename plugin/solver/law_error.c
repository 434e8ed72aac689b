#include "solver/law_error.h"

#include <math.h>

#include "backlash/backlash.h"
#include "configuration/jacobian.h"
#include "gear/bound.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "law/law.h"


//---------------------------------- joints at a(t) -------------------------------------------------

// Returns the velocity of joint i after the step at s->acc.
static mjtNum jointVelocity(const mjgpStep* s, int i) {
  return s->g->in.gear[s->group->joint[i]].v + s->m->opt.timestep * s->acc[i];
}


mjtNum mjgp_stepSize(const mjgpStep* s, int i) {
  mjtNum own = mjgp_delassus(s, i, i);
  if (own > 0) {
    return own;
  }
  return mju_max(-own,
                 mjgpLEAST / mjgp_restInertia(s->m, s->g->config->joint + s->group->joint[i]));
}


// Returns the velocity of slip of joint i with friction t.
static mjtNum slipVelocity(const mjgpStep* s, int i, mjtNum t) {
  return mjgp_slip(s->g, s->group->joint[i], jointVelocity(s, i), t);
}


// Returns 1 if joint i has a gap.
static int hasGap(const mjgpStep* s, int i) {
  return mjgp_hasGap(s->g->config->joint + s->group->joint[i]);
}


// Returns the distance of friction and velocity from the graph of the law, relative to the scales
// torque and velocity: friction at a bound with motion its way, or rest between the bounds, where
// friction balances and the scale is torque + held.
static mjtNum graphDistance(mjtNum t, mjtNum v, mjtNum low, mjtNum high, mjtNum torque, mjtNum held,
                            mjtNum velocity) {
  mjtNum above = mju_max(mju_abs(t - high) / torque, mju_max(0, -v) / velocity);
  mjtNum below = mju_max(mju_abs(t - low) / torque, mju_max(0, v) / velocity);
  mjtNum off = mju_abs(t - mju_clip(t, low, high)) / (torque + held);
  mjtNum rest = mju_max(off, mju_abs(v) / velocity);
  return mju_min(rest, mju_min(above, below));
}


// Returns 1 if T is the torque of a shaft's law at the velocity v of its joint, or of the motor
// relative to it, or within a jump at v.
static int isTorqueOf(const mjgCoupling* c, mjtNum T, mjtNum v, mjtNum velocity, mjtNum torque) {
  mjgCouplingStep step;
  mjtNum bound[2];
  mjg_couplingResolve(&step, c, v, 0);
  if (mju_abs(step.T - T) <= mjgpLAW * torque) {
    return 1;
  }
  for (int k = 0; k < 2; k++) {
    mjg_couplingResolve(&step, c, v + (k ? 1 : -1) * mjgpLAW * velocity, 0);
    bound[k] = step.T;
  }
  return T <= mju_max(bound[0], bound[1]) + mjgpLAW * torque &&
         T >= mju_min(bound[0], bound[1]) - mjgpLAW * torque;
}


// Returns 1 if shaft torque and momentum of a rotor fit its motion relative to its joint, which
// moves at v. The torque may be within a jump at this motion.
static int isStepOf(const mjgCoupling* c, const mjgCouplingStep* step, mjtNum v, mjtNum h,
                    mjtNum velocity, mjtNum torque) {
  mjgiGap gap = mjgi_makeGap(c, 0);
  mjtNum w, slope, bound[2], tolerance = mjgpLAW * torque;
  mjtNum mean = gap.eta * (step->velocity - v) + (1 - gap.eta) * gap.omega_d;
  for (int k = 0; k < 2; k++) {
    bound[k] = mjgi_solveGap(&w, &slope, &gap, mean + (k ? 1 : -1) * mjgpLAW * velocity, 0);
  }
  mjtNum left =
      c->torque - step->T - step->friction - c->inertia / h * (step->velocity - c->velocity);
  return step->T <= mju_max(bound[0], bound[1]) + tolerance &&
         step->T >= mju_min(bound[0], bound[1]) - tolerance && mju_abs(left) <= tolerance;
}


// The same of a rotor behind a gap. v: velocity of the joint.
static mjtNum rotorDistance(const mjgpStep* s, int joint, mjtNum v) {
  const mjgCoupling* c = s->g->in.coupling + joint;
  const mjgCouplingStep* step = s->g->out.gap + joint;
  mjtNum h = s->m->opt.timestep, ratio = mju_max(1, c->static_ratio);
  mjtNum up = step->mode ? 1 : mjgi_lawRatio(ratio, c->velocity, 1);
  mjtNum down = step->mode ? 1 : mjgi_lawRatio(ratio, c->velocity, -1);
  mjtNum velocity = mju_abs(c->velocity) + mju_abs(step->velocity) +
                    h / c->inertia * (mju_abs(c->torque) + mju_abs(step->T)) + mjMINVAL;
  mjtNum torque = c->inertia / h * velocity + mju_abs(step->lambda) + c->coulomb;

  if (!isStepOf(c, step, v, h, velocity + mju_abs(v), torque) &&
      !isTorqueOf(c, step->T, v, velocity + mju_abs(v) + s->g->out.cancellation[joint], torque)) {
    return 1;
  }
  return graphDistance(step->friction, step->velocity,
                       -mjgi_lawBound(step->lambda, c->coulomb, down),
                       mjgi_lawBound(step->lambda, c->coulomb, up), torque, 0, velocity);
}


// The same of the shaft between a motor and its load i.
static mjtNum shaftDistance(const mjgpStep* s, int i) {
  const mjgpGears* g = s->g;
  int joint = s->group->joint[i], motor = g->config->joint[joint].partner;
  mjtNum T = g->out.t[joint], v = jointVelocity(s, i);
  mjtNum velocity = mju_abs(v) + g->out.cancellation[joint] + mjMINVAL;
  mjtNum torque = mju_abs(T) + mju_abs(g->out.t[motor]) + mju_abs(g->in.gear[motor].tau) + mjMINVAL;
  return isTorqueOf(g->in.coupling + joint, T, v, velocity, torque) ? 0 : 1;
}


// Returns the largest distance of a joint from the law. size (nullable): torque at each joint of
// which round-off is mjgpLAW; held: the same of a joint at rest, whose friction balances the system
// (mjgp_nextPiece). fastest: velocity to which the round-off of all joints is relative.
static mjtNum farthest(const mjgpStep* s, int* worst, const mjtNum* size, mjtNum held,
                       mjtNum fastest) {
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep, most = 0;
  *worst = s->n ? s->group->joint[0] : -1;
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    if (s->gaps && hasGap(s, i)) {
      // with W < 0 the core may have no solution for the rotor's step
      int rotor = g->config->joint[joint].gap == mjgpGAP_ROTOR;
      mjtNum error = rotor ? rotorDistance(s, joint, jointVelocity(s, i)) : shaftDistance(s, i);
      *worst = error > most ? joint : *worst;
      most = mju_max(most, error);
      continue;
    }

    const mjgpGearInput* in = g->in.gear + joint;
    mjtNum t = g->out.t[joint];
    mjtNum v = slipVelocity(s, i, t), open = mjgpZERO * g->out.rounding[joint];
    mjtNum u = mjgp_torqueIn(s, i);
    mjtNum lambda = mjgi_lawLoad(in->gamma_u, in->gamma_v, u, t);
    v -= open > 0 ? mju_clip(v, -open, open) : 0;

    // a slipping joint has the sliding bound, a stuck one may have the static bound
    int mode = g->out.mode[joint];
    mjgpBound up = mjgp_boundOf(&g->in, joint, 1, mode),
              down = mjgp_boundOf(&g->in, joint, -1, mode);
    mjtNum high = mjgi_lawBound(lambda + up.shift, up.c, up.r);
    mjtNum low = -mjgi_lawBound(lambda + down.shift, down.c, down.r);
    mjtNum velocity =
        g->out.cancellation[joint] + mju_abs(v) + in->compliance * mju_abs(t) + fastest;
    mjtNum torque = mju_abs(t) + mju_abs(lambda) + in->coulomb + mju_abs(in->tau) +
                    in->inertia * velocity / h + (size ? size[i] : 0);

    int rests = mju_abs(v) <= mjgpSUMMED * velocity && low <= t && t <= high;
    if (rests || mju_abs(t - (v > 0 ? high : low)) <= mjgpSUMMED * torque) {
      continue;
    }
    mjtNum error = graphDistance(t, v, low, high, torque, held, velocity);
    if (!(error <= most)) {
      most = error;
      *worst = joint;
      if (isnan(most)) {
        return 1;
      }
    }
  }
  return most;
}


mjtNum mjgp_lawError(mjgpStep* s, int* worst) {
  mjtNum error = farthest(s, worst, NULL, 0, 0);
  if (error <= mjgpLAW) {
    return error;
  }

  // a joint without torque and motion has the round-off of its neighbours
  const mjgpGroup* group = s->group;
  mjtNum fastest = 0, largest = 0;
  mj_markStack(s->d);
  mjtNum* size = mj_stackAllocNum(s->d, 2 * (size_t)s->n);
  mjtNum* t = size + s->n;
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    t[i] = s->g->out.t[joint];
    fastest = mju_max(fastest, s->g->out.cancellation[joint]);
    largest =
        mju_max(largest, mju_abs(t[i]) + mju_abs(group->force[group->E_dof[group->E_adr[i]]]));
  }
  mjgp_gradient(group, s->gradient, s->rounding, s->a, t);
  for (int i = 0; i < s->n; i++) {
    size[i] = mjMINVAL;
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      mjtNum row = mju_abs(group->E[k]);
      size[i] += row > 0 ? mjgpZERO / mjgpLAW * s->rounding[group->E_dof[k]] / row : 0;
    }
  }
  error =
      farthest(s, worst, size, mjgpFACTORED / mjgpLAW * largest, mjgpCLOSE * fastest + mjMINVAL);
  mj_freeStack(s->d);
  return error;
}

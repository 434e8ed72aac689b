#include "gear/shafts.h"

#include <math.h>

#include "configuration/jacobian.h"
#include "gear/bound.h"
#include "gear/friction.h"
#include "gear/tolerances.h"


//---------------------------------- one shaft -----------------------------------------------------

int mjgp_isBranched(const mjgpGears* g, int i) {
  const mjgpGearInput* in = g->in.gear + i;
  return g->config->gaps && mjgp_hasGap(g->config->joint + i) && !in->ordinary &&
         !(mjgp_isDriven(in->gamma_u, in->gamma_v) && in->static_ratio <= 1);
}


// Evaluate torque and tangent at acceleration a.
static void evaluate(mjgpShaft* s, mjtNum a) {
  mjgi_resolveAgain(&s->step, &s->rate, s->coupling, &s->gap, s->v + s->h * a, 0);
  s->a = a;
  s->t = s->sign * s->step.T - s->misplaced * a;
  s->slope = s->sign * s->h * s->step.dT - s->misplaced;
}


void mjgp_makeShaft(mjgpShaft* shaft, const mjgpGears* g, const mjModel* m, int i, mjtNum a) {
  int rotor = g->config->joint[i].gap == mjgpGAP_ROTOR;
  shaft->coupling = g->in.coupling + i;
  shaft->gap = mjgi_makeGap(shaft->coupling, 0);
  shaft->h = m->opt.timestep;
  shaft->v = g->in.gear[i].v;
  shaft->sign = rotor ? -1 : 1;
  shaft->misplaced = rotor ? g->in.gear[i].misplaced : 0;
  shaft->branched = mjgp_isBranched(g, i);

  // start on the piece of the last step
  shaft->step = (mjgCouplingStep){.mode = g->out.mode[i], .lambda = g->out.load[i]};
  evaluate(shaft, a);
}


mjtNum mjgp_shaftSize(const mjgpShaft* shaft) {
  mjtNum stiff = mju_abs(shaft->step.dT);
  return mju_abs(shaft->step.T) +
         stiff * (mju_abs(shaft->coupling->velocity) + mju_abs(shaft->coupling->omega_d)) +
         (stiff * shaft->h + shaft->misplaced) * mju_abs(shaft->a);
}


mjtNum mjgp_moveShaft(mjgpShaft* shaft, mjtNum a) {
  mjtNum guess = shaft->t + shaft->slope * (a - shaft->a), stiff = mju_abs(shaft->step.dT);
  mjtNum size = mjgp_shaftSize(shaft) + (stiff * shaft->h + shaft->misplaced) * mju_abs(a);
  evaluate(shaft, a);
  mjtNum error = mju_abs(shaft->t - guess);
  return error > 0 ? error / (size + mju_abs(shaft->step.T)) : 0;
}


// Move past the end of a piece by its round-off, in direction 1 or -1.
static void pass(mjgpShaft* shaft, int direction) {
  mjtNum size = mju_abs(shaft->a) + mju_abs(shaft->v) / shaft->h;
  evaluate(shaft, shaft->a + direction * mjgpFACTORED * size);
}


int mjgp_findJump(mjgpShaft* shaft, mjgpShaft* beyond, mjtNum low, mjtNum high) {
  mjgpShaft from = *shaft, to = *shaft, between = *shaft;
  evaluate(&from, low);
  evaluate(&to, high);
  for (int k = 0; k < mjgpHALVINGS; k++) {
    mjtNum middle = 0.5 * (from.a + to.a);
    if (middle == from.a || middle == to.a) {
      break;
    }
    evaluate(&between, middle);
    if (mju_abs(between.t - from.t) > mju_abs(to.t - between.t)) {
      to = between;
    } else {
      from = between;
    }
  }
  int up = high > low ? 1 : -1;
  pass(&from, -up);
  pass(&to, up);
  between = from;
  if (!(mjgp_moveShaft(&between, to.a) > mjgpSAME)) {
    return 0;
  }
  *shaft = from;
  *beyond = to;
  return 1;
}


// On the line a = acc - W (t - t0), x = x0 - W_other (t - t0) is v + h a = free - A t
int mjgp_proxShaft(mjgpShaft* shaft, mjtNum W, mjtNum W_other, mjtNum acc, mjtNum x, mjtNum* t) {
  mjtNum effect = W / (1 - W_other), own = 1 - effect * shaft->misplaced, h = shaft->h;
  if (!(W > 0) || !(W_other < 1) || !(own > 0)) {
    return -1;
  }
  mjtNum A = h * effect / own, free = shaft->v + h * (acc + effect * (x + *t)) / own;
  mjgCouplingStep step = shaft->step;
  mjg_couplingResolve(&step, shaft->coupling, free, A);
  mjtNum T = shaft->sign * step.T, a = (free - A * T - shaft->v) / h;
  *t += (acc - a) / W;
  if (shaft->branched) {
    // the tangent at the point, where A is given
    mjtNum turn = 1 - A * shaft->sign * step.dT;
    shaft->step = step;
    shaft->a = a;
    shaft->t = T - shaft->misplaced * a;
    shaft->slope = shaft->sign * h * step.dT / turn - shaft->misplaced;
    return mju_abs(turn) <= mjgpSAME;
  }
  evaluate(shaft, a);
  if (mju_abs(shaft->t - T + shaft->misplaced * a) <= mjgpSAME * mjgp_shaftSize(shaft)) {
    return 0;
  }
  mjtNum near = mjgpSAME * (mju_abs(a) + mju_abs(shaft->v) / h);
  return mjgp_findJump(shaft, shaft + 1, a - near, a + near);
}


void mjgp_storeShaft(mjgpGears* g, int i, const mjgpShaft* shaft, mjtNum t, mjtNum fastest) {
  mjgpResult* out = &g->out;
  if (shaft->branched) {
    out->gap[i] = shaft->step;
  } else if (t == shaft->t) {
    out->gap[i] = shaft->step;
    mjgi_closeGap(out->gap + i, &shaft->gap, shaft->step.T, shaft->rate);
  } else {
    // any line through the point meets the law there alone
    mjtNum T = t + shaft->misplaced * shaft->a, A = shaft->coupling->yield;
    mjg_couplingResolve(out->gap + i, shaft->coupling, shaft->v + shaft->h * shaft->a + A * T, A);
  }
  out->t[i] = t;
  out->v_next[i] = shaft->v + shaft->h * shaft->a;
  out->u[i] = g->in.gear[i].tau - g->in.gear[i].inertia * shaft->a;
  out->lambda[i] = out->gap[i].lambda;
  out->mode[i] = out->gap[i].mode;
  mjtNum v = shaft->sign > 0 ? mju_abs(g->in.gear[g->config->joint[i].partner].v) : 0;
  v += mju_abs(shaft->v) + shaft->h * fastest;
  out->cancellation[i] = mju_max(v, mju_abs(out->v_next[i]));
}

#include "solver/fallback.h"

#include <math.h>

#include "gear/friction.h"
#include "gear/tolerances.h"
#include "law/law.h"
#include "solver/convex.h"
#include "solver/law_error.h"


void mjgp_renewBudget(mjgpStep* s) {
  s->g->count.newton_steps += s->newton_steps;
  s->newton_steps = 0;
}


// Returns the torque on joint i at s->acc by gains of a motor behind a gap, which the
// integrator applies to the joint.
static mjtNum takenTorque(const mjgpStep* s, int i) {
  int e = s->group->extra[i];
  return s->g->in.gear[s->group->joint[i]].misplaced * s->acc[i] + (e >= 0 ? s->acc[s->n + e] : 0);
}


// Move a rotor by the shaft torque that acts on the joint, even off the shaft's law: friction
// keeps its law, and momentum is conserved.
static void turnRotor(mjgpStep* s, int i) {
  mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  const mjgCoupling* c = g->in.coupling + joint;
  mjgCouplingStep* step = g->out.gap + joint;
  mjtNum h = s->m->opt.timestep, v = g->in.gear[joint].v + h * s->acc[i];

  // step the gap with the joint's motion given, then the rotor
  mjg_couplingResolve(step, c, v, 0);
  if (g->config->joint[joint].gap == mjgpGAP_LOAD) {
    step->T = s->t[i];
    return;
  }
  mjtNum T = -s->t[i] - takenTorque(s, i), phi = (c->gamma_u + c->gamma_v) * T;
  mjtNum hold = c->inertia * c->velocity / h + c->torque - T, ratio = fmax(1, c->static_ratio);
  int piece =
      mjgi_lawResolve(&step->friction, hold, phi, c->gamma_u, c->coulomb,
                      mjgi_lawRatio(ratio, c->velocity, 1), mjgi_lawRatio(ratio, c->velocity, -1));
  step->T = T;
  step->lambda = phi + c->gamma_u * step->friction;
  step->mode = mjgi_pieceDirection(piece);
  step->velocity = step->mode ? h / c->inertia * (hold - step->friction) : 0;
  step->omega_d = step->velocity - v;
  g->out.lambda[joint] = step->lambda;
  g->out.mode[joint] = step->mode;
}


void mjgp_giveUp(mjgpStep* s) {
  mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  mjgp_renewBudget(s);
  s->most = mjgpBUDGET;  // passive friction needs the engine's motion
  for (int round = 0, wrong = 1; wrong && round <= s->n; round++) {
    if (!mjgp_inner(s, s->t) && !mju_isZero(s->t, s->n)) {
      mju_zero(s->t, s->n);
      mjgp_inner(s, s->t);
    }
    if (!round) {
      mjgp_setCancellation(s);
      mjgp_addRounding(s);
    }
    wrong = 0;
    mjgp_accelerations(s);
    for (int i = 0; i < s->n; i++) {
      int joint = s->group->joint[i], gap = mjgp_hasGap(g->config->joint + joint);
      mjtNum v = g->in.gear[joint].v + h * s->acc[i];
      mjtNum slip = mjgp_slip(g, joint, v, s->t[i]);
      int rounded = mju_abs(slip) <= mjgpZERO * g->out.rounding[joint];
      if (!gap && s->t[i] * slip < 0 && !rounded) {
        s->t[i] = 0;
        wrong = 1;
      }
    }
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjtNum v = g->in.gear[joint].v + h * s->acc[i];
    g->out.t[joint] = s->t[i];
    g->out.u[joint] = mjgp_torqueIn(s, i);
    g->out.v_next[joint] = v;
    mjtNum slip = mjgp_slip(g, joint, v, s->t[i]);
    g->out.mode[joint] = (slip > 0) - (slip < 0);
    g->out.lambda[joint] = mjgi_lawLoad(g->in.gear[joint].gamma_u, g->in.gear[joint].gamma_v,
                                        g->out.u[joint], s->t[i]);
    if (mjgp_hasGap(g->config->joint + joint)) {
      turnRotor(s, i);
    }
  }
}

#include "inverse/branch.h"

#include "configuration/jacobian.h"
#include "gear/bound.h"
#include "law/law.h"
#include "model/factor.h"
#include "solver/hessian.h"

// share of its friction by which a gear may be off the branch connected to rest
#define mjgpCONNECTED 1e-6


//---------------------------------- the step with its constraints ---------------------------------

// Factor the step at the constraint solver's acceleration. Returns 0 if it is singular.
static int factorStep(mjgpBranch* branch, const mjModel* m, mjData* d, mjgpGears* g) {
  int nv = g->config->nv;
  mjtNum* acc = mj_stackAllocNum(d, (size_t)nv);
  mju_copy(acc, branch->a, nv);
  if (!branch->Mhat.solver) {
    for (int k = 0; k < nv; k++) {
      acc[k] = d->qfrc_inverse[k] + d->qfrc_passive[k] + d->qfrc_constraint[k] - d->qfrc_bias[k];
    }
    mj_solveM(m, d, acc, acc, 1);
  }
  mjgp_wholeStep(&branch->step, &branch->group, g, m, d, &branch->Mhat, acc);
  return mjgp_factor(&branch->group);
}


// Returns W, the decrease of the gear's acceleration per unit of friction, and sets R, that of the
// torque into it; 0 if nothing moves.
static mjtNum findEffect(mjtNum* R, mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                         int i) {
  const mjgpStep* s = &branch->step;
  const mjgpGroup* group = &branch->group;
  int k = 0;
  if (branch->factored < 0) {
    branch->factored = factorStep(branch, m, d, g);
  }
  while (k < s->n && group->joint[k] != i) {
    k++;
  }
  if (!branch->factored || k == s->n) {
    return *R = 0;
  }
  mju_zero(s->search, group->nv);
  for (int p = group->E_adr[k]; p < group->E_adr[k + 1]; p++) {
    s->search[group->E_dof[p]] = group->E[p];
  }
  mjgp_solveHessian(s, s->search);
  mjgp_accelerationsOf(s, s->acc, s->search);
  int extra = group->extra[k];
  *R = g->in.gear[i].inertia * s->acc[k] + (extra >= 0 ? s->acc[s->n + extra] : 0);
  return s->acc[k];
}


mjgMotion mjgp_findBranch(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                          const mjgpMotion* p, mjtNum t) {
  int s = p->v > 0 ? 1 : -1;
  mjtNum gamma_u = g->in.gear[p->i].gamma_u, gamma_v = g->in.gear[p->i].gamma_v;
  mjgpBound hold = mjgp_boundOf(&g->in, p->i, s, 0), slip = mjgp_boundOf(&g->in, p->i, s, 1);
  mjtNum lambda = mjgi_lawLoadOut(gamma_u, gamma_v, p->x, t);
  mjtNum R, own, h = m->opt.timestep, W = findEffect(&R, branch, g, m, d, p->i);
  if (W <= 0) {
    return mjgMOTION_MOVES;
  }
  mjtNum P = (gamma_u + gamma_v) * R - gamma_v, phi = lambda - P * t;

  // the joint's own law from zero friction: sliding, then release
  mjtNum free = t + p->v / (h * W);
  mjgi_lawResolve(&own, free, phi + slip.shift, P, slip.c, 1, 1);
  if (mju_abs(own - t) > mjgpCONNECTED * (mju_abs(own) + mju_abs(t))) {
    return mjgMOTION_JAMS;
  }
  int breaks = mjgi_lawResolve(&own, free, phi + hold.shift, P, hold.c, hold.r, hold.r);
  return breaks == mjgiSTUCK ? mjgMOTION_HELD : mjgMOTION_MOVES;
}

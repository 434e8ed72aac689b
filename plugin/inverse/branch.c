#include "inverse/branch.h"

#include <math.h>

#include "configuration/engine.h"
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
  *R = g->in.inertia[i] * s->acc[k] + (extra >= 0 ? s->acc[s->n + extra] : 0);
  return s->acc[k];
}


//---------------------------------- bounds of the effect ------------------------------------------

// Returns the diagonal of the constraint solver's Hessian at a dof, if its metric is diagonal.
static mjtNum ownInertia(const mjgpInertia* Mhat, const mjModel* m, const mjData* d, int dof) {
  int nv = (int)m->nv, sparse = mj_isSparse(m);
  mjtNum own = d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1];
  own += Mhat->solver ? Mhat->slope[dof] : 0;
  for (int i = 0; i < d->nefc; i++) {
    int acts = d->efc_state[i] == mjCNSTRSTATE_QUADRATIC || d->efc_state[i] == mjCNSTRSTATE_CONE;
    int adr = sparse ? d->efc_J_rowadr[i] : i * nv + dof, n = sparse ? d->efc_J_rownnz[i] : 1;
    for (int k = adr; k < adr + n && acts; k++) {
      int its = !sparse || d->efc_J_colind[k] == dof;
      own += its ? d->efc_D[i] * d->efc_J[k] * d->efc_J[k] : 0;
    }
  }
  return own;
}


// Bound W of a gear at a dof by two angles in the metric M (doc/inverse.md): to the motion in the
// integrator's metric, and with constraints. With the metric factored the first angle is known.
static void boundEffect(mjtNum* low, mjtNum* high, mjgpBranch* branch, mjgpGears* g,
                        const mjModel* m, mjData* d, int dof, int flg_factor, int flg_high) {
  mjgpInertia M = {.upper = d->qLD, .pivot = d->qLDiagInv, .adr = m->M_rowadr},
              *Mhat = &branch->Mhat;
  mjtNum *x = branch->scratch, *Mx = x + m->nv;
  if (Mhat->solver && !flg_factor && !flg_high) {
    *low = 1 / ownInertia(Mhat, m, d, dof);
    return;
  }
  if (flg_factor && !d->nefc) {
    mjgp_factorInertia(Mhat, m, d, g);
    *low = *high = mjgp_inverseDiagonal(m, Mhat, x, dof);
    return;
  }
  mjtNum most = mjgp_inverseDiagonal(m, &M, x, dof), along = mju_sqrt(most), beside = 0;
  *high = most;
  if (flg_factor) {
    int tree = m->dof_treeid[dof], first = m->tree_dofadr[tree];
    mju_zero(x, (int)m->nv);
    x[dof] = 1;
    mjgp_factorInertia(Mhat, m, d, g);
    mjgpInertia transposed = *Mhat;
    transposed.upper = Mhat->lower ? Mhat->lower : Mhat->upper;
    transposed.lower = Mhat->lower ? Mhat->upper : NULL;
    mjgp_solveInertia(x, m, &transposed, first, first + m->tree_dofnum[tree]);
    mj_mulM(m, d, Mx, x);
    mjtNum square = mju_dot(x, Mx, (int)m->nv);
    along = x[dof] / along;
    beside = mju_sqrt(mju_max(0, square - along * along));
    *high = mju_sqrt(square * most);
  } else if (!Mhat->solver) {
    mjtNum inertia = d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1];
    mjtNum p = mju_min(1, 1 / (inertia * most)), own = 1 + Mhat->slope[dof] * most;
    beside = along * mju_sqrt(p * (1 - p)) / own;
    along *= p / own;
    *high = most / mju_sqrt(own);
  }
  mjtNum q = Mhat->solver || d->nefc ? mju_min(1, 1 / (ownInertia(Mhat, m, d, dof) * most)) : 1;
  *low = mju_sqrt(most * q) * (along * mju_sqrt(q) - beside * mju_sqrt(1 - q));
}


// Returns 1 if the gear slips by itself for every W within its bounds.
static int isClear(const mjgpGears* g, const mjgpMotion* p, mjtNum t, mjtNum lambda, mjtNum h,
                   const mjgpBound* hold, int same, mjtNum low, mjtNum high) {
  // bounds of P, the slope of the load over friction
  mjtNum gamma_v = g->in.gamma_v[p->i], S = (g->in.gamma_u[p->i] + gamma_v) * g->in.inertia[p->i];
  mjtNum least = S * low - gamma_v, most = S * high - gamma_v;
  mjtNum more = mjgi_lawBound(lambda + hold->shift, hold->c, hold->r) - mju_abs(t);
  mjtNum rest = 1 - hold->r * mju_max(-least, most);
  return same ? least > -1 : rest > 0 && mju_abs(p->v) * rest > more * h * high;
}


mjgMotion mjgp_findBranch(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                          const mjgpMotion* p, mjtNum t) {
  int s = p->v > 0 ? 1 : -1;
  mjtNum gamma_u = g->in.gamma_u[p->i], gamma_v = g->in.gamma_v[p->i];
  mjgpBound hold = mjgp_boundOf(&g->in, p->i, s, 0), slip = mjgp_boundOf(&g->in, p->i, s, 1);
  int same = hold.r == 1 && hold.c == slip.c;
  mjtNum lambda = mjgi_lawLoadOut(gamma_u, gamma_v, p->x, t);
  if (!branch->scratch) {
    branch->scratch = mj_stackAllocNum(d, 2 * (size_t)m->nv);
  }

  // bounds nearly always suffice, first without a factorization
  int dof = g->in.row[p->i] ? -1 : g->config->own[p->i];
  int last = !d->nefc || (!branch->Mhat.solver);
  mjtNum low = 0, high = INFINITY, R, h = m->opt.timestep;
  const mjgpInertia* Mhat = &branch->Mhat;
  int simple = Mhat->slope && Mhat->passive && !(Mhat->solver && Mhat->coupled);
  for (int factored = !simple; dof >= 0 && factored <= last; factored++) {
    boundEffect(&low, &high, branch, g, m, d, dof, factored, !same);
    if (isClear(g, p, t, lambda, h, &hold, same, low, high)) {
      return mjgMOTION_MOVES;
    }
  }
  mjtNum W = low == high ? low : findEffect(&R, branch, g, m, d, p->i), own;
  R = low == high ? g->in.inertia[p->i] * W : R;
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

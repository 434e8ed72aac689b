#include "inverse/branch.h"

#include <math.h>

#include "configuration/jacobian.h"
#include "coupled/hessian.h"
#include "friction/bound.h"
#include "friction/engine.h"
#include "friction/factor.h"
#include "law/law.h"

// share of its friction by which a gear may be off the branch that is connected to rest: others are farther away
#define mjgpCONNECTED 1e-6


// x = matrix^-1 x, on trees with gears                                                              (nv)
static void solveTrees(mjtNum* x, const mjModel* m, const mjgpInertia* matrix, const mjgpGears* g) {
  for (int t = 0; t < g->in.ntree; t++) {
    int first = m->tree_dofadr[g->in.tree[t]], end = first + m->tree_dofnum[g->in.tree[t]];
    mjgp_solveInertia(x, m, matrix, first, end);
  }
}


// x = Mhat^-1 M x
void mjgp_integrate(mjtNum* a, const mjModel* m, mjData* d, mjgpBranch* branch, mjgpGears* g) {
  if (branch->Mhat.solver) {
    return;
  }
  mjtNum* force = mj_stackAllocNum(d, (size_t)m->nv);
  mj_mulM(m, d, force, a);
  mju_copy(a, force, (int)m->nv);
  mjgp_factorInertia(&branch->Mhat, m, d, g);
  solveTrees(a, m, &branch->Mhat, g);
}


//---------------------------------- the step with its constraints ---------------------------------

// diagonal of M + J' D J with the constraints that act, if such is the metric of the constraint solver
static void findDiagonal(mjgpBranch* branch, const mjModel* m, mjData* d, const mjgpGears* g) {
  int nv = g->config->nv, sparse = mj_isSparse(m);
  const mjgpInertia* Mhat = &branch->Mhat;
  mjtNum* diagonal = mj_stackAllocNum(d, 3 * (size_t)nv);
  for (int k = 0; k < nv; k++) {
    int added = Mhat->solver && Mhat->slope && g->config->reached[m->dof_treeid[k]];
    diagonal[k] = d->M[m->M_rowadr[k] + m->M_rownnz[k] - 1] + (added ? Mhat->slope[k] : 0);
  }
  for (int i = 0; i < d->nefc; i++) {
    int acts = d->efc_state[i] == mjCNSTRSTATE_QUADRATIC || d->efc_state[i] == mjCNSTRSTATE_CONE;
    int adr = sparse ? d->efc_J_rowadr[i] : i * nv, length = sparse ? d->efc_J_rownnz[i] : nv;
    for (int k = adr; k < adr + length && acts; k++) {
      diagonal[sparse ? d->efc_J_colind[k] : k - adr] += d->efc_D[i] * d->efc_J[k] * d->efc_J[k];
    }
  }
  branch->scratch = diagonal + nv;
  branch->diagonal = !Mhat->solver || (Mhat->slope && !Mhat->coupled) ? diagonal : NULL;
}


// at the acceleration of the constraint solver; 0: as if nothing moved
static int factorStep(mjgpBranch* branch, const mjModel* m, mjData* d, mjgpGears* g) {
  int nv = g->config->nv;
  mjtNum* acc = mj_stackAllocNum(d, (size_t)nv);
  mju_copy(acc, branch->a, nv);
  if (!branch->Mhat.solver) {
    // of M acc = Mhat a the engine's inverse dynamics has left the sum
    for (int k = 0; k < nv; k++) {
      acc[k] = d->qfrc_inverse[k] + d->qfrc_passive[k] + d->qfrc_constraint[k] - d->qfrc_bias[k];
    }
    mj_solveM(m, d, acc, acc, 1);
  }
  mjgp_wholeStep(&branch->step, &branch->group, g, m, d, &branch->Mhat, acc);
  return mjgp_factor(&branch->group);
}


// x = what the constraint solver makes of the force x, and then the force M x that the integrator gets  (nv)
static void solveConstrained(mjtNum* x, const mjModel* m, mjData* d, mjgpBranch* branch) {
  mjgpStep* s = &branch->step;
  int nv = (int)m->nv;
  mjtNum* acc = mj_stackAllocNum(d, (size_t)nv);
  for (int k = 0; k < nv; k++) {
    s->search[k] = x[s->group->dof[k]];
  }
  mjgp_solveHessian(s, s->search);
  for (int k = 0; k < nv; k++) {
    acc[s->group->dof[k]] = s->search[k];
  }
  if (branch->Mhat.solver) {
    mju_copy(x, acc, nv);
  } else {
    mj_mulM(m, d, x, acc);
  }
}


// what friction of 1 takes of the gear's acceleration, and R of the torque into it
static mjtNum findEffect(mjtNum* R, mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                         int i) {
  if (branch->constrained < 0) {
    branch->constrained = d->nefc && factorStep(branch, m, d, g);
  }
  mj_markStack(d);
  mjtNum* effect = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(effect, (int)m->nv);
  mjgp_addRow(effect, g->in.E[i], 1);
  if (branch->constrained) {
    solveConstrained(effect, m, d, branch);
  }
  if (!branch->constrained || !branch->Mhat.solver) {
    mjgp_factorInertia(&branch->Mhat, m, d, g);
    solveTrees(effect, m, &branch->Mhat, g);
  }
  mjtNum W = mjgp_mulRow(g->in.E[i], effect);
  *R = g->in.inertia[i] * W;
  for (int k = 0; g->in.row[i] && k < (int)m->nv; k++) {
    *R += g->in.row[i][k] * effect[k];
  }
  mj_freeStack(d);
  return W;
}


//---------------------------------- bounds of the effect ------------------------------------------

// Bounds of W of a gear at a dof; doc/inverse.md. They need two angles in the metric M from what a force at the dof moves
// freely: to what it moves with the integrator's metric, and to what it moves with constraints. A force moves its own
// joint at least as much as if all others were at rest. With the integrator's metric factored the first angle is known,
// and without constraints W is
static void boundEffect(mjtNum* low, mjtNum* high, mjgpBranch* branch, mjgpGears* g,
                        const mjModel* m, mjData* d, int dof, int flg_factor, int flg_high) {
  mjgpInertia M = {.upper = d->qLD, .pivot = d->qLDiagInv, .adr = m->M_rowadr},
              *Mhat = &branch->Mhat;
  mjtNum *x = branch->scratch, *Mx = x + m->nv;
  if (Mhat->solver && !flg_factor && !flg_high) {
    *low = 1 / branch->diagonal[dof];
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
  mjtNum q = Mhat->solver || d->nefc ? mju_min(1, 1 / (branch->diagonal[dof] * most)) : 1;
  *low = mju_sqrt(most * q) * (along * mju_sqrt(q) - beside * mju_sqrt(1 - q));
}


// does the gear slip by itself with every W that can be
static int isClear(const mjgpGears* g, const mjgpMotion* p, mjtNum t, mjtNum lambda, mjtNum h,
                   const mjgpBound* hold, int same, mjtNum low, mjtNum high) {
  // bounds of P, at whose slope friction would grow beyond what it is
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
    findDiagonal(branch, m, d, g);
  }

  // bounds nearly always decide, first without a factorization
  int dof = g->in.row[p->i] ? -1 : g->config->own[p->i];
  int last = !d->nefc || (branch->diagonal && !branch->Mhat.solver);
  mjtNum low = 0, high = INFINITY, R, h = m->opt.timestep;
  int simple = branch->diagonal && branch->Mhat.slope && branch->Mhat.passive;
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

  // the law of the joint alone, from zero friction: does it slide so, and does it break away
  mjtNum free = t + p->v / (h * W);
  if (s * free <= 0) {
    return mjgMOTION_JAMS;
  }
  mjgi_lawResolve(&own, free, phi + slip.shift, P, slip.c, 1, 1);
  if (mju_abs(own - t) > mjgpCONNECTED * (mju_abs(own) + mju_abs(t))) {
    return mjgMOTION_JAMS;
  }
  int breaks = mjgi_lawResolve(&own, free, phi + hold.shift, P, hold.c, hold.r, hold.r);
  return breaks == mjgiSTUCK ? mjgMOTION_HELD : mjgMOTION_MOVES;
}

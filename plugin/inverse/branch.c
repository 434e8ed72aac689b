#include "inverse/branch.h"

#include <math.h>

#include "configuration/jacobian.h"
#include "coupled/hessian.h"
#include "friction/bound.h"
#include "friction/engine.h"
#include "law/law.h"

// share of its friction by which a gear may be off the branch that is connected to rest: others are farther away
#define mjgpCONNECTED 1e-6


// x = Mhat^-1 x, on trees with gears                                                                (nv)
static void solveMetric(mjtNum* x, const mjModel* m, mjData* d, mjgpBranch* branch, mjgpGears* g) {
  mjgp_factorInertia(&branch->Mhat, m, d, g);
  for (int t = 0; t < g->in.ntree; t++) {
    int first = m->tree_dofadr[g->in.tree[t]], end = first + m->tree_dofnum[g->in.tree[t]];
    mjgp_solveInertia(x, m, &branch->Mhat, first, end);
  }
}


void mjgp_integrate(mjtNum* a, const mjModel* m, mjData* d, mjgpBranch* branch, mjgpGears* g) {
  if (branch->Mhat.solver) {
    return;
  }
  mjtNum* force = mj_stackAllocNum(d, (size_t)m->nv);
  mj_mulM(m, d, force, a);
  mju_copy(a, force, (int)m->nv);
  solveMetric(a, m, d, branch, g);
}


//---------------------------------- inertia with constraints --------------------------------------

// the step with its constraints, at the acceleration of the constraint solver; 0: as if nothing moved
static int makeStep(mjgpBranch* branch, const mjModel* m, mjData* d, mjgpGears* g) {
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


// x = what the constraint solver and the integrator make of the force x                            (nv)
static void solveStep(mjtNum* x, const mjModel* m, mjData* d, mjgpBranch* branch, mjgpGears* g) {
  mjgpStep* s = &branch->step;
  for (int k = 0; k < s->group->nv; k++) {
    s->search[k] = x[s->group->dof[k]];
  }
  mjgp_solveHessian(s, s->search);
  mjgp_mulInertia(s->group, s->next, s->search);
  for (int k = 0; k < s->group->nv; k++) {
    x[s->group->dof[k]] = (branch->Mhat.solver ? s->search : s->next)[k];
  }
  if (!branch->Mhat.solver) {
    solveMetric(x, m, d, branch, g);
  }
}


// change of lambda with friction; W: what friction of 1 takes of the gear's acceleration
static mjtNum loadSlope(mjtNum* W, mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                        const mjgpMotion* p) {
  const mjgpJoint* joint = g->config->joint + p->i;
  if (branch->constrained < 0) {
    branch->constrained = d->nefc && makeStep(branch, m, d, g);
  }
  mj_markStack(d);
  mjtNum* effect = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(effect, (int)m->nv);
  mjgp_addRow(effect, m, d, joint, 1);
  (branch->constrained ? solveStep : solveMetric)(effect, m, d, branch, g);
  *W = mjgp_mulRow(m, d, joint, effect);
  mjtNum R = g->in.inertia[p->i] * *W;
  for (int k = 0; g->in.row[p->i] && k < (int)m->nv; k++) {
    R += g->in.row[p->i][k] * effect[k];
  }
  mj_freeStack(d);
  return (p->gamma_u + p->gamma_v) * R - p->gamma_v;
}


//---------------------------------- bounds of the effect ------------------------------------------

// the diagonal of the matrix with constraints, if the metric is M and a diagonal
static void makeDiagonal(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d) {
  int nv = (int)m->nv, sparse = mj_isSparse(m);
  const mjtNum* slope = branch->Mhat.slope;
  if (!slope || !branch->Mhat.passive || branch->Mhat.coupled) {
    return;
  }
  mjtNum* diagonal = branch->diagonal = mj_stackAllocNum(d, (size_t)nv);
  for (int k = 0; k < nv; k++) {
    int added = branch->Mhat.solver && g->config->reached[m->dof_treeid[k]];
    diagonal[k] = d->M[m->M_rowadr[k] + m->M_rownnz[k] - 1] + (added ? slope[k] : 0);
  }
  for (int i = 0; i < d->nefc; i++) {
    int adr = sparse ? d->efc_J_rowadr[i] : i * nv, n = sparse ? d->efc_J_rownnz[i] : nv;
    int acts = d->efc_state[i] == mjCNSTRSTATE_QUADRATIC || d->efc_state[i] == mjCNSTRSTATE_CONE;
    for (int k = 0; k < n && acts; k++) {
      mjtNum J = d->efc_J[adr + k];
      diagonal[sparse ? d->efc_J_colind[adr + k] : k] += d->efc_D[i] * J * J;
    }
  }
}


// Bounds of W without a factorization; 0: there are none. A force moves its own joint at least as much as if all others
// were at rest. In the metric M what it moves with the integrator's slopes of the others, and what it moves with
// constraints, are therefore at most two angles away from what it would move freely; doc/inverse.md
static int boundEffect(mjtNum* low, mjtNum* high, const mjgpBranch* branch, const mjModel* m,
                       mjData* d, int dof) {
  if (dof < 0 || !branch->diagonal) {
    return 0;
  }
  mjgpInertia M = {.upper = d->qLD, .pivot = d->qLDiagInv, .adr = m->M_rowadr};
  mj_markStack(d);
  mjtNum most = mjgp_inverseDiagonal(m, &M, mj_stackAllocNum(d, (size_t)m->M_rownnz[dof]), dof);
  mj_freeStack(d);
  mjtNum own = branch->Mhat.solver ? 0 : branch->Mhat.slope[dof];
  mjtNum inertia = d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1];
  mjtNum p = branch->Mhat.solver ? 1 : 1 / (inertia * most);
  mjtNum q = branch->Mhat.solver || d->nefc ? 1 / (branch->diagonal[dof] * most) : 1;
  mjtNum cosine = mju_sqrt(p * q), sine = mju_sqrt(mju_max(0, (1 - p) * (1 - q)));
  *low = most * cosine * (cosine - sine) / (1 + own * most);
  *high = most / mju_sqrt(1 + own * most);
  return 1;
}


// does the gear slip by itself with every W that can be
static int isClear(const mjgpBranch* branch, const mjgpGears* g, const mjModel* m, mjData* d,
                   const mjgpMotion* p, mjtNum t, mjtNum lambda, const mjgpBound* hold, int same) {
  mjtNum low, high, h = m->opt.timestep;
  if (g->in.row[p->i] || !boundEffect(&low, &high, branch, m, d, g->config->own[p->i])) {
    return 0;
  }

  // bounds of P, at whose slope friction would grow beyond what it is
  mjtNum S = (p->gamma_u + p->gamma_v) * g->in.inertia[p->i];
  mjtNum least = S * low - p->gamma_v, most = S * high - p->gamma_v;
  mjtNum more = mjgi_lawBound(lambda + hold->shift, hold->c, hold->r) - mju_abs(t);
  mjtNum rest = 1 - hold->r * mju_max(-least, most);
  return same ? least > -1 : rest > 0 && mju_abs(p->v) * rest > more * h * high;
}


mjgMotion mjgp_findBranch(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                          const mjgpMotion* p, mjtNum t) {
  int s = p->v > 0 ? 1 : -1, front = g->config->joint[p->i].brake.side == mjgpSIDE_MOTOR;
  g->in.coulomb[p->i] = p->coulomb;
  g->in.brake[p->i].turn = front ? -p->gamma_u : p->gamma_v;
  mjgpBound hold = mjgp_boundOf(&g->in, p->i, s, 0), slip = mjgp_boundOf(&g->in, p->i, s, 1);
  int same = hold.r == 1 && hold.c == slip.c;
  if (g->in.compliance[p->i] > 0 || (same && p->gamma_v < 1)) {
    return mjgMOTION_MOVES;
  }

  // a rotor is part of the joint's inertia: what the motor drives goes on
  mjtNum lambda = mjgi_lawLoadOut(p->gamma_u, p->gamma_v, p->x, t);
  if (same && p->v * (lambda + slip.shift) >= 0) {
    return mjgMOTION_MOVES;
  }
  if (!branch->diagonal) {
    makeDiagonal(branch, g, m, d);
  }
  if (isClear(branch, g, m, d, p, t, lambda, &hold, same)) {
    return mjgMOTION_MOVES;
  }
  mjtNum W, P = loadSlope(&W, branch, g, m, d, p), own, phi = lambda - P * t;
  if (W <= 0) {
    return mjgMOTION_MOVES;
  }

  // the law of the joint alone, from zero friction: does it slide so, and does it break away
  mjtNum free = t + p->v / (m->opt.timestep * W);
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

#include "model/free_body.h"

#include <float.h>

#include "configuration/engine.h"
#include "solvers/dense.h"


enum {
  mjgpBLOCK = 6  // most dofs of a block
};

// bias forces below this share of the inertia in a step are round-off
#define mjgpGYRO (64 * DBL_EPSILON)


// Add the derivative of the bias force of a free body by its velocity, times h, to A (6 x 6)
// and return the largest entry added.
//
// With w the angular velocity, s from the joint to the center of mass, I the inertia there,
// all in world axes, and qvel[3:6] = R' w,
//   force  = mass w x (w x s)
//   torque = R' (s x force + w x I w)
// A change dw of w changes them by
//   mass (dw x (w x s) + w x (dw x s))   and   dw x I w + w x I dw.
static mjtNum addBias(mjtNum* A, const mjModel* m, const mjData* d, int tree) {
  int first = m->tree_dofadr[tree], body = m->dof_bodyid[first];
  const mjtNum *R = d->xmat + 9 * body, *axes = d->ximat + 9 * body;
  mjtNum h = m->opt.timestep, mass = m->body_mass[body], most = 0;
  mjtNum w[3], s[3], ws[3], own[3], Iw[3];
  mju_mulMatVec3(w, R, d->qvel + first + 3);
  mju_sub3(s, d->xipos + 3 * body, d->xpos + 3 * body);
  mju_cross(ws, w, s);
  mju_mulMatTVec3(own, axes, w);
  for (int k = 0; k < 3; k++) {
    own[k] *= m->body_inertia[3 * body + k];
  }
  mju_mulMatVec3(Iw, axes, own);
  for (int c = 0; c < 3; c++) {
    mjtNum dw[3] = {R[c], R[3 + c], R[6 + c]}, force[3], torque[3], x[3], y[3];
    mju_cross(force, dw, ws);
    mju_cross(x, dw, s);
    mju_cross(y, w, x);
    mju_addTo3(force, y);
    mju_scl3(force, force, mass);
    mju_cross(torque, s, force);
    mju_cross(x, dw, Iw);
    mju_addTo3(torque, x);
    mju_mulMatTVec3(own, axes, dw);
    for (int k = 0; k < 3; k++) {
      own[k] *= m->body_inertia[3 * body + k];
    }
    mju_mulMatVec3(x, axes, own);
    mju_cross(y, w, x);
    mju_addTo3(torque, y);
    mju_mulMatTVec3(x, R, torque);
    for (int r = 0; r < 3; r++) {
      A[6 * r + 3 + c] += h * force[r];
      A[6 * (r + 3) + 3 + c] += h * x[r];
      most = mju_max(most, h * mju_max(mju_abs(force[r]), mju_abs(x[r])));
    }
  }
  return most;
}


// Returns 1 if constraint rows act on a tree.
static int isConstrained(const mjModel* m, const mjData* d, int tree) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  if (d->nisland) {
    return d->dof_island[first] >= 0;
  }
  for (int i = 0; i < d->nefc; i++) {
    int sparse = mj_isSparse(m), adr = sparse ? d->efc_J_rowadr[i] : i * (int)m->nv;
    for (int k = 0; k < (sparse ? d->efc_J_rownnz[i] : (int)m->nv); k++) {
      int dof = sparse ? d->efc_J_colind[adr + k] : k;
      if (dof >= first && dof < end && d->efc_J[adr + k] != 0) {
        return 1;
      }
    }
  }
  return 0;
}


// Returns the diagonal of the block less the diagonal of M; null if the block is made of
// d->qDeriv.
static const mjtNum* diagonal(const mjgpInertia* Mhat, const mjModel* m, const mjgpGears* g) {
  return mjgp_isDiscrete(m) ? g->scratch.slope : Mhat->slope;
}


// Returns 1 if a tree has terms outside of the sparsity of M, or unsymmetric ones.
static int needsBlock(const mjgpInertia* Mhat, const mjModel* m, const mjData* d, int tree) {
  int first = m->tree_dofadr[tree], n = m->tree_dofnum[tree];
  if (n < 2 || n > mjgpBLOCK || !d->tree_awake[tree]) {
    return 0;
  }
  if (m->opt.integrator == mjINT_IMPLICIT) {
    return m->M_rownnz[first + n - 1] == 1;
  }
  int discrete = mjgp_isDiscrete(m);
  if (!(m->opt.integrator == mjINT_IMPLICITFAST || discrete) || !mjgp_isLone(m, tree)) {
    return 0;
  }
  if (discrete && (Mhat->coupled || isConstrained(m, d, tree))) {
    return 0;
  }
  mjtNum bias[mjgpBLOCK * mjgpBLOCK] = {0}, least = d->M[m->M_rowadr[first]];
  for (int i = first + 1; i < first + n; i++) {
    least = mju_min(least, d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1]);
  }
  return !(Mhat->slope || discrete) || addBias(bias, m, d, tree) > mjgpGYRO * least;
}


void mjgp_findBlocks(mjgpInertia* Mhat, const mjModel* m, const mjData* d, mjgpGears* g) {
  int any = 0;
  for (int t = 0; t < (int)m->ntree; t++) {
    g->scratch.blocked[t] = 0;
  }
  for (int k = 0; k < g->in.ntree; k++) {
    int tree = g->in.tree[k];
    any |= g->scratch.blocked[tree] = needsBlock(Mhat, m, d, tree);
  }
  if (any) {
    Mhat->block = g->scratch.block;
    Mhat->blocked = g->scratch.blocked;
    Mhat->solver = 0;
  }
}


// The sparse factors of implicit and of implicitfast with fluid have made d->qDeriv.
static void invertBlock(const mjgpInertia* Mhat, const mjModel* m, const mjData* d, mjgpGears* g,
                        int tree) {
  int first = m->tree_dofadr[tree], n = m->tree_dofnum[tree], pivot[mjgpBLOCK];
  const mjtNum *slope = diagonal(Mhat, m, g), *fluid = NULL;
#if mjgpDISCRETE
  fluid = mjgp_isDiscrete(m) && d->efm_active ? d->efm_fluid : NULL;
#endif
  mjtNum A[mjgpBLOCK * mjgpBLOCK] = {0}, scale[mjgpBLOCK];
  for (int r = 0; r < n; r++) {
    for (int k = 0; k < m->M_rownnz[first + r]; k++) {
      int adr = m->M_rowadr[first + r] + k, c = m->M_colind[adr] - first;
      A[n * r + c] = A[n * c + r] = d->M[adr] + (fluid && c < r ? fluid[adr] : 0);
    }
  }
  for (int r = 0; r < n; r++) {
    scale[r] = 1 / mju_sqrt(A[n * r + r]);
  }
  for (int r = 0; r < n; r++) {
    A[n * r + r] += slope ? slope[first + r] : 0;
    for (int k = 0; k < m->D_rownnz[first + r] && !slope; k++) {
      int adr = m->D_rowadr[first + r] + k;
      A[n * r + m->D_colind[adr] - first] -= m->opt.timestep * d->qDeriv[adr];
    }
  }
  if (m->opt.integrator != mjINT_IMPLICIT) {
    addBias(A, m, d, tree);
  }
  for (int a = 0; a < g->in.nactive && g->in.removes && !slope; a++) {
    mjgpRow row = g->in.E[g->in.active[a]];  // gains of rotors (rotors.h)
    for (int k = 0; k < row.n * row.n; k++) {
      int r = row.dof[k / row.n] - first, c = row.dof[k % row.n] - first;
      mjtNum S = g->in.gear[g->in.active[a]].removed * row.value[k / row.n] * row.value[k % row.n];
      if (r >= 0 && r < n && c >= 0 && c < n) {
        A[n * r + c] -= S;
      }
    }
  }
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      A[n * r + c] *= scale[r] * scale[c];
    }
  }
  mjgi_inverse(A, pivot, n);
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      g->scratch.block[6 * first + n * r + c] = scale[r] * scale[c] * A[n * r + c];
    }
  }
}


void mjgp_invertBlocks(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g) {
  for (int k = 0; k < g->in.ntree; k++) {
    if (Mhat->blocked[g->in.tree[k]]) {
      invertBlock(Mhat, m, d, g, g->in.tree[k]);
    }
  }
}

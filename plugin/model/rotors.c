#include "model/rotors.h"

#include "configuration/engine.h"
#include "configuration/jacobian.h"


void mjgp_splitGains(mjgpGears* g, const mjModel* m, int flg_remove) {
  mjgpInput* in = &g->in;
  int remove = flg_remove && g->config->rotors && !mjgp_isDiscrete(m);
  in->removes = 0;
  for (int a = 0; a < in->nactive; a++) {
    int i = in->active[a];

    mjgpGearInput* gear = in->gear + i;

    // gains of a motor that drives several joints have entries off the diagonal
    int moves = remove && g->config->joint[i].gap == mjgpGAP_ROTOR && !in->row[i];
    gear->removed = moves ? gear->implicit - gear->misplaced : 0;
    gear->misplaced = moves ? gear->misplaced : gear->implicit;
    in->removes |= gear->removed != 0;
  }
}


void mjgp_removeDiagonal(mjtNum* diagonal, const mjgpGears* g) {
  for (int a = 0; a < g->in.nactive && g->in.removes; a++) {
    mjgpRow row = g->in.E[g->in.active[a]];
    for (int k = 0; k < row.n; k++) {
      diagonal[row.dof[k]] -= g->in.gear[g->in.active[a]].removed * row.value[k] * row.value[k];
    }
  }
}


// Subtract S j j' of one gear in the row of its k-th dof, for columns that M has.
static void removeRow(mjtNum* lower, mjtNum* upper, const mjgpGears* g, const mjModel* m,
                      mjgpRow row, int k, mjtNum S) {
  int dof = row.dof[k], line = g->config->line[dof];
  const int* column = m->M_colind + m->M_rowadr[dof];
  for (int p = 0; p < m->M_rownnz[dof]; p++) {
    for (int b = 0; b < row.n; b++) {
      mjtNum term = row.dof[b] == column[p] ? S * row.value[k] * row.value[b] : 0;
      lower[line + p] -= term;
      if (upper) {
        upper[line + p] -= term;
      }
    }
  }
}


void mjgp_removeGains(mjtNum* lower, mjtNum* upper, const mjgpGears* g, const mjModel* m) {
  for (int a = 0; a < g->in.nactive && g->in.removes; a++) {
    int i = g->in.active[a];
    for (int k = 0; k < g->in.E[i].n && g->in.gear[i].removed != 0; k++) {
      removeRow(lower, upper, g, m, g->in.E[i], k, g->in.gear[i].removed);
    }
  }
}


void mjgp_addRemoved(mjtNum* force, const mjgpGears* g, const mjtNum* a, mjtNum scale) {
  for (int b = 0; b < g->in.nactive && g->in.removes; b++) {
    int i = g->in.active[b];
    mjtNum S = scale * g->in.gear[i].removed;
    if (S != 0) {
      mjgp_addRow(force, g->in.E[i], S * mjgp_mulRow(g->in.E[i], a));
    }
  }
}


void mjgp_addReference(const mjModel* m, mjData* d, const mjtNum* x) {
  mj_markStack(d);
  mjtNum* Jx = mj_stackAllocNum(d, (size_t)d->nefc);
  mj_mulJacVec(m, d, Jx, x);
  mju_addTo(d->efc_aref, Jx, d->nefc);
  mj_freeStack(d);
}


void mjgp_shiftReference(mjgpGears* g, const mjModel* m, mjData* d) {
  int nv = g->config->nv;
  mjtNum* shift = g->out.shift;
  if (!g->in.removes) {
    return;
  }
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjtNum acc = (g->out.v_next[i] - g->in.gear[i].v) / m->opt.timestep;
    mjgp_addRow(shift, g->in.E[i], g->in.gear[i].removed * acc);
  }
  mju_addTo(d->qfrc_passive, shift, nv);
  mj_solveM(m, d, shift, shift, 1);
  g->out.shifted = 1;
  if (d->nefc) {
    mjgp_addReference(m, d, shift);
    mju_addTo(d->qacc_warmstart, shift, nv);
  }
}


void mjgp_restoreReference(mjgpGears* g, const mjModel* m, mjData* d, int flg_new) {
  if (!g->out.shifted) {
    return;
  }
  if (!flg_new && d->nefc) {
    mj_referenceConstraint(m, d);
  }
  mju_zero(g->out.shift, g->config->nv);
  g->out.shifted = 0;
}

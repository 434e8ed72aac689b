#include "coupled/forces.h"

#include <string.h>

#include "friction/factor.h"
#include "friction/simd.h"
#include "friction/tolerances.h"
#include "solvers/dense.h"


int mjgp_hasForces(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  int is = s->rows && s->Mhat->slope && !s->Mhat->block && !group->nextra &&
           group->nefc <= mjgpFORCES * s->n;
  for (int i = 0; i < s->n; i++) {
    is &= s->g->config->own[group->joint[i]] >= 0;
  }
  return is;
}


//---------------------------------- a step --------------------------------------------------------

// Copy a row of J to column c of X.
static void setColumn(const mjgpGroup* group, mjtNum* X, int ld, int c, int row) {
  for (int k = group->J_adr[row]; k < group->J_adr[row + 1]; k++) {
    for (int j = 0; j < mjgiSIMD; j++) {
      if (group->J_bits[k] >> j & 1) {
        X[(group->J_lane[k] + j) * ld + c] = group->J[mjgiSIMD * k + j];
      }
    }
  }
}


// Copy a row of J to x; lanes that the row does not store stay as they are.
static void copyRow(const mjgpGroup* group, mjtNum* x, int row) {
  for (int k = group->J_adr[row]; k < group->J_adr[row + 1]; k++) {
    *(mjgiSimd*)(x + group->J_lane[k]) = *(const mjgiSimd*)(group->J + mjgiSIMD * k);
  }
}


void mjgp_makeForces(mjgpForces* f, mjgpStep* s) {
  const mjgpGroup* group = s->group;
  const mjModel* m = s->m;
  const mjData* d = s->d;
  size_t nv = (size_t)mjgi_simdEnd(group->nv), nefc = (size_t)group->nefc;
  size_t ld = (size_t)mjgi_simdEnd(group->nefc);
  *f = (mjgpForces){.s = s, .nv = (int)nv};
  f->row = mj_stackAllocInt(s->d, 3 * nefc + 2 * nv);
  f->cone = f->row + nefc;
  f->exchanged = f->cone + nefc;
  f->held = f->exchanged + nefc;
  f->below = f->held + nv;
  f->slope =
      mj_stackAllocNum(s->d, 2 * nv + (size_t)m->nv + nv * (nefc + 2 * ld) + ld * ld + 2 * ld);
  f->dw = f->slope + nv;
  f->pivot = f->dw + nv;
  f->B = f->pivot + m->nv;
  f->free = f->B + nefc * nv;
  f->X = f->free + nv * ld;
  f->S = f->X + nv * ld;
  f->scale = f->S + ld * ld;
  f->y = f->scale + ld;
  f->M = (mjgpInertia){.upper = d->qLD, .pivot = d->qLDiagInv, .adr = m->M_rowadr};
  f->K = (mjgpInertia){.upper = s->g->scratch.matrix, .pivot = f->pivot, .adr = s->g->config->line};

  for (int k = 0; k < group->nv; k++) {
    int dof = group->dof[k], geared = s->g->config->reached[m->dof_treeid[dof]];
    f->slope[k] = geared ? s->Mhat->slope[dof] : 0;
  }

  // B, by way of M^-1 J'
  f->ld = (int)ld;
  mju_zero(f->free, (int)(nv * ld));
  mju_zero(f->B, (int)(nefc * nv));
  for (int i = 0; i < group->nefc; i++) {
    setColumn(group, f->free, f->ld, i, i);
  }
  mjgp_solveColumns(group, m, f->free, f->ld, &f->M, 0);
  for (int i = 0; i < group->nefc; i++) {
    mjtNum* row = f->B + i * f->nv;
    copyRow(group, row, i);
    for (int k = 0; k < group->nv; k++) {
      row[k] += f->slope[k] * f->free[k * f->ld + i];
    }
  }
}


// Make K with the lines of the pieces, and factor it.
static int factorTree(mjgpForces* f, const mjgpPiece* piece) {
  const mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  const mjModel* m = s->m;
  const mjgpGears* g = s->g;
  const int* line = g->config->line;
  mjtNum* matrix = g->scratch.matrix;
  memset(f->held, 0, sizeof(int) * (size_t)group->nv);
  for (int k = 0; k < group->nv; k++) {
    f->pivot[group->dof[k]] = f->slope[k];
  }
  for (int i = 0; i < s->n; i++) {
    int k = group->E_dof[group->E_adr[i]];
    f->held[k] = piece[i].held;
    f->pivot[group->dof[k]] += piece[i].held ? 0 : piece[i].slope;
  }
  for (int k = group->nv - 1; k >= 0; k--) {
    int above = group->M_adr[k + 1] - group->M_adr[k] > 1 ? group->M_col[group->M_adr[k] + 1] : -1;
    f->below[k] = above >= 0 && (f->held[above] || f->below[above]);
  }
  for (int k = 0; k < group->nv; k++) {
    int dof = group->dof[k], diag = m->M_rownnz[dof] - 1, own = f->held[k];
    mjtNum* L = matrix + line[dof];
    mjgp_copySimd(L, s->d->M, m->M_rowadr[dof], diag + 1, g->config->nC);
    if (own || f->below[k]) {
      const int* col = group->M_col + group->M_adr[k];
      for (int p = 0; p < diag; p++) {
        L[p] = own || f->held[col[diag - p]] ? 0 : L[p];
      }
    }
    if (own) {
      L[diag] = 0;
      f->pivot[dof] = 1;
    }
  }
  for (int k = 0; k < group->nv; k++) {
    mjtNum* pivot = f->pivot + group->dof[k];
    *pivot = mjgp_eliminateRow(matrix, group->dof[k], *pivot, m, line);
    if (!(mju_abs(*pivot) < mjMAXVAL * mjMAXVAL)) {
      return 0;
    }
  }
  return 1;
}


// rows that act
static void listRows(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  f->n = 0;
  for (int i = 0, k = 0; i < group->nefc;) {
    int elliptic = group->type[i] == mjCNSTR_CONTACT_ELLIPTIC,
        dim = elliptic ? group->contact[k]->dim : 1;
    for (int p = 0; p < dim; p++, i++) {
      int cone = group->state[i] == mjCNSTRSTATE_CONE;
      if (cone || group->state[i] == mjCNSTRSTATE_QUADRATIC) {
        f->row[f->n] = i;
        f->cone[f->n++] = cone ? k : -1;
      }
    }
    k += elliptic;
  }
  f->lanes = mjgi_simdEnd(f->n);
}


// Multiply the rows of x, lanes apart, by the force response s'' of the active rows; a
// cone's response mixes its rows.
static void answer(const mjgpForces* f, mjtNum* x, int lanes, int flg_own) {
  const mjgpGroup* group = f->s->group;
  for (int c = 0; c < f->n; c++) {
    int k = f->cone[c];
    if (k < 0) {
      x[c * lanes + c] += flg_own ? group->R[f->row[c]] : 0;
      continue;
    }
    int dim = group->contact[k]->dim;
    mjtNum mixed[6];
    const mjtNum* C = group->cone + 36 * k;
    for (int j = 0; j < lanes; j++) {
      for (int p = 0; p < dim; p++) {
        mixed[p] = flg_own && c + p == j;
        for (int q = 0; q < dim; q++) {
          mixed[p] += C[p * dim + q] * x[(c + q) * lanes + j];
        }
      }
      for (int p = 0; p < dim; p++) {
        x[(c + p) * lanes + j] = mixed[p];
      }
    }
    c += dim - 1;
  }
}


// Factor S = 1 + s'' rows X for the active rows.
static int factorRows(mjgpForces* f) {
  int lanes = f->lanes;
  answer(f, f->S, lanes, 1);
  for (int c = 0; c < f->n; c++) {
    mjtNum own = mju_abs(f->S[c * lanes + c]);
    f->scale[c] = own > 0 ? 1 / own : 1;
    mjgp_scaleSimd(f->S + c * lanes, f->scale[c], 0, lanes);
  }
  mju_zero(f->y, lanes);
  return mjgi_lu(f->S, f->y, f->exchanged, f->n);
}


int mjgp_factorForces(mjgpForces* f, const mjgpPiece* piece) {
  const mjgpGroup* group = f->s->group;
  if (!factorTree(f, piece)) {
    return 0;
  }
  listRows(f);
  if (!f->n) {
    return 1;
  }
  int lanes = f->lanes;
  mju_zero(f->X, group->nv * lanes);
  for (int c = 0; c < f->n; c++) {
    setColumn(group, f->X, lanes, c, f->row[c]);
  }
  for (int k = 0; k < group->nv; k++) {
    if (f->held[k]) {
      mju_zero(f->X + k * lanes, lanes);
    }
  }
  mjgp_solveColumns(group, f->s->m, f->X, lanes, &f->K, 0);
  mju_zero(f->S, f->n * lanes);
  for (int c = 0; c < f->n; c++) {
    const mjtNum* row = f->B + f->row[c] * f->nv;
    mjgp_sumRows(f->S + c * lanes, NULL, f->X, row, 1, group->nv, lanes);
  }
  return factorRows(f);
}


// Solve for the forces y of the active rows. y: -J times the motion without these forces.
static void solveRows(mjgpForces* f) {
  answer(f, f->y, 1, 0);
  for (int c = 0; c < f->n; c++) {
    f->y[c] *= f->scale[c];
  }
  mjgi_luSolve(f->y, f->S, f->exchanged, f->n);
}


// Solve dw = K^-1 dw, and add the motion that the forces of the active rows cause.
static void solveMotion(mjgpForces* f) {
  const mjgpStep* s = f->s;
  mjtNum* dw = f->dw;
  int nv = s->group->nv;
  mjgp_solveDofs(s, dw, &f->K, 0);
  if (!f->n) {
    return;
  }
  for (int c = 0; c < f->n; c++) {
    f->y[c] = -mju_dot(f->B + f->row[c] * f->nv, dw, nv);
  }
  solveRows(f);
  for (int k = 0; k < nv; k++) {
    dw[k] += mju_dot(f->X + k * f->lanes, f->y, f->n);
  }
}


// Gears are free here: M^-1 J' of all rows and the factors of Mhat exist already.
//
//   W_ii = e_i' Mhat^-1 (e_i + J' y),   (1 + s'' J M^-1 J') y = -s'' J M^-1 e_i
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W) {
  const mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  int nv = group->nv;
  mjtNum* dw = f->dw;
  listRows(f);
  int lanes = f->lanes;
  for (int k = 0; k < nv; k++) {
    for (int c = 0; c < f->n; c++) {
      f->X[k * lanes + c] = f->free[k * f->ld + f->row[c]];
    }
  }
  mju_zero(f->S, f->n * lanes);
  for (int c = 0; c < f->n; c++) {
    mju_zero(dw, f->nv);
    copyRow(group, dw, f->row[c]);
    mjgp_sumRows(f->S + c * lanes, NULL, f->X, dw, 1, nv, lanes);
  }
  if (f->n && !factorRows(f)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    int k = group->E_dof[group->E_adr[gear[i]]];
    mju_zero(dw, f->nv);
    dw[k] = 1;
    mjgp_solveDofs(s, dw, s->Mhat, 1);
    for (int c = 0; c < f->n; c++) {
      f->y[c] = -f->X[k * lanes + c];
    }
    if (f->n) {
      solveRows(f);
    }
    W[i] = dw[k];
    for (int c = 0; c < f->n; c++) {
      W[i] += f->y[c] * mjgp_mulConstraint(group, f->row[c], dw);
    }
  }
  return 1;
}


void mjgp_solveForces(mjgpForces* f, const mjgpPiece* piece, const mjtNum* gradient, mjtNum* da) {
  const mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  mjtNum* dw = f->dw;
  int nv = group->nv, stuck = 0;
  mju_scl(dw, gradient, -1, nv);
  for (int i = 0; i < s->n; i++) {
    int k = group->E_dof[group->E_adr[i]];
    stuck |= piece[i].held;
    dw[k] = piece[i].held ? piece[i].target - s->acc[i] : dw[k] - piece[i].t;
  }
  for (int k = 0; k < nv && stuck; k++) {
    for (int p = group->M_adr[k] + 1; p < group->M_adr[k + 1] && (f->held[k] || f->below[k]); p++) {
      int j = group->M_col[p];
      if (f->held[j] && !f->held[k]) {
        dw[k] -= group->M[p] * dw[j];
      } else if (f->held[k] && !f->held[j]) {
        dw[j] -= group->M[p] * dw[k];
      }
    }
  }
  solveMotion(f);

  // da = M^-1 Mhat dw
  for (int k = 0; k < nv; k++) {
    da[k] = f->slope[k] * dw[k];
  }
  mjgp_solveDofs(s, da, &f->M, 0);
  mju_addTo(da, dw, nv);
}

#include "coupled/forces.h"

#include <string.h>

#include "coupled/start.h"
#include "friction/factor.h"
#include "friction/simd.h"
#include "friction/tolerances.h"
#include "solvers/dense.h"


int mjgp_hasForces(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  const mjgpInertia* Mhat = s->Mhat;
  int is = !Mhat->solver && Mhat->slope && !Mhat->block && !group->nextra && !s->gaps &&
           group->nefc <= mjgpFORCES * s->n;
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    is &= s->g->config->own[joint] >= 0 && !mjgp_isParallel(s->g, joint);
  }
  return is;
}


//---------------------------------- start ---------------------------------------------------------

static void allocate(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  size_t nv = (size_t)mjgi_simdEnd(group->nv), nefc = (size_t)group->nefc;
  size_t ld = (size_t)mjgi_simdEnd(group->nefc), n = (size_t)f->s->n, all = (size_t)f->s->m->nv;
  size_t nnum = 4 * nv + all + 2 * nv * ld + ld * ld + 3 * ld + n, nint = 4 * nefc + 2 * nv + n;
  size_t npiece = sizeof(mjgpPiece) / sizeof(mjtNum);
  f->slope = mj_stackAllocNum(f->s->d, nnum + npiece * n + (nint + 1) / 2);
  f->w = f->slope + nv;
  f->balance = f->w + nv;
  f->terms = f->balance + nv;
  f->last = f->terms + nv;
  f->X = f->last + ld;
  f->Z = f->X + nv * ld;
  f->S = f->Z + nv * ld;
  f->scale = f->S + ld * ld;
  f->y = f->scale + ld;
  f->own = f->y + ld;
  f->pivot = f->own + n;
  f->piece = (mjgpPiece*)(f->pivot + all);
  f->row = (int*)(f->pivot + all + npiece * n);
  f->cone = f->row + nefc;
  f->exchanged = f->cone + nefc;
  f->state = f->exchanged + nefc;
  f->held = f->state + nefc;
  f->below = f->held + nv;
  f->asked = f->below + nv;
}


void mjgp_makeForces(mjgpForces* f, mjgpStep* s) {
  mjgpGroup* group = s->group;
  const mjgpInput* in = &s->g->in;
  *f = (mjgpForces){.s = s, .monotone = 1};
  allocate(f);
  f->M = (mjgpInertia){.upper = s->d->qLD, .pivot = s->d->qLDiagInv, .adr = s->m->M_rowadr};
  f->K = (mjgpInertia){.upper = s->g->scratch.matrix, .pivot = f->pivot, .adr = s->g->config->line};
  for (int k = 0; k < group->nv; k++) {
    int dof = group->dof[k], geared = s->g->config->reached[s->m->dof_treeid[dof]];
    f->slope[k] = geared ? s->Mhat->slope[dof] : 0;
  }
  mju_zero(f->w, mjgi_simdEnd(group->nv));
  mju_copy(f->w, s->a, group->nv);
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    mjgp_startPiece(f->piece + i, s->g, s->m, joint, 0, NULL);
    f->monotone &= f->piece[i].monotone;
    f->special |= !in->ordinary[joint];
    f->size = mjMAX(f->size, mju_abs(group->force[group->E_dof[group->E_adr[i]]]));
    s->g->out.P[joint] = 0;
  }
}


//---------------------------------- a step --------------------------------------------------------

// Make K with the lines of the pieces, and factor it.
static int factorTree(mjgpForces* f) {
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
    f->held[k] = f->piece[i].held;
    f->pivot[group->dof[k]] += f->piece[i].held ? 0 : f->piece[i].slope;
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


// Copy the active rows of J to the columns of X; rows of X with known w become 0.
static void setColumns(const mjgpForces* f, mjtNum* X, int flg_held) {
  const mjgpGroup* group = f->s->group;
  mju_zero(X, group->nv * f->lanes);
  for (int c = 0; c < f->n; c++) {
    for (int k = group->J_adr[f->row[c]]; k < group->J_adr[f->row[c] + 1]; k++) {
      for (int j = 0; j < mjgiSIMD; j++) {
        int dof = group->J_lane[k] + j;
        if (group->J_bits[k] >> j & 1 && !(flg_held && f->held[dof])) {
          X[dof * f->lanes + c] = group->J[mjgiSIMD * k + j];
        }
      }
    }
  }
}


// Make S.
static void makeRows(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  int lanes = f->lanes;
  mju_zero(f->S, f->n * lanes);
  for (int c = 0; c < f->n; c++) {
    for (int k = group->J_adr[f->row[c]]; k < group->J_adr[f->row[c] + 1]; k++) {
      for (int j = 0; j < mjgiSIMD; j++) {
        if (group->J_bits[k] >> j & 1) {
          mjgp_addSimd(f->S + c * lanes, f->Z + (group->J_lane[k] + j) * lanes,
                       group->J[mjgiSIMD * k + j], 0, lanes);
        }
      }
    }
  }
  answer(f, f->S, lanes, 1);
  for (int c = 0; c < f->n; c++) {
    mjtNum own = mju_abs(f->S[c * lanes + c]);
    f->scale[c] = own > 0 ? 1 / own : 1;
    mjgp_scaleSimd(f->S + c * lanes, f->scale[c], 0, lanes);
  }
}


// Make the right side of the equations with S. y: jar0 - J times the motion without forces of the
// active rows; f0 (nullable): forces of cones at jar0                             (nefc)
static void makeRight(mjgpForces* f, const mjtNum* f0) {
  answer(f, f->y, 1, 0);
  for (int c = 0; c < f->n; c++) {
    f->y[c] = (f->y[c] + (f0 && f->cone[c] >= 0 ? f0[f->row[c]] : 0)) * f->scale[c];
  }
}


// Make X and Z on the factors of K.
static void makeColumns(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  int lanes = f->lanes, size = group->nv * lanes;
  setColumns(f, f->X, 1);
  mjgp_solveColumns(group, f->s->m, f->X, lanes, &f->K, 0);
  for (int k = 0; k < size; k += mjgiSIMD) {
    *(mjgiSimd*)(f->Z + k) = f->slope[k / lanes] * *(const mjgiSimd*)(f->X + k);
  }
  mjgp_solveColumns(group, f->s->m, f->Z, lanes, &f->M, 0);
  mjgp_addSimd(f->Z, f->X, 1, 0, size);
}


// w, the right side on entry, becomes the motion without the forces of the active rows.
static void solveTree(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  mjtNum* w = f->w;
  int stuck = 0;
  for (int i = 0; i < f->s->n; i++) {
    const mjgpPiece* piece = f->piece + i;
    int k = group->E_dof[group->E_adr[i]];
    stuck |= piece->held;
    mjtNum lag = f->s->g->in.lag[piece->joint];
    w[k] =
        piece->held ? piece->target - lag : w[k] - (piece->t + piece->slope * (lag - piece->acc));
  }
  for (int k = 0; k < group->nv && stuck; k++) {
    for (int p = group->M_adr[k] + 1; p < group->M_adr[k + 1] && (f->held[k] || f->below[k]); p++) {
      int j = group->M_col[p];
      if (f->held[j] && !f->held[k]) {
        w[k] -= group->M[p] * w[j];
      } else if (f->held[k] && !f->held[j]) {
        w[j] -= group->M[p] * w[k];
      }
    }
  }
  mjgp_solveDofs(f->s, w, &f->K, 0);
}


// s->a = w + M^-1 (Mhat - M) w
static void setSolverAcceleration(const mjgpForces* f) {
  mjgpStep* s = f->s;
  int nv = s->group->nv;
  for (int k = 0; k < nv; k++) {
    s->a[k] = f->slope[k] * f->w[k];
  }
  mjgp_solveDofs(s, s->a, &f->M, 0);
  mju_addTo(s->a, f->w, nv);
}


int mjgp_stepForces(mjgpForces* f) {
  mjgpStep* s = f->s;
  mjgpGroup* group = s->group;
  int nv = group->nv;
  if (!factorTree(f)) {
    return 0;
  }
  memcpy(f->state, group->state, sizeof(int) * (size_t)group->nefc);

  // forces of rows that act with a constant force
  mju_copy(f->w, group->force, nv);
  for (int i = group->ne; i < group->ne + group->nf; i++) {
    int state = group->state[i];
    mjtNum force = state == mjCNSTRSTATE_LINEARNEG   ? group->floss[i]
                   : state == mjCNSTRSTATE_LINEARPOS ? -group->floss[i]
                                                     : 0;
    group->f[i] = force;
    for (int k = group->J_adr[i]; k < group->J_adr[i + 1] && force != 0; k++) {
      mjgp_addSimd(f->w + group->J_lane[k], group->J + mjgiSIMD * k, force, 0, mjgiSIMD);
    }
  }
  solveTree(f);
  setSolverAcceleration(f);
  listRows(f);
  for (int c = 0; c < f->n; c++) {
    int i = f->row[c];
    f->y[c] =
        (f->cone[c] >= 0 ? group->jar[i] : 0) + group->aref[i] - mjgp_mulConstraint(group, i, s->a);
  }
  for (int i = 0; i < group->nefc; i++) {
    group->f[i] = group->state[i] == mjCNSTRSTATE_SATISFIED ? 0 : group->f[i];
  }
  if (f->n) {
    makeColumns(f);
    makeRows(f);
    makeRight(f, group->f);
    mju_zero(f->y + f->n, f->lanes - f->n);
    if (!mjgi_lu(f->S, f->y, f->exchanged, f->n)) {
      return 0;
    }
  }
  for (int c = 0; c < f->n; c++) {
    group->f[f->row[c]] = f->y[c];
  }
  for (int k = 0; k < nv && f->n; k++) {
    f->w[k] += mjgp_dotSimd(f->X + k * f->lanes, f->y, 0, f->lanes);
    s->a[k] += mjgp_dotSimd(f->Z + k * f->lanes, f->y, 0, f->lanes);
  }
  mjgp_residual(group, group->jar, s->a);
  return 1;
}


//---------------------------------- iteration -----------------------------------------------------

// Set the torque balance of all dofs without friction, and the size of its terms.
static void setBalance(mjgpForces* f) {
  mjgpGroup* group = f->s->group;
  int nv = group->nv;
  mjgp_mulInertia(group, f->balance, f->w);
  for (int k = 0; k < nv; k++) {
    mjtNum own = (group->M[group->M_adr[k]] + f->slope[k]) * f->w[k];
    mjtNum sum = f->balance[k] + f->slope[k] * f->w[k];
    f->terms[k] = mju_abs(group->force[k]) + mju_abs(own) + mju_abs(sum - own);
    f->balance[k] = sum - group->force[k];
  }
  mjgp_subtractForces(group, f->balance, group->f);
  for (int k = 0; k < nv; k++) {
    f->balance[k] = -f->balance[k];
  }
}


// Set friction and next piece of each gear. Returns the number that change. missing: largest
// unbalanced torque of a dof over the root of its inertia, relative to the largest torque
static int nextPieces(mjgpForces* f, mjtNum* missing) {
  mjgpStep* s = f->s;
  mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep, open = 0, most = 0;
  int changes = 0;
  setBalance(f);
  for (int i = 0; i < s->n; i++) {
    mjgpPiece* piece = f->piece + i;
    int k = group->E_dof[group->E_adr[i]], joint = piece->joint;
    mjtNum left = f->balance[k], acc = s->acc[i] = f->w[k] + s->g->in.lag[joint];
    mjtNum t = piece->held ? left : piece->t + piece->slope * (acc - piece->acc);

    // a steep line of a pre-sliding gear has fewer digits than the torque balance
    int yields = !s->g->out.mode[joint] && s->g->in.compliance[joint] > 0;
    t = yields && mju_abs(left - t) <= mjgpMISSING * f->size ? left : t;
    f->balance[k] -= t;
    f->terms[k] += mju_abs(t);
    changes += mjgp_nextPiece(piece, s->g, h, acc, 0, t, f->size);
    s->t[i] = s->g->out.t[joint];
  }
  for (int k = 0; k < group->nv; k++) {
    mjtNum root = mju_sqrt(group->M[group->M_adr[k]]);
    open = mjMAX(open, mju_abs(f->balance[k]) / root);
    most = mjMAX(most, f->terms[k] / root);
  }
  *missing = open > 0 ? open / most : 0;
  return changes;
}


// Update the row states at group->jar. Returns 1 if they and the forces are those of the step.
static int keepsRows(mjgpForces* f) {
  mjgpGroup* group = f->s->group;
  mjtNum most = 0, error = 0;
  mju_copy(f->last, group->f, group->nefc);
  mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);
  for (int i = 0; i < group->nefc; i++) {
    most = mjMAX(most, mju_abs(f->last[i]));
    error = mjMAX(error, mju_abs(group->f[i] - f->last[i]));
  }
  return error <= mjgpROOT * most &&
         !memcmp(f->state, group->state, sizeof(int) * (size_t)group->nefc);
}


// Move self-locking gears to the branch that is connected to rest. Returns the number of
// moved gears
static int toRestBranch(mjgpForces* f) {
  mjgpStep* s = f->s;
  mjgpGears* g = s->g;
  int n = 0, count = 0;
  for (int i = 0; i < s->n; i++) {
    if (mjgp_isLocking(f->piece + i, g) && mjgp_mayBeElsewhere(f->piece + i, g)) {
      f->asked[n++] = i;
    }
  }
  n = n && mjgp_forceEffects(f, f->asked, n, f->own) ? n : 0;
  for (int k = 0; k < n; k++) {
    int i = f->asked[k];
    mjtNum R = g->in.inertia[s->group->joint[i]] * f->own[k];
    count += mjgp_connectPiece(f->piece + i, g, s->m->opt.timestep, f->own[k], R);
  }
  return count;
}


// Gears are free here.
//
//   W_ii = e_i' Mhat^-1 (e_i + J' y),   (1 + s'' J M^-1 J') y = -s'' J M^-1 e_i
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W) {
  mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  int nv = group->nv, lanes;
  mjgp_factorInertia(s->Mhat, s->m, s->d, s->g);
  listRows(f);
  lanes = f->lanes;
  setColumns(f, f->Z, 0);
  mjgp_solveColumns(group, s->m, f->Z, lanes, &f->M, 0);
  makeRows(f);
  mju_zero(f->y, lanes);
  if (f->n && !mjgi_lu(f->S, f->y, f->exchanged, f->n)) {
    return 0;
  }
  mjtNum* dw = f->terms;
  for (int i = 0; i < n; i++) {
    int k = group->E_dof[group->E_adr[gear[i]]];
    mju_zero(dw, mjgi_simdEnd(nv));
    dw[k] = 1;
    mjgp_solveDofs(s, dw, s->Mhat, 1);
    for (int c = 0; c < f->n; c++) {
      f->y[c] = -f->Z[k * lanes + c];
    }
    if (f->n) {
      makeRight(f, NULL);
      mjgi_luSolve(f->y, f->S, f->exchanged, f->n);
    }
    W[i] = dw[k];
    for (int c = 0; c < f->n; c++) {
      W[i] += f->y[c] * mjgp_mulConstraint(group, f->row[c], dw);
    }
  }
  return 1;
}


// Store the results. error: residual of the solution
static void finish(mjgpForces* f, int iterations, mjtNum error) {
  mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep, most = 0;

  // round-off is relative to the largest acceleration of single forces
  for (int k = 0; k < group->nv; k++) {
    mjtNum effect = mjMAX(mju_abs(f->pivot[group->dof[k]]), 1 / group->M[group->M_adr[k]]);
    most = mjMAX(most, f->terms[k] * effect);
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    s->g->out.cancellation[joint] = mju_abs(s->g->in.v[joint]) + h * most;
  }
  s->g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                                  .iterations = iterations,
                                  .factorizations = iterations,
                                  .residual = error,
                                  .sigma_max = -1};
}


int mjgp_solveForces(mjgpStep* s) {
  mjgpForces memory, *f = &memory;
  mjgp_makeForces(f, s);
  mjgp_startStates(s, NULL, f->last, f->y);
  int most = f->monotone ? mjgpMILD : mjgpEXCHANGES;
  for (int k = 1; k <= most; k++) {
    for (int i = 0; i < s->n; i++) {
      mjtNum acc = f->w[s->group->E_dof[s->group->E_adr[i]]] + s->g->in.lag[s->group->joint[i]];
      mjgp_linePiece(f->piece + i, s->g, s->m->opt.timestep, acc, 0);
    }
    if (!mjgp_spend(s) || !mjgp_stepForces(f)) {
      return 0;
    }
    mjtNum error;
    int changes = nextPieces(f, &error), kept = keepsRows(f);
    if (changes || !kept || !(error <= mjgpROOT)) {
      continue;
    }
    finish(f, k, error);
    if (!f->special || (!toRestBranch(f) && !mjgp_releasePieces(f->piece, s->n, s->g))) {
      return 1;
    }
  }
  return 0;
}

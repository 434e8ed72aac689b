#include "model/effective_inertia.h"

#include <string.h>

#include "configuration/engine.h"
#include "model/actuation.h"
#include "model/factor.h"
#include "model/free_body.h"
#include "model/rotors.h"


//---------------------------------- factorization -------------------------------------------------

// Factor M + diag(slope) in M's structure, for trees with gears or all; fluid (nullable): terms
// off the diagonal.
static void factorSlope(mjtNum* lower, mjtNum* pivot, const mjtNum* slope, const mjtNum* fluid,
                        const mjModel* m, const mjData* d, const mjgpGears* g, int flg_all) {
  const int* line = g->config->line;
  for (int t = (flg_all ? (int)m->ntree : g->in.ntree) - 1; t >= 0; t--) {
    int tree = flg_all ? t : g->in.tree[t], first = m->tree_dofadr[tree];
    int end = first + m->tree_dofnum[tree];
    for (int i = end - 1; i >= first; i--) {
      mjgp_copySimd(lower + line[i], d->M, m->M_rowadr[i], m->M_rownnz[i], g->config->nC);
      for (int k = 0; fluid && k < m->M_rownnz[i] - 1; k++) {
        lower[line[i] + k] += fluid[m->M_rowadr[i] + k];
      }
    }
    for (int k = end - 1; k >= first; k--) {
      pivot[k] = mjgp_eliminateRow(lower, k, slope[k], m, line);
    }
  }
}


// Factor a symmetric matrix in M's structure.
static void factorSymmetric(mjtNum* lower, mjtNum* pivot, const mjModel* m, const mjgpGears* g) {
  for (int t = g->in.ntree - 1; t >= 0; t--) {
    int tree = g->in.tree[t], first = m->tree_dofadr[tree];
    for (int k = first + m->tree_dofnum[tree] - 1; k >= first; k--) {
      pivot[k] = mjgp_eliminateRow(lower, k, 0, m, g->config->line);
    }
  }
}


// Factor an unsymmetric matrix as U D L, the lower part in M's structure, the upper in its
// transpose's.
static void factorGeneral(mjtNum* lower, mjtNum* upper, mjtNum* pivot, const mjModel* m,
                          const mjgpGears* g) {
  for (int t = g->in.ntree - 1; t >= 0; t--) {
    int tree = g->in.tree[t], first = m->tree_dofadr[tree];
    for (int k = first + m->tree_dofnum[tree] - 1; k >= first; k--) {
      int diag = m->M_rownnz[k] - 1;
      const int* row = m->M_colind + m->M_rowadr[k];
      mjtNum *L = lower + g->config->line[k], *U = upper + g->config->line[k],
             inverse = pivot[k] = 1 / L[diag];
      mjgp_scaleSimd(U, inverse, 0, mjgi_simdEnd(diag));
      for (int p = 0; p < diag; p++) {
        int target = g->config->line[row[p]], end = mjgi_simdEnd(p + 1);
        mjgp_addSimd(lower + target, L, -U[p], 0, end);
        mjgp_addSimd(upper + target, U, -L[p], 0, end);
      }
      mjgp_scaleSimd(L, inverse, 0, mjgi_simdEnd(diag));
    }
  }
}


//---------------------------------- matrix of the integrator --------------------------------------

// derivative of a joint's damping force with respect to velocity
static mjtNum dampingSlope(const mjModel* m, const mjData* d, int dof) {
  mjtNum poly[mjNPOLY];
  for (int k = 0; k < mjNPOLY; k++) {
    poly[k] = m->dof_dampingpoly[mjNPOLY * dof + k];
  }
  mjtNum slope = m->dof_damping[dof];
  if (m->jnt_actuatorid[m->dof_jntid[dof]] != -1) {
    slope += mj_actuatorDamping(m, mjOBJ_JOINT, m->dof_jntid[dof], poly);
  }
  mjtNum power = 1, speed = mju_abs(d->qvel[dof]);
  for (int k = 0; k < mjNPOLY; k++) {
    power *= speed;
    slope += (k + 2) * poly[k] * power;
  }
  return slope;
}


// Returns 1 if a tendon has damping, own or of actuators.
static int isDamped(const mjModel* m, int tendon) {
  mjtNum poly[mjNPOLY], damping = m->tendon_damping[tendon];
  for (int k = 0; k < mjNPOLY; k++) {
    poly[k] = m->tendon_dampingpoly[mjNPOLY * tendon + k];
  }
  if (m->tendon_actuatorid[tendon] != -1) {
    damping += mj_actuatorDamping(m, mjOBJ_TENDON, tendon, poly);
  }
  return damping != 0 || !mju_isZero(poly, mjNPOLY);
}


// Returns 1 if Mhat is M and a diagonal, of another integrator than "discrete".
static int isDiagonal(const mjModel* m, mjgpGains gains) {
  int damped = 0;
  for (int t = 0; t < m->ntendon && !damped; t++) {
    damped = isDamped(m, t);
  }
  int plain = m->opt.viscosity == 0 && m->opt.density == 0 && !m->nflex && !damped;
  return m->opt.integrator == mjINT_IMPLICITFAST ? plain && gains != mjgpGAINS_GENERAL
                                                 : m->opt.integrator != mjINT_IMPLICIT;
}


// Make slope = h d(damping)/dv and the velocity gains of actuators.
static void makeSlope(mjgpInertia* Mhat, const mjModel* m, const mjData* d, mjgpGears* g, int damps,
                      int gains) {
  mjtNum h = m->opt.timestep, *diagonal = g->scratch.slope;
  Mhat->slope = diagonal;
  Mhat->passive = Mhat->flg_M = 1;
  for (int t = g->in.ntree - 1; t >= 0; t--) {
    int tree = g->in.tree[t], first = m->tree_dofadr[tree];
    for (int i = first + m->tree_dofnum[tree] - 1; i >= first; i--) {
      mjtNum slope = damps ? h * dampingSlope(m, d, i) : 0;
      slope -= gains ? h * d->qDeriv[m->D_rowadr[i] + m->D_diag[i]] : 0;
      diagonal[i] = slope;
    }
  }
  mjgp_removeDiagonal(diagonal, g);
  for (int t = 0; t < g->in.ntree; t++) {
    int first = m->tree_dofadr[g->in.tree[t]], end = first + m->tree_dofnum[g->in.tree[t]];
    for (int i = first; i < end; i++) {
      Mhat->flg_M &= diagonal[i] == 0;
      Mhat->passive &= diagonal[i] >= 0;
    }
  }
}


// "discrete": the engine has made and factored its metric
static void makeDiscrete(mjgpInertia* Mhat, const mjModel* m, const mjData* d, mjgpGears* g) {
  Mhat->solver = Mhat->passive = 1;
#if mjgpDISCRETE
  int nv = g->config->nv, fluid = m->opt.viscosity > 0 || m->opt.density > 0;
  mju_zero(g->scratch.slope, nv);
  if (!d->efm_active || !d->efm_sdiag) {  // no terms
    Mhat->flg_M = 1;
    Mhat->slope = g->scratch.slope;
    return;
  }
  if (d->efm_sdiag) {
    mju_copy(g->scratch.slope, d->efm_sdiag, nv);
  }
  Mhat->flg_M = mju_isZero(g->scratch.slope, nv) && !fluid;
  Mhat->slope = fluid ? NULL : g->scratch.slope;
  for (int k = 0; k < d->nefmA; k++) {
    int row = m->actuator_outadr[d->efm_aid[k]], n = m->actuator_outnum[d->efm_aid[k]];
    for (int i = row; i < row + n; i++) {
      Mhat->coupled |= d->moment_rownnz[i] > 1;
    }
  }
  for (int k = 0; k < d->nefmT; k++) {
    Mhat->coupled |= m->ten_J_rownnz[d->efm_tid[k]] > 1;
  }
#else
  (void)m, (void)d, (void)g;
#endif
}


// Make lower, upper = M - h qDeriv, without the gains of rotors behind gaps; upper is
// nullable.
static void addDerivative(mjtNum* lower, mjtNum* upper, const mjModel* m, const mjData* d,
                          const mjgpGears* g) {
  for (int t = g->in.ntree - 1; t >= 0; t--) {
    int tree = g->in.tree[t], first = m->tree_dofadr[tree];
    for (int i = first + m->tree_dofnum[tree] - 1; i >= first; i--) {
      int adr = m->M_rowadr[i], line = g->config->line[i];
      for (int k = 0; k < m->M_rownnz[i]; k++) {
        lower[line + k] = d->M[adr + k] - m->opt.timestep * d->qDeriv[m->mapD2M[adr + k]];
        if (upper) {
          upper[line + k] =
              d->M[adr + k] - m->opt.timestep * d->qDeriv[g->config->transpose[adr + k]];
        }
      }
    }
  }
  mjgp_removeGains(lower, upper, g, m);
}


void mjgp_makeInertia(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g) {
  *Mhat = (mjgpInertia){.symmetric = m->opt.integrator != mjINT_IMPLICIT};
  int fast = m->opt.integrator ==
             mjINT_IMPLICITFAST;  // else Euler; RK4 was warned about and is treated alike
  int off = fast ? mjDSBL_DAMPER : mjDSBL_DAMPER | mjDSBL_EULERDAMP;
  if (mjgp_isDiscrete(m)) {
    makeDiscrete(Mhat, m, d, g);
    return;
  }
  if (isDiagonal(m, g->in.gains)) {
    makeSlope(Mhat, m, d, g, !(m->opt.disableflags & off), fast && g->in.gains != mjgpGAINS_NONE);
  }
  Mhat->solver = Mhat->flg_M;
}


// the factors in M's sparsity
static void factorSparse(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g) {
  if (Mhat->flg_M) {
    Mhat->upper = d->qLD;
    Mhat->pivot = d->qLDiagInv;
    Mhat->adr = m->M_rowadr;
    return;
  }
  const mjtNum* fluid = NULL;
#if mjgpDISCRETE
  if (g->in.factored) {
    Mhat->upper = d->qH;
    Mhat->pivot = d->qHDiagInv;
    Mhat->adr = m->M_rowadr;
    return;
  }
  fluid = mjgp_isDiscrete(m) ? d->efm_fluid : NULL;
#endif
  Mhat->upper = Mhat->symmetric ? g->scratch.lower : g->scratch.upper;
  Mhat->lower = Mhat->symmetric ? NULL : g->scratch.lower;
  Mhat->pivot = g->scratch.pivot;
  Mhat->adr = g->config->line;
  if (!Mhat->symmetric) {
    if (!Mhat->derived) {
      mjd_smooth_vel(m, d, 1);
    }
    addDerivative(g->scratch.lower, g->scratch.upper, m, d, g);
    factorGeneral(g->scratch.lower, g->scratch.upper, g->scratch.pivot, m, g);
    return;
  }
  if (Mhat->slope || mjgp_isDiscrete(m)) {
    factorSlope(g->scratch.lower, g->scratch.pivot, g->scratch.slope, fluid, m, d, g,
                mjgp_isDiscrete(m));
    return;
  }
  if (!Mhat->derived) {
    mjd_smooth_vel(m, d, 0);
  }
  addDerivative(g->scratch.lower, NULL, m, d, g);
  factorSymmetric(g->scratch.lower, g->scratch.pivot, m, g);
}


void mjgp_factorInertia(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g) {
  if (Mhat->upper) {
    return;
  }
  factorSparse(Mhat, m, d, g);
  if (Mhat->block) {
    mjgp_invertBlocks(Mhat, m, d, g);
  }
}


static void solveSparse(mjtNum* x, const mjModel* m, const mjgpInertia* Mhat, int begin, int end) {
  for (int i = end - 1; i >= begin; i--) {
    const int* row = m->M_colind + m->M_rowadr[i];
    const mjtNum* U = Mhat->upper + Mhat->adr[i];
    mjtNum own = x[i];
    int n = own != 0 ? m->M_rownnz[i] - 1 : 0;
    for (int p = 0; p < n; p++) {
      x[row[p]] -= U[p] * own;
    }
  }
  for (int i = begin; i < end; i++) {
    const int* row = m->M_colind + m->M_rowadr[i];
    const mjtNum* L = (Mhat->lower ? Mhat->lower : Mhat->upper) + Mhat->adr[i];
    mjtNum sum = 0;
    int n = m->M_rownnz[i] - 1;
    for (int p = 0; p < n; p++) {
      sum += L[p] * x[row[p]];
    }
    x[i] = x[i] * Mhat->pivot[i] - sum;
  }
}


void mjgp_solveInertia(mjtNum* x, const mjModel* m, const mjgpInertia* Mhat, int begin, int end) {
  if (!Mhat->block) {
    solveSparse(x, m, Mhat, begin, end);
    return;
  }
  for (int i = begin, n; i < end; i += n) {
    int tree = m->dof_treeid[i];
    n = m->tree_dofnum[tree];
    if (!Mhat->blocked[tree]) {
      solveSparse(x, m, Mhat, i, i + n);
      continue;
    }
    mjtNum right[6];
    mju_copy(right, x + i, n);
    mju_mulMatVec(x + i, Mhat->block + 6 * i, right, n, n);
  }
}


// Elimination passes a force only to ancestors, whose columns are part of the dof's row.
mjtNum mjgp_inverseDiagonal(const mjModel* m, const mjgpInertia* Mhat, mjtNum* x, int dof) {
  const int* row = m->M_colind + m->M_rowadr[dof];
  int diag = m->M_rownnz[dof] - 1;
  mjtNum sum = 0;
  memset(x, 0, sizeof(*x) * (size_t)diag);
  x[diag] = 1;
  for (int q = diag; q >= 0; q--) {
    mjgi_addScaled(x, Mhat->upper + Mhat->adr[row[q]], -x[q], q);
    sum += x[q] * x[q] * Mhat->pivot[row[q]];
  }
  return sum;
}

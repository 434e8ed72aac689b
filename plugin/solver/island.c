#include "solver/island.h"

#include <float.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/tolerances.h"
#include "model/simd.h"
#include "solver/zones.h"


//---------------------------------- cut out -------------------------------------------------------

// Gather the rows of M between dofs of the group; of the integrator's metric, in its sparsity, if
// the constraint solver moves in it. The engine's diagonal includes the fluid's drag, unless dofs
// are coupled.
static void gatherInertia(mjgpGroup* group, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                          const int* local) {
  const mjtNum *diagonal = NULL, *fluid = NULL;
#if mjgpDISCRETE
  if (mjgp_isDiscrete(m) && d->efm_active) {
    diagonal = Mhat->coupled ? d->efm_diag : d->efm_sdiag;
    fluid = d->efm_fluid;
  }
#endif
  int nnz = 0;
  for (int i = 0; i < group->nv; i++) {
    int adr = m->M_rowadr[group->dof[i]], n = m->M_rownnz[group->dof[i]];
    group->M_adr[i] = nnz;
    for (int k = adr + n - 1; k >= adr; k--) {
      group->M_col[nnz] = local[m->M_colind[k]];
      group->M[nnz++] = d->M[k];
    }
    group->M[group->M_adr[i]] += diagonal ? diagonal[group->dof[i]] : 0;
  }
  group->M_adr[group->nv] = nnz;
  for (int i = 0; i < group->nv && fluid; i++) {
    int diag = m->M_rowadr[group->dof[i]] + m->M_rownnz[group->dof[i]] - 1;
    for (int k = !Mhat->coupled; k < m->M_rownnz[group->dof[i]]; k++) {
      group->M[group->M_adr[i] + k] += fluid[diag - k];
    }
  }
}


// List terms of the metric that couple dofs of the group, as rows and scales. Returns their
// number.
static int listTerms(int* row, mjtNum* scale, const mjModel* m, const mjData* d,
                     const mjgpInertia* Mhat, const int* local) {
  int n = 0;
#if mjgpDISCRETE
  for (int k = 0; k < d->nefmA && Mhat->coupled; k++) {
    int out = m->actuator_outadr[d->efm_aid[k]];
    for (int i = out; i < out + m->actuator_outnum[d->efm_aid[k]]; i++) {
      if (d->efm_as[k] > 0 && d->moment_rownnz[i] &&
          local[d->moment_colind[d->moment_rowadr[i]]] >= 0) {
        row[n] = i;
        scale[n++] = d->efm_as[k];
      }
    }
  }
  for (int k = 0; k < d->nefmT && Mhat->coupled; k++) {
    int i = d->efm_tid[k];
    if (d->efm_ts[k] > 0 && m->ten_J_rownnz[i] && local[m->ten_J_colind[m->ten_J_rowadr[i]]] >= 0) {
      row[n] = -1 - i;
      scale[n++] = d->efm_ts[k];
    }
  }
#else
  (void)row, (void)scale, (void)m, (void)d, (void)Mhat, (void)local;
#endif
  return n;
}


// Write one of them to a vector over the dofs of the group, or clear it.
static void fillTerm(mjtNum* x, int row, int flg_zero, const mjModel* m, const mjData* d,
                     const int* local) {
  int tendon = row < 0, id = tendon ? -1 - row : row;
  int n = tendon ? m->ten_J_rownnz[id] : d->moment_rownnz[id];
  int adr = tendon ? m->ten_J_rowadr[id] : d->moment_rowadr[id];
  const int* dof = (tendon ? m->ten_J_colind : d->moment_colind) + adr;
  const mjtNum* value = (tendon ? d->ten_J : d->actuator_moment) + adr;
  for (int k = 0; k < n; k++) {
    if (local[dof[k]] >= 0) {
      x[local[dof[k]]] = flg_zero ? 0 : value[k];
    }
  }
}


// Gather some columns of a dense row, then zeros.
static inline mjgiSimd gatherLane(const mjtNum* J, const int* dof, int left) {
  if (left >= mjgiSIMD && dof[0] - dof[3] == 3) {  // neighbours
    const mjtNum* x = J + dof[3];
    return (mjgiSimd){x[3], x[2], x[1], x[0]};
  }
  if (left >= mjgiSIMD) {
    return (mjgiSimd){J[dof[0]], J[dof[1]], J[dof[2]], J[dof[3]]};
  }
  return (mjgiSimd){J[dof[0]], left > 1 ? J[dof[1]] : 0, left > 2 ? J[dof[2]] : 0, 0};
}


// Append a lane to the first n of J, unless it is zero. Returns their number.
static inline int addLane(mjgpGroup* group, int n, int begin, mjgiSimd x) {
  const mjgiSimd value = {1, 2, 4, 8};
  mjgiSimd set = (mjgiSimd)((mjgpBits)value & (x != 0));
  int bits = (int)((set[0] + set[1]) + (set[2] + set[3]));
  if (bits) {
    *(mjgiSimd*)(group->J + mjgiSIMD * n) = x;
    group->J_lane[n] = begin;
    group->J_bits[n++] = bits;
  }
  return n;
}


// Gather the nonzero lanes of J; term: the first rows. Long because terms, sparse and dense
// Jacobians are cut into lanes in one walk.
static void gatherJacobian(mjgpGroup* group, const mjModel* m, mjData* d, const int* term,
                           const int* local) {
  int sparse = mj_isSparse(m), n = 0, nv = group->nv;
  mjtNum* full = NULL;
  if (group->nterm) {
    full = mj_stackAllocNum(d, (size_t)mjgi_simdEnd(nv));
    mju_zero(full, mjgi_simdEnd(nv));
  }
  for (int i = 0; i < group->nefc; i++) {
    int row = group->row[i];
    group->J_adr[i] = n;
    if (i < group->nterm) {
      fillTerm(full, term[i], 0, m, d, local);
      for (int begin = 0; begin < nv; begin += mjgiSIMD) {
        n = addLane(group, n, begin, *(const mjgiSimd*)(full + begin));
      }
      fillTerm(full, term[i], 1, m, d, local);
      continue;
    }
    if (sparse) {
      int adr = d->efc_J_rowadr[row], begin = -1;
      for (int k = adr + d->efc_J_rownnz[row] - 1; k >= adr; k--) {
        int column = local[d->efc_J_colind[k]];
        if (column < 0 || d->efc_J[k] == 0) {
          continue;
        }
        if (mjgi_simdBegin(column) != begin) {
          begin = group->J_lane[n] = mjgi_simdBegin(column);
          group->J_bits[n] = 0;
          *(mjgiSimd*)(group->J + mjgiSIMD * n++) = (mjgiSimd){0};
        }
        group->J_bits[n - 1] |= 1 << (column - begin);
        group->J[mjgiSIMD * (n - 1) + column - begin] = d->efc_J[k];
      }
      continue;
    }

    // dense
    const mjtNum* J = d->efc_J + (size_t)row * (size_t)m->nv;
    for (int begin = 0; begin < nv; begin += mjgiSIMD) {
      n = addLane(group, n, begin, gatherLane(J, group->dof + begin, nv - begin));
    }
  }
  group->J_adr[group->nefc] = n;
}


// Gather constraint rows: type, mass, bound, reference, contact.
static void gatherRows(mjgpGroup* group, mjData* d, const mjtNum* scale) {
  for (int i = 0; i < group->nterm; i++) {
    group->type[i] = mjCNSTR_EQUALITY;
    group->D[i] = scale[i];
    group->R[i] = 1 / scale[i];
    group->floss[i] = group->aref[i] = 0;
  }
  int ne = 0, nf = 0, ncone = 0, ne_all = d->ne, nf_all = d->nf;
  for (int i = group->nterm; i < group->nefc; i++) {
    int row = group->row[i], type = d->efc_type[row];
    ne += row < ne_all;
    nf += row >= ne_all && row < ne_all + nf_all;
    group->type[i] = type;
    group->D[i] = d->efc_D[row];
    group->R[i] = d->efc_R[row];
    group->floss[i] = d->efc_frictionloss[row];
    group->aref[i] = d->efc_aref[row];
    ncone += type == mjCNSTR_CONTACT_ELLIPTIC && d->contact[d->efc_id[row]].efc_address == row;
  }
  group->ne = group->nterm + ne;
  group->nf = nf;
  group->ncone = ncone;

  // contacts with elliptic cones
  if (!group->ncone) {
    return;
  }
  group->contact =
      mj_stackAllocByte(d, sizeof(mjContact*) * (size_t)group->ncone, _Alignof(mjContact*));
  group->cone = mj_stackAllocNum(d, 36 * (size_t)group->ncone);
  for (int i = 0, k = 0; k < group->ncone; i++) {
    if (group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      group->contact[k] = d->contact + d->efc_id[group->row[i]];
      i += group->contact[k++]->dim - 1;
    }
  }
}


// Gather the velocities on which the gears act.
static void gatherGears(mjgpGroup* group, const mjgpGears* g, const int* local) {
  int n = group->E_adr[0] = 0;
  for (int i = 0; i < group->njoint; i++) {
    mjgpRow row = g->in.E[group->joint[i]];
    for (int k = 0; k < row.n; k++) {
      int own = local[row.dof[k]];
      group->E_dof[n] = own < 0 ? 0 : own;
      group->E[n++] = own < 0 ? 0 : row.value[k];  // dofs that are asleep
    }
    group->E_adr[i + 1] = n;
  }
}


// Allocate all rows at once: a call costs as much as a hundred additions.
static void allocate(mjgpGroup* group, const mjModel* m, mjData* d, const mjgpGears* g) {
  size_t nv = (size_t)group->nv, n = (size_t)group->nefc, nnz = 0, nlane = 1, nE = 0;
  int sparse = mj_isSparse(m), dense = mjgi_simdEnd(group->nv) / mjgiSIMD;
  for (int i = 0; i < group->nv; i++) {
    nnz += (size_t)m->M_rownnz[group->dof[i]];
  }
  for (int i = 0; i < group->nefc; i++) {
    int row = group->row[i];
    nlane += (size_t)(sparse && i >= group->nterm ? d->efc_J_rownnz[row] : dense);
  }
  for (int i = 0; i < group->njoint; i++) {
    nE += (size_t)g->in.E[group->joint[i]].n;
  }
  size_t nint = nv + nnz + 3 * n + 2 * nlane + (size_t)group->njoint + nE + 3;
  group->J = mj_stackAllocNum(d, mjgiSIMD * nlane + nnz + 6 * n + nE + (nint + 1) / 2);
  group->M = group->J + mjgiSIMD * nlane;
  group->D = group->M + nnz;
  group->R = group->D + n;
  group->floss = group->R + n;
  group->aref = group->floss + n;
  group->jar = group->aref + n;
  group->f = group->jar + n;
  group->E = group->f + n;
  group->M_adr = (int*)(group->E + nE);
  group->M_col = group->M_adr + nv + 1;
  group->J_adr = group->M_col + nnz;
  group->J_lane = group->J_adr + n + 1;
  group->J_bits = group->J_lane + nlane;
  group->type = group->J_bits + nlane;
  group->state = group->type + n;
  group->E_adr = group->state + n;
  group->E_dof = group->E_adr + group->njoint + 1;
}


void mjgp_makeGroup(mjgpGroup* group, const mjModel* m, mjData* d, const mjgpGears* g,
                    const mjgpInertia* Mhat, int* local, const mjtNum* force,
                    const mjgpPart* part) {
  int nv = part->nv, njoint = part->njoint;
  size_t most = Mhat->coupled ? 4 * (size_t)(m->ntendon + m->nout) : 0;
  size_t nforce = (size_t)mjgi_simdEnd(nv);
  mjtNum* number = mj_stackAllocNum(d, nforce + most + (size_t)njoint + 1);
  int* reversed = mj_stackAllocInt(d, (size_t)(nv + njoint) + most);
  int* term = reversed + nv + njoint;
  *group = (mjgpGroup){.nv = nv, .njoint = njoint, .dof = reversed, .joint = part->joint};
  for (int i = 0; i < nv; i++) {
    reversed[i] = part->dof[nv - 1 - i];
    local[reversed[i]] = i;
  }

  // terms of the metric, then constraints
  mjtNum* scale = number + nforce;
  group->force = number;
  group->nterm = listTerms(term, scale, m, d, Mhat, local);
  group->nefc = group->nterm + part->nefc;
  group->row = part->row;
  if (group->nterm) {
    int* row = mj_stackAllocInt(d, (size_t)group->nefc);
    for (int i = 0; i < group->nefc; i++) {
      row[i] = i < group->nterm ? -1 : part->row[i - group->nterm];
    }
    group->row = row;
  }

  // rows of rotor inertia
  group->extra = reversed + nv;
  group->extra_row = (const mjtNum**)(scale + most);
  for (int i = 0; i < njoint; i++) {
    int shaft = g->config->gaps && g->config->joint[part->joint[i]].gap == mjgpGAP_LOAD;
    const mjtNum* own = shaft ? NULL : g->in.row[part->joint[i]];
    group->extra[i] = own ? group->nextra : -1;
    group->extra_row[group->nextra] = own;
    group->nextra += own != NULL;
  }
  group->ld = mjgi_simdEnd(njoint + group->nextra);
  allocate(group, m, d, g);
  gatherInertia(group, m, d, Mhat, local);
  gatherJacobian(group, m, d, term, local);
  gatherRows(group, d, scale);
  gatherGears(group, g, local);
  for (int i = 0; i < nv; i++) {
    group->force[i] = force[reversed[i]];
    local[reversed[i]] = -1;
  }
  for (int i = nv; i < mjgi_simdEnd(nv); i++) {
    group->force[i] = 0;
  }
}


//---------------------------------- rows ----------------------------------------------------------

mjtNum mjgp_mulConstraint(const mjgpGroup* group, int i, const mjtNum* x) {
  mjgiSimd sum = {0};
  for (int k = group->J_adr[i]; k < group->J_adr[i + 1]; k++) {
    sum += *(const mjgiSimd*)(group->J + mjgiSIMD * k) * *(const mjgiSimd*)(x + group->J_lane[k]);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}


void mjgp_mulJacobian(const mjgpGroup* group, mjtNum* result, const mjtNum* x) {
  for (int i = 0; i < group->nefc; i++) {
    result[i] = mjgp_mulConstraint(group, i, x);
  }
}


void mjgp_residual(mjgpGroup* group, mjtNum* jar, const mjtNum* a) {
  mjgp_mulJacobian(group, jar, a);
  for (int i = 0; i < group->nefc; i++) {
    jar[i] -= group->aref[i];
  }
}


mjtNum mjgp_rowSize(const mjgpGroup* group, int i, const mjtNum* a) {
  mjgiSimd sum = {mju_abs(group->aref[i])};
  for (int k = group->J_adr[i]; k < group->J_adr[i + 1]; k++) {
    sum += mjgp_absSimd(*(const mjgiSimd*)(group->J + mjgiSIMD * k) *
                        *(const mjgiSimd*)(a + group->J_lane[k]));
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}


//---------------------------------- gradient ------------------------------------------------------

// M vec, from the rows of its upper triangle; flg_absolute: with absolute values of all terms
static inline __attribute__((always_inline)) void mulInertia(const mjgpGroup* group,
                                                             mjtNum* restrict result,
                                                             const mjtNum* restrict vec,
                                                             int flg_absolute) {
  mju_zero(result, mjgi_simdEnd(group->nv));
  for (int k = 0; k < group->nv; k++) {
    int adr = group->M_adr[k], end = group->M_adr[k + 1];
    mjtNum own = vec[k], term = group->M[adr] * own, sum = flg_absolute ? mju_abs(term) : term;
    for (int p = adr + 1; p < end; p++) {
      int j = group->M_col[p];
      mjtNum row = group->M[p] * vec[j], column = group->M[p] * own;
      sum += flg_absolute ? mju_abs(row) : row;
      result[j] += flg_absolute ? mju_abs(column) : column;
    }
    result[k] += sum;
  }
}


void mjgp_mulInertia(const mjgpGroup* group, mjtNum* restrict result, const mjtNum* restrict vec) {
  mulInertia(group, result, vec, 0);
}


void mjgp_addGears(const mjgpGroup* group, mjtNum* x, const mjtNum* t) {
  for (int i = 0; i < group->njoint; i++) {
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      x[group->E_dof[k]] += group->E[k] * t[i];
    }
  }
}


void mjgp_smoothGradient(const mjgpGroup* group, mjtNum* x, const mjtNum* a) {
  mjgp_mulInertia(group, x, a);
  mjgp_addSimd(x, group->force, -1, 0, mjgi_simdEnd(group->nv));
}


void mjgp_subtractForces(const mjgpGroup* group, mjtNum* x, const mjtNum* f) {
  for (int i = 0; i < group->nefc; i++) {
    mjtNum force = f[i];
    int end = force != 0 ? group->J_adr[i + 1] : 0;
    for (int k = group->J_adr[i]; k < end; k++) {
      *(mjgiSimd*)(x + group->J_lane[k]) -= *(const mjgiSimd*)(group->J + mjgiSIMD * k) * force;
    }
  }
}


void mjgp_gradient(const mjgpGroup* group, mjtNum* gradient, mjtNum* rounding, const mjtNum* a,
                   const mjtNum* t) {
  int nv = group->nv;
  mjgp_smoothGradient(group, gradient, a);
  if (t) {
    mjgp_addGears(group, gradient, t);
  }
  mjgp_subtractForces(group, gradient, group->f);
  if (!rounding) {
    return;
  }

  // sums of absolute values
  mulInertia(group, rounding, a, 1);
  for (int i = 0; i < nv; i++) {
    rounding[i] += mju_abs(group->force[i]);
  }
  for (int i = 0; t && i < group->njoint; i++) {
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      rounding[group->E_dof[k]] += mju_abs(group->E[k] * t[i]);
    }
  }
  for (int i = 0; i < group->nefc; i++) {
    mjtNum size = mjgp_rowSize(group, i, a);
    if (group->state[i] != mjCNSTRSTATE_SATISFIED || group->jar[i] < mjgpSUMMED * size) {
      size = size * group->D[i] + mju_abs(group->f[i]);
      for (int k = group->J_adr[i]; k < group->J_adr[i + 1]; k++) {
        *(mjgiSimd*)(rounding + group->J_lane[k]) +=
            mjgp_absSimd(*(const mjgiSimd*)(group->J + mjgiSIMD * k)) * size;
      }
    }
  }

  // lower limit of round-off, relative to the largest one in the metric of the inertia
  mjtNum most = 0;
  for (int i = 0; i < nv; i++) {
    most = mju_max(most, rounding[i] * rounding[i] / group->M[group->M_adr[i]]);
  }
  for (int i = 0; i < nv; i++) {
    mjtNum least = mjgpLEAST * mju_sqrt(most * group->M[group->M_adr[i]]);
    rounding[i] = DBL_EPSILON * mju_max(rounding[i], least);
  }
}

#include "solver/hessian.h"

#include <string.h>

#include "model/simd.h"

#define mjgpBATCH 4  // rows that are added to the Hessian at once


//---------------------------------- pattern -------------------------------------------------------

// Add the edge from k to i > k to the elimination tree.
static void insertEdge(int* parent, int k, int i) {
  while (parent[k] != i) {
    if (parent[k] < 0) {
      parent[k] = i;
      return;
    }
    int next = mjMIN(i, parent[k]);
    i = mjMAX(i, parent[k]);
    parent[k] = next;
    k = next;
  }
}


// Returns the number of rows from i on of one contact, or 1.
static int countRows(const mjgpGroup* group, const mjData* d, int i) {
  int n = 1;
  if (group->type[i] >= mjCNSTR_CONTACT_FRICTIONLESS) {
    int id = d->efc_id[group->row[i]];
    while (i + n < group->nefc && group->type[i + n] == group->type[i] &&
           d->efc_id[group->row[i + n]] == id) {
      n++;
    }
  }
  return n;
}


// Connect all dofs of n rows from i on. Scratch: column, and set, which holds 0.
static void connectRows(mjgpGroup* group, int* column, int* set, int i, int n) {
  // the union of their columns, a bit each
  int low = group->nv, high = 0, count = 0;
  for (int row = i; row < i + n; row++) {
    int begin = group->J_adr[row],
        end = row > i && group->same[row] ? begin : group->J_adr[row + 1];
    for (int k = begin; k < end; k++) {
      set[group->J_lane[k] / mjgiSIMD] |= group->J_bits[k];
    }
    low = begin < end ? mjMIN(low, group->J_lane[begin] / mjgiSIMD) : low;
    high = begin < end ? mjMAX(high, group->J_lane[end - 1] / mjgiSIMD + 1) : high;
  }
  for (int lane = low; lane < high; lane++) {
    for (int j = 0; j < mjgiSIMD; j++) {
      column[count] = lane * mjgiSIMD + j;
      count += set[lane] >> j & 1;
    }
    set[lane] = 0;
  }

  // edges from each to the next suffice: elimination connects the rest
  for (int k = 0; k < count; k++) {
    group->last[column[k]] = mjMAX(group->last[column[k]], column[count - 1]);
    if (k) {
      insertEdge(group->parent, column[k - 1], column[k]);
    }
  }
}


// Long because it makes pattern, order and addresses in one walk over the rows.
void mjgp_makePattern(mjgpGroup* group, mjData* d) {
  int nv = group->nv;
  size_t nint = 6 * (size_t)nv + (size_t)(mjgi_simdEnd(nv) + 1 + group->nefc);
  group->U_adr = (size_t*)mj_stackAllocNum(d, (size_t)nv + (nint + 1) / 2);
  group->parent = (int*)(group->U_adr + nv);
  group->last = group->parent + nv;
  group->first = group->last + nv;
  group->from = group->first + nv;
  group->to = group->from + nv;
  int *set = group->to + nv, *column = set + nv;
  group->same = column + mjgi_simdEnd(nv) + 1;

  // tree
  for (int i = 0; i < nv; i++) {
    int begin = group->M_adr[i], end = group->M_adr[i + 1];
    group->parent[i] = end - begin > 1 ? group->M_col[begin + 1] : -1;
    group->last[i] = group->M_col[end - 1];
    group->first[i] = i;
    group->from[i] = group->njoint + group->nextra;
    group->to[i] = 0;
    set[i] = 0;
  }
  for (int i = 0; i < group->njoint; i++) {
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      int dof = group->E_dof[k];
      group->from[dof] = mjMIN(group->from[dof], i);
      group->to[dof] = i + 1;
    }
  }
  for (int e = 0; e < group->nextra; e++) {
    for (int i = 0; i < nv; i++) {
      if (group->extra_row[e][group->dof[i]] != 0) {
        group->from[i] = mjMIN(group->from[i], group->njoint + e);
        group->to[i] = group->njoint + e + 1;
      }
    }
  }

  // constraints
  const int *lane = group->J_lane, *bits = group->J_bits;
  for (int i = 0; i < group->nefc; i++) {
    int adr = group->J_adr[i], n = group->J_adr[i + 1] - adr;
    int differs = !i || adr - group->J_adr[i - 1] != n;
    for (int k = adr; k < adr + n && !differs; k++) {
      differs = (lane[k] ^ lane[k - n]) | (bits[k] ^ bits[k - n]);
    }
    group->same[i] = !differs;
  }
  for (int i = 0, n = 0; i < group->nefc; i += n) {
    n = countRows(group, d, i);
    int known = 1;
    for (int row = i; row < i + n; row++) {
      known &= group->same[row];
    }
    if (!known) {
      connectRows(group, column, set, i, n);
    }
  }

  // fill-in from a dof to its parent
  for (int i = 0; i < nv; i++) {
    int parent = group->parent[i];
    if (parent >= 0) {
      group->last[parent] = mjMAX(group->last[parent], group->last[i]);
      group->first[parent] = mjMIN(group->first[parent], group->first[i]);
      group->from[parent] = mjMIN(group->from[parent], group->from[i]);
      group->to[parent] = mjMAX(group->to[parent], group->to[i]);
    }
  }

  // rows in whole lanes
  group->nU = 0;
  for (int i = 0; i < nv; i++) {
    int begin = mjgi_simdBegin(i);
    group->U_adr[i] = group->nU - (size_t)begin;
    group->nU += (size_t)(mjgi_simdEnd(group->last[i] + 1) - begin);
  }
  size_t size = (size_t)mjgi_simdEnd(nv);
  group->U = mj_stackAllocNum(d, 2 * group->nU + 3 * size);
  group->inertia = group->U + group->nU;
  group->inverse = group->inertia + group->nU;
  group->root = group->inverse + size;
  group->line = group->root + size;
  mju_zero(group->inertia, (int)(group->nU + 3 * size));
  for (int i = 0; i < nv; i++) {
    mjtNum* row = group->inertia + group->U_adr[i];
    for (int k = group->M_adr[i]; k < group->M_adr[i + 1]; k++) {
      row[group->M_col[k]] = group->M[k];
    }
  }
}


//---------------------------------- Hessian -------------------------------------------------------

// Add D row' row of a few rows with the same columns to H. Columns before the diagonal are
// arbitrary.
static inline void addRows(mjgpGroup* group, const int* rows, int count) {
  int first = group->J_adr[rows[0]], n = group->J_adr[rows[0] + 1] - first;
  const mjtNum* J[mjgpBATCH];
  for (int r = 0; r < count; r++) {
    J[r] = group->J + mjgiSIMD * group->J_adr[rows[r]];
  }
  for (int q = 0; q < n; q++) {
    const int *lane = group->J_lane + first, *bits = group->J_bits + first;
    for (int rest = bits[q]; rest; rest &= rest - 1) {
      int k = __builtin_ctz((unsigned)rest);
      mjtNum weight[mjgpBATCH], *row = group->U + group->U_adr[lane[q] + k];
      for (int r = 0; r < count; r++) {
        weight[r] = group->D[rows[r]] * J[r][mjgiSIMD * q + k];
      }
      for (int p = q; p < n; p++) {
        mjgiSimd* target = (mjgiSimd*)(row + lane[p]);
        mjgiSimd sum = *target;
        for (int r = 0; r < count; r++) {
          sum += weight[r] * *(const mjgiSimd*)(J[r] + mjgiSIMD * p);
        }
        *target = sum;
      }
    }
  }
}


// The same with a constant count, so that the compiler unrolls the loops.
static void addSquares(mjgpGroup* group, const int* rows, int count) {
  switch (count) {
    case 1:
      addRows(group, rows, 1);
      break;
    case 2:
      addRows(group, rows, 2);
      break;
    case 3:
      addRows(group, rows, 3);
      break;
    default:
      addRows(group, rows, mjgpBATCH);
  }
}


// H += rows' C rows, dim rows from i on, C symmetric
static void addForm(mjgpGroup* group, const mjtNum* C, int i, int dim) {
  int begin = group->nv, end = 0;
  for (int p = i; p < i + dim; p++) {
    if (group->J_adr[p + 1] > group->J_adr[p]) {
      begin = mjMIN(begin, group->J_lane[group->J_adr[p]]);
      end = mjMAX(end, group->J_lane[group->J_adr[p + 1] - 1] + mjgiSIMD);
    }
  }
  for (int p = 0; p < dim && begin < end; p++) {
    // a row of C J
    mju_zero(group->line + begin, end - begin);
    for (int q = 0; q < dim; q++) {
      for (int k = group->J_adr[i + q]; k < group->J_adr[i + q + 1]; k++) {
        *(mjgiSimd*)(group->line + group->J_lane[k]) +=
            C[p * dim + q] * *(const mjgiSimd*)(group->J + mjgiSIMD * k);
      }
    }
    for (int k = mjgiSIMD * group->J_adr[i + p]; k < mjgiSIMD * group->J_adr[i + p + 1]; k++) {
      if (group->J[k] != 0) {
        int j = group->J_lane[k / mjgiSIMD] + k % mjgiSIMD;
        mjgp_addSimd(group->U + group->U_adr[j], group->line, group->J[k], mjgi_simdBegin(j), end);
      }
    }
  }
}


// Make the Hessian at group->state and group->cone in U, upper triangle.
static void assemble(mjgpGroup* group) {
  group->reduced = 0;
  memcpy(group->U, group->inertia, sizeof(mjtNum) * group->nU);

  // rows that act, in batches with the same columns
  int rows[mjgpBATCH], count = 0;
  for (int i = 0, k = 0, dim; i < group->nefc; i += dim) {
    dim = group->type[i] == mjCNSTR_CONTACT_ELLIPTIC ? group->contact[k++]->dim : 1;
    if (group->state[i] == mjCNSTRSTATE_CONE) {
      addForm(group, group->cone + 36 * (k - 1), i, dim);
    }
    for (int p = i; p < i + dim; p++) {
      if (count && (count == mjgpBATCH || !group->same[p])) {
        addSquares(group, rows, count);
        count = 0;
      }
      if (group->state[p] == mjCNSTRSTATE_QUADRATIC) {
        rows[count++] = p;
      }
    }
  }
  if (count) {
    addSquares(group, rows, count);
  }
}


int mjgp_factor(mjgpGroup* group) {
  assemble(group);

  // the lane with only the columns after i % 4
  static const mjgpBits behind[mjgiSIMD] = {
      {0, -1, -1, -1}, {0, 0, -1, -1}, {0, 0, 0, -1}, {0, 0, 0, 0}};
  for (int k = 0; k < group->nv; k++) {
    mjtNum* row = group->U + group->U_adr[k];
    int last = group->last[k], begin = mjgi_simdBegin(k), end = mjgi_simdEnd(last + 1);
    mjtNum inverse = group->inverse[k] = 1 / row[k];
    if (!(inverse > 0 && inverse < mjMAXVAL * mjMAXVAL)) {
      return 0;
    }
    group->root[k] = mju_sqrt(inverse);
    mjgiSimd* lane = (mjgiSimd*)(row + begin);
    *lane = (mjgiSimd)((mjgpBits)*lane & behind[k - begin]);

    // eliminate in the rows of its non-zeros
    for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
      if (row[i] != 0) {
        mjgp_addSimd(group->U + group->U_adr[i], row, -row[i] * inverse, mjgi_simdBegin(i), end);
      }
    }
  }
  return 1;
}


//---------------------------------- substitution --------------------------------------------------

void mjgp_solveLower(const mjgpGroup* group, mjtNum* x) {
  int nv = group->nv, end = mjgi_simdEnd(nv);
  for (int k = 0; k < nv; k++) {
    if (x[k] != 0) {
      mjgp_addSimd(x, group->U + group->U_adr[k], -x[k] * group->inverse[k], mjgi_simdBegin(k),
                   mjgi_simdEnd(group->last[k] + 1));
    }
  }
  for (int k = 0; k < end; k += mjgiSIMD) {
    *(mjgiSimd*)(x + k) *= *(const mjgiSimd*)(group->root + k);
  }
}


// row k of mjgp_solveLowerJoints in count lanes
static inline void substituteRow(const mjgpGroup* group, mjtNum* x, int k, int count) {
  const mjtNum* row = group->U + group->U_adr[k];
  int last = group->last[k], ld = group->ld;
  mjgiSimd source[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    mjgiSimd* lane = (mjgiSimd*)(x + k * ld) + c;
    source[c] = group->inverse[k] * *lane;
    *lane *= group->root[k];
  }
  for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
    mjgiSimd* target = (mjgiSimd*)(x + i * ld);
    for (int c = 0; c < count; c++) {
      target[c] -= row[i] * source[c];
    }
  }
}


void mjgp_solveLowerJoints(const mjgpGroup* group, mjtNum* x, int flg_unit) {
  for (int k = 0; k < group->nv; k++) {
    int begin = flg_unit ? mjgi_simdBegin(group->from[k]) : 0;
    int end = flg_unit ? mjgi_simdEnd(group->to[k]) : group->ld;
#define SUBSTITUTE(count) substituteRow(group, x + begin, k, count)
    mjgiFOR_SIMD(SUBSTITUTE, begin, end)
#undef SUBSTITUTE
  }
}


void mjgp_solveUpper(const mjgpGroup* group, mjtNum* x) {
  // a lane at a time: columns after it, then within it
  int nv = group->nv;
  for (int begin = mjgi_simdEnd(nv) - mjgiSIMD; begin >= 0; begin -= mjgiSIMD) {
    mjtNum value[mjgiSIMD] = {0};
    for (int k = mjMIN(begin + mjgiSIMD, nv) - 1; k >= begin; k--) {
      const mjtNum* row = group->U + group->U_adr[k];
      mjtNum sum = mjgp_dotSimd(row, x, begin + mjgiSIMD, mjgi_simdEnd(group->last[k] + 1));
      for (int j = k + 1; j < begin + mjgiSIMD; j++) {
        sum += row[j] * value[j - begin];
      }
      value[k - begin] = x[k] * group->root[k] - sum * group->inverse[k];
    }
    *(mjgiSimd*)(x + begin) = (mjgiSimd){value[0], value[1], value[2], value[3]};
  }
}


void mjgp_solveFactored(const mjgpGroup* group, mjtNum* x) {
  for (int k = 0; k < group->nv; k++) {
    x[k] *= group->inverse[k];
    if (x[k] != 0) {
      mjgp_addSimd(x, group->U + group->U_adr[k], -x[k], mjgi_simdBegin(k),
                   mjgi_simdEnd(group->last[k] + 1));
    }
  }
  for (int k = group->nv - 1; k >= 0; k--) {
    mjtNum sum = mjgp_dotSimd(group->U + group->U_adr[k], x, mjgi_simdBegin(k),
                              mjgi_simdEnd(group->last[k] + 1));
    x[k] -= sum * group->inverse[k];
  }
}

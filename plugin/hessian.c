#include "hessian.h"

#include <string.h>

#include "lanes.h"

#define mjgpBATCH 4  // rows that are added to the Hessian at once


//---------------------------------- pattern -------------------------------------------------------

// add the edge from k to i > k to the elimination tree
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


// number of rows from i on that belong to one contact, or 1
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


// connect all dofs of n rows from i on with each other
static void connectRows(mjgpGroup* group, int* mark, int i, int n) {
  const int *col = group->J_col + group->J_adr[i], *adr = group->J_adr;
  int count = adr[i + 1] - adr[i], same = 1;
  for (int k = i + 1; k < i + n; k++) {
    same &= group->same[k];
  }

  // rows with different zeros: the union of their columns
  int* all = mark + group->nv;
  if (!same) {
    int low = group->nv, high = -1;
    for (int k = adr[i]; k < adr[i + n]; k++) {
      low = mjMIN(low, group->J_col[k]);
      high = mjMAX(high, group->J_col[k]);
      mark[group->J_col[k]] = 1;
    }
    count = 0;
    for (int k = low; k <= high; k++) {
      if (mark[k]) {
        all[count++] = k;
        mark[k] = 0;
      }
    }
    col = all;
  }

  // edges from each to the next connect all of them when they are eliminated one after the other
  for (int k = 0; k < count; k++) {
    group->last[col[k]] = mjMAX(group->last[col[k]], col[count - 1]);
    if (k) {
      insertEdge(group->parent, col[k - 1], col[k]);
    }
  }
}


void mjgp_makePattern(mjgpGroup* group, mjData* d) {
  int nv = group->nv;
  int* integer = mj_stackAllocInt(d, 6 * (size_t)nv + (size_t)group->nefc);
  group->parent = integer;
  group->last = integer + nv;
  group->from = integer + 2 * nv;
  group->to = integer + 3 * nv;
  int* mark = integer + 4 * nv;
  group->same = integer + 6 * nv;

  // tree
  for (int i = 0; i < nv; i++) {
    int begin = group->M_adr[i], end = group->M_adr[i + 1];
    group->parent[i] = end - begin > 1 ? group->M_col[begin + 1] : -1;
    group->last[i] = group->M_col[end - 1];
    group->from[i] = group->njoint;
    group->to[i] = 0;
    mark[i] = 0;
  }
  for (int i = 0; i < group->njoint; i++) {
    group->from[group->gear[i]] = i;
    group->to[group->gear[i]] = i + 1;
  }

  // constraints
  for (int i = 0; i < group->nefc; i++) {
    const int *adr = group->J_adr + i, *col = group->J_col + *adr;
    int n = adr[1] - adr[0];
    group->same[i] = i && adr[0] - adr[-1] == n;
    for (int k = 0; k < n && group->same[i]; k++) {
      group->same[i] = col[k] == col[k - n];
    }
  }
  for (int i = 0, n = 0; i < group->nefc; i += n) {
    n = countRows(group, d, i);
    connectRows(group, mark, i, n);
  }

  // what elimination hands from a dof to its parent
  for (int i = 0; i < nv; i++) {
    int parent = group->parent[i];
    if (parent >= 0) {
      group->last[parent] = mjMAX(group->last[parent], group->last[i]);
      group->from[parent] = mjMIN(group->from[parent], group->from[i]);
      group->to[parent] = mjMAX(group->to[parent], group->to[i]);
    }
  }

  // rows in whole lanes
  group->U_adr = mj_stackAllocByte(d, sizeof(size_t) * (size_t)nv, _Alignof(size_t));
  group->nU = 0;
  for (int i = 0; i < nv; i++) {
    int begin = mjgp_laneBegin(i);
    group->U_adr[i] = group->nU - (size_t)begin;
    group->nU += (size_t)(mjgp_laneEnd(group->last[i] + 1) - begin);
  }
  group->U = mj_stackAllocNum(d, group->nU + (1 + mjgpBATCH) * (size_t)mjgp_laneEnd(nv));
  group->inverse = group->U + group->nU;
  group->line = group->inverse + mjgp_laneEnd(nv);
  mju_zero(group->line, mjgpBATCH * mjgp_laneEnd(nv));
}


//---------------------------------- Hessian -------------------------------------------------------

// line += weight times a row of J
static void addRow(mjgpGroup* group, mjtNum weight, int row) {
  for (int k = group->J_adr[row]; k < group->J_adr[row + 1]; k++) {
    group->line[group->J_col[k]] += weight * group->J[k];
  }
}


// line = 0 where a row of J is not
static void clearRow(mjgpGroup* group, int row) {
  for (int k = group->J_adr[row]; k < group->J_adr[row + 1]; k++) {
    group->line[group->J_col[k]] = 0;
  }
}


// H += row' line; the line ends with column last. Columns before the diagonal get what they like
static void addProduct(mjgpGroup* group, int row, int last) {
  int end = mjgp_laneEnd(last + 1);
  for (int k = group->J_adr[row]; k < group->J_adr[row + 1]; k++) {
    int i = group->J_col[k];
    mjgp_addLanes(group->U + group->U_adr[i], group->line, group->J[k], mjgp_laneBegin(i), end);
  }
}


// last column of a row of J, -1 if it is empty
static int lastColumn(const mjgpGroup* group, int row) {
  int end = group->J_adr[row + 1];
  return end > group->J_adr[row] ? group->J_col[end - 1] : -1;
}


// H += sum of rows' lines for up to four rows with the same columns, whose lines are weighted copies
static inline void addLines(mjgpGroup* group, const int* rows, int count) {
  size_t size = (size_t)mjgp_laneEnd(group->nv);
  int first = group->J_adr[rows[0]], n = group->J_adr[rows[0] + 1] - first;
  int end = mjgp_laneEnd(group->J_col[first + n - 1] + 1);
  const mjtNum* J[mjgpBATCH];
  for (int r = 0; r < count; r++) {
    J[r] = group->J + group->J_adr[rows[r]];
  }
  for (int k = 0; k < n; k++) {
    int i = group->J_col[first + k];
    mjtNum* row = group->U + group->U_adr[i];
    for (int j = mjgp_laneBegin(i); j < end; j += mjgpLANE) {
      mjgpLane sum = *(const mjgpLane*)(row + j);
      for (int r = 0; r < count; r++) {
        sum += J[r][k] * *(const mjgpLane*)(group->line + (size_t)r * size + j);
      }
      *(mjgpLane*)(row + j) = sum;
    }
  }
}


// H += sum of D row' row for up to four rows with the same columns
static void addSquares(mjgpGroup* group, const int* rows, int count) {
  if (group->J_adr[rows[0] + 1] == group->J_adr[rows[0]]) {
    return;
  }
  size_t size = (size_t)mjgp_laneEnd(group->nv);
  for (int r = 0; r < count; r++) {
    for (int k = group->J_adr[rows[r]]; k < group->J_adr[rows[r] + 1]; k++) {
      group->line[(size_t)r * size + (size_t)group->J_col[k]] = group->D[rows[r]] * group->J[k];
    }
  }

  // a body of its own for each count, in which the compiler unrolls the loops
  switch (count) {
    case 1:
      addLines(group, rows, 1);
      break;
    case 2:
      addLines(group, rows, 2);
      break;
    case 3:
      addLines(group, rows, 3);
      break;
    default:
      addLines(group, rows, 4);
  }
  for (int r = 0; r < count; r++) {
    for (int k = group->J_adr[rows[r]]; k < group->J_adr[rows[r] + 1]; k++) {
      group->line[(size_t)r * size + (size_t)group->J_col[k]] = 0;
    }
  }
}


// H += weight row' row
static void addSquare(mjgpGroup* group, mjtNum weight, int row) {
  addRow(group, weight, row);
  addProduct(group, row, lastColumn(group, row));
  clearRow(group, row);
}


// H += rows' C rows, dim rows from i on, C symmetric
static void addForm(mjgpGroup* group, const mjtNum* C, int i, int dim) {
  int last = -1;
  for (int q = 0; q < dim; q++) {
    last = mjMAX(last, lastColumn(group, i + q));
  }
  for (int p = 0; p < dim; p++) {
    for (int q = 0; q < dim; q++) {
      addRow(group, C[p * dim + q], i + q);
    }
    addProduct(group, i + p, last);
    for (int q = 0; q < dim; q++) {
      clearRow(group, i + q);
    }
  }
}


// add to H what noslip iterations do: friction that is not at its bound lets nothing slip, as if its
// rows had many times their mass
static void stiffen(mjgpGroup* group) {
  const mjtNum much = 50;
  const int *type = group->type, *state = group->state;
  for (int i = group->ne, k = 0; i < group->nefc; i++) {
    mjtNum weight = much * group->D[i];
    int acts = state[i] == mjCNSTRSTATE_QUADRATIC;

    // dry friction
    if (i < group->ne + group->nf) {
      if (acts) {
        addSquare(group, weight, i);
      }
    }

    // tangential rows
    else if (type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      int dim = group->contact[k++]->dim;
      for (int p = 1; p < dim && acts; p++) {
        addSquare(group, much * group->D[i + p], i + p);
      }
      i += dim - 1;
    }

    // the difference of opposite edges of a pyramid, which come in pairs
    else if (type[i] == mjCNSTR_CONTACT_PYRAMIDAL) {
      if (acts && state[i + 1] == mjCNSTRSTATE_QUADRATIC) {
        addForm(group, (mjtNum[]){weight, -weight, -weight, weight}, i, 2);
      }
      i++;
    }
  }
}


// H = M + J' s'' J, upper triangle
static void assemble(mjgpGroup* group) {
  memset(group->U, 0, sizeof(mjtNum) * group->nU);
  for (int i = 0; i < group->nv; i++) {
    mjtNum* row = group->U + group->U_adr[i];
    for (int k = group->M_adr[i]; k < group->M_adr[i + 1]; k++) {
      row[group->M_col[k]] = group->M[k];
    }
  }

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
  if (group->noslip) {
    stiffen(group);
  }
}


int mjgp_factor(mjgpGroup* group) {
  assemble(group);
  for (int k = 0; k < group->nv; k++) {
    mjtNum* row = group->U + group->U_adr[k];
    int last = group->last[k], begin = mjgp_laneBegin(k), end = mjgp_laneEnd(last + 1);
    if (!(row[k] > 0)) {
      return 0;
    }

    // scale the row
    mjtNum inverse = group->inverse[k] = 1 / mju_sqrt(row[k]);
    mjgp_scaleLanes(row, inverse, begin, end);

    // eliminate in the rows of its non-zeros
    for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
      mjgp_addLanes(group->U + group->U_adr[i], row, -row[i], mjgp_laneBegin(i), end);
    }
  }
  return 1;
}


//---------------------------------- substitution --------------------------------------------------

void mjgp_solveLower(const mjgpGroup* group, mjtNum* x) {
  for (int k = 0; k < group->nv; k++) {
    const mjtNum* row = group->U + group->U_adr[k];
    int last = group->last[k];
    mjtNum value = x[k] *= group->inverse[k];
    for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
      x[i] -= row[i] * value;
    }
  }
}


void mjgp_solveLowerJoints(const mjgpGroup* group, mjtNum* x, int flg_unit) {
  int ld = group->ld;
  for (int k = 0; k < group->nv; k++) {
    const mjtNum* row = group->U + group->U_adr[k];
    int last = group->last[k];
    int begin = flg_unit ? mjgp_laneBegin(group->from[k]) : 0;
    int end = flg_unit ? mjgp_laneEnd(group->to[k]) : ld;
    if (begin >= end) {
      continue;
    }
    mjtNum* source = x + k * ld;
    mjgp_scaleLanes(source, group->inverse[k], begin, end);
    for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
      mjgp_addLanes(x + i * ld, source, -row[i], begin, end);
    }
  }
}


void mjgp_solveUpper(const mjgpGroup* group, mjtNum* x) {
  for (int k = group->nv - 1; k >= 0; k--) {
    const mjtNum* row = group->U + group->U_adr[k];
    int last = group->last[k];
    mjtNum sum = x[k];
    for (int i = group->parent[k]; i >= 0 && i <= last; i = group->parent[i]) {
      sum -= row[i] * x[i];
    }
    x[k] = sum * group->inverse[k];
  }
}

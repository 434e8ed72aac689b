#include "coupled/system.h"

#include <string.h>

#include "friction/simd.h"
#include "solvers/dense.h"

// changes before the matrix is factored anew, and of their inverse what is left of its digits
#define mjgpCHANGES 12
#define mjgpDIGITS  1e5


//---------------------------------- pattern -------------------------------------------------------

// dof of a gear that acts on one joint, -1: a tendon
static int dofOf(const mjgpStep* s, int i) {
  const mjgpGroup* group = s->group;
  return s->g->config->own[group->joint[i]] >= 0 ? group->E_dof[group->E_adr[i]] : -1;
}


// the same of a gear whose friction is no unknown of its own
static int rowOf(const mjgpSystem* sys, int i) {
  return sys->symmetric || sys->t[i] < 0 ? dofOf(sys->s, i) : -1;
}


// entry of K in row i of the engine's dofs, k places before the diagonal in M's row; above: that in the column
static mjtNum derivative(const mjgpSystem* sys, int i, int k, int above) {
  const mjModel* m = sys->s->m;
  const mjData* d = sys->s->d;
  if (sys->Mhat->slope) {
    return k ? 0 : sys->Mhat->slope[i];
  }
  int adr = m->M_rowadr[i] + m->M_rownnz[i] - 1 - k;
  int at = above && !sys->Mhat->symmetric ? sys->s->g->config->transpose[adr] : m->mapD2M[adr];
  return -m->opt.timestep * d->qDeriv[at];
}


// dofs whose trees move in two metrics and have gears: 1 in two
static int findTwo(int* two, const mjgpSystem* sys) {
  mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  const mjModel* m = s->m;
  int any = 0;
  mj_markStack(s->d);
  int* tree = mj_stackAllocInt(s->d, (size_t)m->ntree);
  memset(tree, 0, sizeof(int) * (size_t)m->ntree);
  for (int i = 0; i < s->n; i++) {
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      tree[m->dof_treeid[group->dof[group->E_dof[k]]]] |= 1;
    }
  }
  for (int e = 0; e < group->nextra; e++) {
    for (int k = 0; k < group->nv; k++) {
      tree[m->dof_treeid[group->dof[k]]] |= group->extra_row[e][group->dof[k]] != 0;
    }
  }
  for (int i = 0; i < group->nv; i++) {
    int dof = group->dof[i], id = m->dof_treeid[dof];
    for (int k = 0; k < m->M_rownnz[dof] && tree[id] == 1; k++) {
      if (derivative(sys, dof, k, 0) != 0 || derivative(sys, dof, k, 1) != 0) {
        tree[id] = 3;
      }
    }
  }
  for (int i = 0; i < group->nv; i++) {
    two[i] = tree[m->dof_treeid[group->dof[i]]] == 3;
    any |= two[i];
  }
  mj_freeStack(s->d);
  return any;
}


// add the edge from k to i > k to the elimination tree
static void insertEdge(mjgpSystem* sys, int k, int i) {
  int* parent = sys->parent;
  sys->last[k] = mjMAX(sys->last[k], i);
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


static void connect(mjgpSystem* sys, int p, int q) {
  if (p >= 0 && q >= 0 && p != q) {
    insertEdge(sys, mjMIN(p, q), mjMAX(p, q));
  }
}


// places of all unknowns: tendons behind the last of their dofs
static void place(mjgpSystem* sys, const int* two, const mjgpPiece* piece, int flg_general) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  mj_markStack(s->d);
  int *end = mj_stackAllocInt(s->d, (size_t)s->n), bordered = 0;
  for (int i = 0; i < s->n; i++) {
    sys->t[i] = end[i] = -1;
    if (flg_general || dofOf(s, i) < 0 || mjgp_isParallel(piece + i, s->g)) {
      for (int p = group->E_adr[i]; p < group->E_adr[i + 1]; p++) {
        end[i] = mjMAX(end[i], group->E_dof[p]);
      }
      bordered = 1;
    }
  }
  sys->size = 0;
  for (int k = 0; k < group->nv; k++) {
    sys->a[k] = sys->size++;
    sys->z[k] = two[k] ? sys->size++ : -1;
    for (int i = 0; i < s->n && bordered; i++) {
      if (end[i] == k) {
        sys->t[i] = sys->size++;
      }
    }
  }
  mj_freeStack(s->d);
}


static void connectAll(mjgpSystem* sys) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  for (int i = 0; i < sys->size; i++) {
    sys->parent[i] = -1;
    sys->last[i] = i;
  }

  // what H connects, with z beside a
  for (int k = 0; k < group->nv; k++) {
    int up = group->parent[k], end = group->last[k];
    connect(sys, sys->a[k], sys->z[k]);
    if (up >= 0) {
      connect(sys, sys->z[k] >= 0 ? sys->z[k] : sys->a[k], sys->a[up]);
      connect(sys, sys->a[k], sys->a[up]);
    }
    int reach = sys->z[end] >= 0 ? sys->z[end] : sys->a[end];
    sys->last[sys->a[k]] = mjMAX(sys->last[sys->a[k]], reach);
    if (sys->z[k] >= 0) {
      sys->last[sys->z[k]] = mjMAX(sys->last[sys->z[k]], reach);
    }
  }

  // gears on tendons, and rows of rotor inertia
  for (int i = 0; i < s->n; i++) {
    int e = group->extra[i], own = rowOf(sys, i), row = own >= 0 ? sys->a[own] : sys->t[i];
    for (int p = group->E_adr[i]; own < 0 && p < group->E_adr[i + 1]; p++) {
      connect(sys, sys->a[group->E_dof[p]], row);
      connect(sys, sys->z[group->E_dof[p]], row);
    }
    for (int k = 0; e >= 0 && k < group->nv; k++) {
      if (group->extra_row[e][group->dof[k]] != 0) {
        connect(sys, sys->a[k], row);
        connect(sys, sys->z[k], row);
      }
    }
  }
  for (int i = 0; i < sys->size; i++) {
    int parent = sys->parent[i];
    if (parent >= 0) {
      sys->last[parent] = mjMAX(sys->last[parent], sys->last[i]);
    }
  }
}


void mjgp_makeSystem(mjgpSystem* sys, mjgpStep* s, const mjgpPiece* piece, int flg_general) {
  mjgpGroup* group = s->group;
  mjData* d = s->d;
  size_t nv = (size_t)group->nv, n = (size_t)s->n;
  *sys = (mjgpSystem){.s = s, .Mhat = s->Mhat};
  sys->symmetric = !flg_general && !s->rows && !group->nextra;
  for (int i = 0; i < s->n; i++) {
    sys->symmetric &= dofOf(s, i) >= 0 && !mjgp_isParallel(piece + i, s->g);
  }
  if (sys->symmetric) {
    sys->size = group->nv;
    sys->parent = group->parent;
    sys->last = group->last;
    sys->adr = group->U_adr;
    sys->U = sys->L = group->U;
    sys->inverse = group->inverse;
    sys->x = mj_stackAllocNum(d, (size_t)mjgi_simdEnd(group->nv));
    mju_zero(sys->x, mjgi_simdEnd(group->nv));
    return;
  }
  int* integer = mj_stackAllocInt(d, 3 * nv + n + 2 * (2 * nv + n));
  sys->a = integer;
  sys->z = sys->a + nv;
  sys->t = sys->z + nv;
  int* two = sys->t + n;
  sys->parent = two + nv;
  sys->last = sys->parent + 2 * nv + n;
  if (!s->rows || !findTwo(two, sys)) {
    memset(two, 0, sizeof(int) * nv);
  }
  place(sys, two, piece, flg_general);
  connectAll(sys);

  // rows in whole lanes
  sys->adr = (size_t*)mj_stackAllocNum(d, (size_t)sys->size);
  for (int i = 0; i < sys->size; i++) {
    int begin = mjgi_simdBegin(i);
    sys->adr[i] = sys->nU - (size_t)begin;
    sys->nU += (size_t)(mjgi_simdEnd(sys->last[i] + 1) - begin);
  }
  size_t size = (size_t)mjgi_simdEnd(sys->size);
  sys->U = mj_stackAllocNum(d, 2 * sys->nU + 2 * size);
  sys->L = sys->U + sys->nU;
  sys->inverse = sys->L + sys->nU;
  sys->x = sys->inverse + size;
  mju_zero(sys->inverse, (int)(2 * size));
  if (flg_general) {
    size_t nefc = (size_t)group->nefc;
    sys->column = mj_stackAllocNum(d, mjgpCHANGES * (size + mjgpCHANGES));
    sys->inverse_of_changes = sys->column + mjgpCHANGES * size;
    sys->which = mj_stackAllocInt(d, mjgpCHANGES + nefc);
    sys->state = sys->which + mjgpCHANGES;
    sys->piece = mj_stackAllocByte(d, sizeof(mjgpPiece) * n, _Alignof(mjgpPiece));
  }
}


//---------------------------------- entries -------------------------------------------------------

// entry of a general system
static void add(mjgpSystem* sys, int row, int column, mjtNum value) {
  if (row <= column) {
    sys->U[sys->adr[row] + (size_t)column] += value;
  } else {
    sys->L[sys->adr[column] + (size_t)row] += value;
  }
}


// H, and the rows of the integrator
static void addMetrics(mjgpSystem* sys) {
  const mjgpGroup* group = sys->s->group;
  memset(sys->U, 0, sizeof(mjtNum) * 2 * sys->nU);
  const int *a = sys->a, *z = sys->z;
  for (int k = 0; k < group->nv; k++) {
    const mjtNum* row = group->U + group->U_adr[k];
    mjtNum *U = sys->U + sys->adr[a[k]], *L = sys->L + sys->adr[a[k]];
    for (int j = k; j <= group->last[k]; j++) {
      if (row[j] != 0) {
        U[a[j]] = L[a[j]] = row[j];
      }
    }
    if (z[k] < 0) {
      continue;
    }

    // row and column of z; a[k] < z[k] < a[j] < z[j] where j > k
    mjtNum *U_z = sys->U + sys->adr[z[k]], *L_z = sys->L + sys->adr[z[k]];
    for (int p = group->M_adr[k]; p < group->M_adr[k + 1]; p++) {
      int j = group->M_col[p], place = p - group->M_adr[k];
      mjtNum K = derivative(sys, group->dof[k], place, 0), M = group->M[p];
      U_z[z[j]] = M + K;
      if (j > k) {
        U_z[a[j]] = -K;
        K = derivative(sys, group->dof[k], place, 1);
        L_z[z[j]] = M + K;
      }
      L[z[j]] = -K;
    }
  }
}


// row of the system += factor times the acceleration of dof j over the step, which is a - z
static void addMotion(mjgpSystem* sys, int row, int j, mjtNum factor) {
  add(sys, row, sys->a[j], factor);
  if (sys->z[j] >= 0) {
    add(sys, row, sys->z[j], -factor);
  }
}


// the row of an unknown becomes empty
static void clearRow(mjgpSystem* sys, int row) {
  for (int j = row; j <= sys->last[row]; j++) {
    sys->U[sys->adr[row] + (size_t)j] = 0;
  }
  for (int j = 0; j < row; j++) {
    if (sys->last[j] >= row) {
      sys->L[sys->adr[j] + (size_t)row] = 0;
    }
  }
}


static void addGears(mjgpSystem* sys, const mjgpPiece* piece) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  for (int i = 0; i < s->n; i++) {
    int own = rowOf(sys, i), row = own >= 0 ? sys->a[own] : sys->t[i], e = group->extra[i];
    if (own >= 0 && piece[i].held) {
      continue;
    }

    // friction that is an unknown, and the equation that it has
    mjtNum slope = own >= 0 ? piece[i].slope : piece[i].held ? 1 : -piece[i].slope;
    for (int p = group->E_adr[i]; p < group->E_adr[i + 1]; p++) {
      if (own < 0) {
        add(sys, sys->a[group->E_dof[p]], row, group->E[p]);
      }
      addMotion(sys, row, group->E_dof[p], slope * group->E[p]);
    }
    if (own < 0 && !piece[i].held) {
      add(sys, row, row, piece[i].weight);
    }
    mjtNum rate = own >= 0 ? -piece[i].rate : piece[i].rate;
    for (int k = 0; e >= 0 && !piece[i].held && k < group->nv; k++) {
      mjtNum value = group->extra_row[e][group->dof[k]];
      if (value != 0) {
        addMotion(sys, row, k, rate * value);
      }
    }
  }

  // known accelerations take the place of whole rows, torques of tendons included
  for (int i = 0; i < s->n; i++) {
    int own = rowOf(sys, i);
    if (own >= 0 && piece[i].held) {
      clearRow(sys, sys->a[own]);
      addMotion(sys, sys->a[own], own, 1);
    }
  }
}


// dof k of a symmetric system has a known change: its column moves to the right side by the factor in hold
static void hold(mjgpSystem* sys, int k, mjtNum change) {
  mjtNum* x = sys->x;
  for (int i = 0; i < k; i++) {
    if (sys->last[i] >= k) {
      mjtNum* entry = sys->U + sys->adr[i] + k;
      x[i] -= *entry * change;
      *entry = 0;
    }
  }
  mjtNum* row = sys->U + sys->adr[k];
  for (int j = k + 1; j <= sys->last[k]; j++) {
    x[j] -= row[j] * change;
    row[j] = 0;
  }
  row[k] = 1;
  x[k] = change;
}


//---------------------------------- elimination ---------------------------------------------------

static int eliminate(mjgpSystem* sys) {
  static const mjgpBits behind[mjgiSIMD] = {
      {0, -1, -1, -1}, {0, 0, -1, -1}, {0, 0, 0, -1}, {0, 0, 0, 0}};
  mjtNum *U = sys->U, *L = sys->L;
  int general = U != L;
  sys->sign = 1;
  for (int k = 0; k < sys->size; k++) {
    mjtNum *upper = U + sys->adr[k], *lower = L + sys->adr[k];
    int last = sys->last[k], begin = mjgi_simdBegin(k), end = mjgi_simdEnd(last + 1);
    mjtNum inverse = sys->inverse[k] = 1 / upper[k];
    if (!(mju_abs(inverse) < mjMAXVAL * mjMAXVAL)) {
      return 0;
    }
    sys->sign = inverse < 0 ? -sys->sign : sys->sign;
    mjgiSimd* lane = (mjgiSimd*)(upper + begin);
    *lane = (mjgiSimd)((mjgpBits)*lane & behind[k - begin]);
    if (general) {
      lane = (mjgiSimd*)(lower + begin);
      *lane = (mjgiSimd)((mjgpBits)*lane & behind[k - begin]);
    }
    for (int i = sys->parent[k]; i >= 0 && i <= last; i = sys->parent[i]) {
      int from = mjgi_simdBegin(i);
      if (lower[i] != 0) {
        mjgp_addSimd(U + sys->adr[i], upper, -lower[i] * inverse, from, end);
      }
      if (general && upper[i] != 0) {
        mjgp_addSimd(L + sys->adr[i], lower, -upper[i] * inverse, from, end);
      }
    }
  }
  return 1;
}


static void substitute(mjgpSystem* sys) {
  mjtNum* x = sys->x;
  for (int k = 0; k < sys->size; k++) {
    x[k] *= sys->inverse[k];
    if (x[k] != 0) {
      mjgp_addSimd(x, sys->L + sys->adr[k], -x[k], mjgi_simdBegin(k),
                   mjgi_simdEnd(sys->last[k] + 1));
    }
  }
  for (int k = sys->size - 1; k >= 0; k--) {
    mjtNum sum =
        mjgp_dotSimd(sys->U + sys->adr[k], x, mjgi_simdBegin(k), mjgi_simdEnd(sys->last[k] + 1));
    x[k] -= sum * sys->inverse[k];
  }
}


//---------------------------------- right side and matrix ------------------------------------------

static void rightSide(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient) {
  const mjgpStep* s = sys->s;
  mjtNum* x = sys->x;
  mju_zero(x, mjgi_simdEnd(sys->size));
  for (int k = 0; k < s->group->nv; k++) {
    x[sys->symmetric ? k : sys->a[k]] = -gradient[k];
  }
  for (int i = 0; i < s->n; i++) {
    int own = rowOf(sys, i);
    if (own >= 0) {
      int row = sys->symmetric ? own : sys->a[own];
      x[row] = piece[i].held ? piece[i].target - s->acc[i] : x[row] - piece[i].t;
    } else {
      x[sys->t[i]] = piece[i].held ? piece[i].target - s->acc[i] : piece[i].t;
    }
  }
}


// matrix and factors; known accelerations of a symmetric system change the right side too
static int factor(mjgpSystem* sys, const mjgpPiece* piece) {
  mjgpStep* s = sys->s;
  mjgp_assemble(s->group);
  if (!sys->symmetric) {
    addMetrics(sys);
    addGears(sys, piece);
    return eliminate(sys);
  }
  for (int i = 0; i < s->n; i++) {
    int k = dofOf(s, i);
    sys->U[sys->adr[k] + (size_t)k] += piece[i].held ? 0 : piece[i].slope;
  }
  for (int i = 0; i < s->n; i++) {
    if (piece[i].held) {
      hold(sys, dofOf(s, i), piece[i].target - s->acc[i]);
    }
  }
  return eliminate(sys);
}


//---------------------------------- few changes ---------------------------------------------------

// (K + U V')^-1 = K^-1 - K^-1 U (1 + V' K^-1 U)^-1 V' K^-1, with a column of U and of V for the equation of each gear on
// another piece and for each row that joined or left

static int isLine(const mjgpPiece* one, const mjgpPiece* other) {
  return one->held == other->held && one->slope == other->slope && one->rate == other->rate &&
         one->weight == other->weight;
}


// place of a change among those that are there, with its column; -1 if there is no room
static int findChange(mjgpSystem* sys, int which) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  for (int j = 0; j < sys->nchange; j++) {
    if (sys->which[j] == which) {
      return j;
    }
  }
  if (sys->nchange == mjgpCHANGES) {
    return -1;
  }
  mjtNum* x = sys->x;
  int size = mjgi_simdEnd(sys->size);
  mju_zero(x, size);
  if (which < s->n) {
    x[sys->t[which]] = 1;
  } else {
    int row = which - s->n;
    for (int k = mjgiSIMD * group->J_adr[row]; k < mjgiSIMD * group->J_adr[row + 1]; k++) {
      int dof = group->J_lane[k / mjgiSIMD] + k % mjgiSIMD;
      if (group->J[k] != 0) {
        x[sys->a[dof]] = group->J[k];
      }
    }
  }
  substitute(sys);
  mju_copy(sys->column + sys->nchange * size, x, size);
  sys->which[sys->nchange] = which;
  return sys->nchange++;
}


// row j of V' times x
static mjtNum mulChange(const mjgpSystem* sys, const mjgpPiece* piece, int j, const mjtNum* x) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  mjtNum sum = 0;
  if (sys->which[j] >= s->n) {
    int row = sys->which[j] - s->n;
    int change =
        (group->state[row] == mjCNSTRSTATE_QUADRATIC) - (sys->state[row] == mjCNSTRSTATE_QUADRATIC);
    for (int k = mjgiSIMD * group->J_adr[row]; change && k < mjgiSIMD * group->J_adr[row + 1];
         k++) {
      int dof = group->J_lane[k / mjgiSIMD] + k % mjgiSIMD;
      sum += group->J[k] != 0 ? group->J[k] * x[sys->a[dof]] : 0;
    }
    return change * group->D[row] * sum;
  }
  int i = sys->which[j], e = group->extra[i];
  const mjgpPiece *now = piece + i, *then = sys->piece + i;
  mjtNum slope = (now->held ? 1 : -now->slope) - (then->held ? 1 : -then->slope);
  mjtNum rate = (now->held ? 0 : now->rate) - (then->held ? 0 : then->rate);
  for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
    int dof = group->E_dof[k], z = sys->z[dof];
    sum += slope * group->E[k] * (x[sys->a[dof]] - (z >= 0 ? x[z] : 0));
  }
  for (int k = 0; e >= 0 && rate != 0 && k < group->nv; k++) {
    mjtNum value = group->extra_row[e][group->dof[k]];
    sum += value != 0 ? rate * value * (x[sys->a[k]] - (sys->z[k] >= 0 ? x[sys->z[k]] : 0)) : 0;
  }
  mjtNum weight = (now->held ? 0 : now->weight) - (then->held ? 0 : then->weight);
  return sum + weight * x[sys->t[i]];
}


// the same factors with the changes; 0 if they are too many, or too large for what is left of digits
static int change(mjgpSystem* sys, const mjgpPiece* piece) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  for (int i = 0; i < group->nefc; i++) {
    int now = group->state[i], then = sys->state[i], acts = now == mjCNSTRSTATE_QUADRATIC;
    if (now == mjCNSTRSTATE_CONE || then == mjCNSTRSTATE_CONE ||
        (acts != (then == mjCNSTRSTATE_QUADRATIC) && findChange(sys, s->n + i) < 0)) {
      return 0;
    }
  }
  for (int i = 0; i < s->n; i++) {
    if (!isLine(piece + i, sys->piece + i) && findChange(sys, i) < 0) {
      return 0;
    }
  }
  int n = sys->nchange, size = mjgi_simdEnd(sys->size), pivot[mjgpCHANGES];
  mjtNum *C = sys->inverse_of_changes, largest = 1, inverse = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      C[i * n + j] = (i == j) + mulChange(sys, piece, i, sys->column + j * size);
      largest = mju_max(largest, mju_abs(C[i * n + j]));
    }
  }
  int sign = n ? mjgi_inverse(C, pivot, n) : 1;
  for (int i = 0; i < n * n && sign; i++) {
    inverse = mju_max(inverse, mju_abs(C[i]));
  }
  sys->sign = sys->factored_sign * sign;
  return sign && largest * inverse < mjgpDIGITS;
}


static void solve(mjgpSystem* sys) {
  int n = sys->nchange, size = mjgi_simdEnd(sys->size);
  mjtNum part[mjgpCHANGES], share[mjgpCHANGES];
  substitute(sys);
  for (int i = 0; i < n; i++) {
    part[i] = mulChange(sys, sys->now, i, sys->x);
  }
  if (n) {
    mju_mulMatVec(share, sys->inverse_of_changes, part, n, n);
  }
  for (int i = 0; i < n; i++) {
    mju_addToScl(sys->x, sys->column + i * size, -share[i], size);
  }
}


int mjgp_updateSystem(mjgpSystem* sys, const mjgpPiece* piece) {
  const mjgpStep* s = sys->s;
  sys->now = piece;
  if (sys->factored && change(sys, piece)) {
    return 1;
  }
  sys->nchange = 0;
  sys->factored = factor(sys, piece);
  sys->factored_sign = sys->sign;
  memcpy(sys->piece, piece, sizeof(mjgpPiece) * (size_t)s->n);
  memcpy(sys->state, s->group->state, sizeof(int) * (size_t)s->group->nefc);
  return sys->factored;
}


//---------------------------------- step ----------------------------------------------------------

int mjgp_solveSystem(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* dz, mjtNum* t) {
  mjgpStep* s = sys->s;
  rightSide(sys, piece, gradient);
  if (flg_factor && !factor(sys, piece)) {
    return 0;
  }
  solve(sys);
  for (int k = 0; k < s->group->nv; k++) {
    da[k] = sys->x[sys->symmetric ? k : sys->a[k]];
    if (dz) {
      dz[k] = !sys->symmetric && sys->z[k] >= 0 ? sys->x[sys->z[k]] : 0;
    }
  }
  for (int i = 0; i < s->n && !sys->symmetric; i++) {
    t[i] = sys->t[i] >= 0 ? sys->x[sys->t[i]] : t[i];
  }
  return 1;
}

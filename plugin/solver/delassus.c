#include "solver/delassus.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "gear/friction.h"
#include "gear/tolerances.h"
#include "model/simd.h"
#include "solver/contact.h"


//---------------------------------- pieces --------------------------------------------------------

void mjgp_startAtLast(mjgpStep* s) {
  const mjtNum* acc = s->d->plugin_state + s->g->config->acc;
  for (int i = 0; i < s->group->nv; i++) {
    s->a[i] = acc[s->group->dof[i]];
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjgp_startJoint(s->g, s->d, joint);
    s->t[i] = s->g->out.t[joint];
  }
  mjgp_residual(s->group, s->group->jar, s->a);
}


void mjgp_evaluate(mjgpStep* s) {
  mjgpGroup* group = s->group;
  mjgp_residual(group, group->jar, s->a);
  mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);
}


void mjgp_project(const mjgpStep* s, mjtNum* acc, const mjtNum* w) {
  const mjgpGroup* group = s->group;
  for (int i = 0; i < s->n; i++) {
    acc[i] = mjgp_mulGear(group, i, w);
  }
  for (int e = 0; e < group->nextra; e++) {
    acc[s->n + e] = 0;
    for (int k = 0; k < group->nv; k++) {
      acc[s->n + e] += group->extra_row[e][group->dof[k]] * w[k];
    }
  }
}


// x = matrix^-1 x in the structure of M for one lane of columns, without the overhead of any number
static void solveLane(const mjgpGroup* group, mjgiSimd* x, const mjgpInertia* matrix) {
  const int *adr = group->M_adr, *col = group->M_col;
  const mjtNum* lower = matrix->lower ? matrix->lower : matrix->upper;
  for (int k = 0; k < group->nv; k++) {
    const mjtNum* factor = lower + matrix->adr[group->dof[k]] - 1;
    mjgiSimd source = x[k];
    for (int p = adr[k + 1] - 1; p > adr[k]; p--) {
      x[col[p]] -= factor[adr[k + 1] - p] * source;
    }
    x[k] = matrix->pivot[group->dof[k]] * source;
  }
  for (int k = group->nv - 1; k >= 0; k--) {
    const mjtNum* factor = matrix->upper + matrix->adr[group->dof[k]] - 1;
    mjgiSimd sum = x[k];
    for (int p = adr[k + 1] - 1; p > adr[k]; p--) {
      sum -= factor[adr[k + 1] - p] * x[col[p]];
    }
    x[k] = sum;
  }
}


void mjgp_solveDofs(const mjgpStep* s, mjtNum* x, const mjgpInertia* matrix, int flg_geared) {
  const mjgpGroup* group = s->group;
  const mjModel* m = s->m;
  mjtNum* y = s->g->scratch.vector;
  for (int k = 0; k < group->nv; k++) {
    y[group->dof[k]] = x[k];
  }
  for (int k = 0; k < group->nv;) {
    int tree = m->dof_treeid[group->dof[k]], n = m->tree_dofnum[tree];
    int begin = m->tree_dofadr[tree];
    if (!flg_geared || s->g->config->reached[tree]) {
      mjgp_solveInertia(y, m, matrix, begin, begin + n);
    }
    k += n;
  }
  for (int k = 0; k < group->nv; k++) {
    x[k] = y[group->dof[k]];
  }
}


void mjgp_motion(const mjgpStep* s, mjtNum* w, const mjtNum* a) {
  const mjgpGroup* group = s->group;
  mjgp_solveDofs(s, w, s->Mhat, 1);
  for (int k = 0; k < group->nv; k++) {
    w[k] = s->g->config->reached[s->m->dof_treeid[group->dof[k]]] ? w[k] : a[k];
  }
}


void mjgp_accelerationsOf(const mjgpStep* s, mjtNum* restrict acc, const mjtNum* a) {
  const mjgpGroup* group = s->group;
  int nv = group->nv, ld = group->ld;
  mju_zero(acc, ld);
  if (s->rows && !s->made) {
    mj_markStack(s->d);
    mjtNum* w = mj_stackAllocNum(s->d, (size_t)mjgi_simdEnd(nv));
    mjgp_mulInertia(group, w, a);
    mjgp_motion(s, w, a);
    mjgp_project(s, acc, w);
    mj_freeStack(s->d);
    return;
  }
  if (s->rows) {
    mjgp_sumRows(acc, NULL, s->rows, a, 1, nv, ld);
    return;
  }
  mjgp_project(s, acc, a);
}


void mjgp_accelerations(mjgpStep* s) {
  mjgp_accelerationsOf(s, s->acc, s->a);
}


void mjgp_addColumns(const mjgpStep* s, mjtNum* x) {
  const mjgpGroup* group = s->group;
  const int *adr = group->E_adr, *dof = group->E_dof;
  int ld = group->ld;
  for (int i = 0; i < s->n; i++) {
    for (int k = adr[i]; k < adr[i + 1]; k++) {
      x[dof[k] * ld + i] += group->E[k];
    }
  }
  for (int e = 0; e < group->nextra; e++) {
    for (int k = 0; k < group->nv; k++) {
      x[k * ld + s->n + e] += group->extra_row[e][group->dof[k]];
    }
  }
}


// Subtract factor times row from the rows of x after a diagonal, in count lanes.
static inline void scatterRow(mjtNum* x, const mjtNum* row, const mjtNum* factor, const int* col,
                              int length, int ld, int count) {
  mjgiSimd source[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    source[c] = ((const mjgiSimd*)row)[c];
  }
  for (int p = 1; p < length; p++) {
    mjgiSimd* target = (mjgiSimd*)(x + col[p] * ld);
    for (int c = 0; c < count; c++) {
      target[c] -= factor[length - 1 - p] * source[c];
    }
  }
}


// Subtract the sum of upper times the rows of x after a diagonal from row, in count lanes.
static inline void gatherRow(mjtNum* row, const mjtNum* x, const mjtNum* upper, const int* col,
                             int length, int ld, int count) {
  mjgiSimd sum[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    sum[c] = ((const mjgiSimd*)row)[c];
  }
  for (int p = length - 1; p > 0; p--) {
    const mjgiSimd* source = (const mjgiSimd*)(x + col[p] * ld);
    for (int c = 0; c < count; c++) {
      sum[c] -= upper[length - 1 - p] * source[c];
    }
  }
  for (int c = 0; c < count; c++) {
    ((mjgiSimd*)row)[c] = sum[c];
  }
}


// Solve columns of x = block'^-1 x for trees with dense blocks.
static void solveBlocks(const mjgpGroup* group, const mjModel* m, mjtNum* x, int ld,
                        const mjgpInertia* matrix) {
  for (int k = 0, n; k < group->nv; k += n) {
    int tree = m->dof_treeid[group->dof[k]], first = m->tree_dofadr[tree];
    n = m->tree_dofnum[tree];
    const mjtNum* block = matrix->block + 6 * first;
    for (int j = 0; j < ld && matrix->blocked[tree]; j++) {
      mjtNum right[6];
      for (int r = 0; r < n; r++) {
        right[group->dof[k + r] - first] = x[(k + r) * ld + j];
      }
      for (int r = 0; r < n; r++) {
        mjtNum sum = 0;
        for (int c = 0; c < n; c++) {
          sum += block[n * c + group->dof[k + r] - first] * right[c];
        }
        x[(k + r) * ld + j] = sum;
      }
    }
  }
}


// Solve columns of x = matrix^-1 x for one tree, dofs from first to its root.
static void solveTree(const mjgpGroup* group, mjtNum* x, int ld, const mjgpInertia* matrix,
                      int first, int root) {
  const int *adr = group->M_adr, *col = group->M_col;
  const mjtNum* lower = matrix->lower ? matrix->lower : matrix->upper;
  int low = ld, high = 0;  // lanes that are not zero

  // D^-1 L'^-1, from the leaves to the root; L = U' if the matrix is symmetric
  for (int k = first; k <= root; k++) {
    int dof = group->dof[k], begin = 0, end = ld;
    while (begin < end && mjgp_isZero(x + k * ld + begin, 1, mjgiSIMD)) {
      begin += mjgiSIMD;
    }
    while (begin < end && mjgp_isZero(x + k * ld + end - mjgiSIMD, 1, mjgiSIMD)) {
      end -= mjgiSIMD;
    }
    low = mjMIN(low, begin);
    high = begin < end ? mjMAX(high, end) : high;
    const mjtNum* factor = lower + matrix->adr[dof];
    int from = begin;
#define SCATTER(count) \
  scatterRow(x + from, x + from + k * ld, factor, col + adr[k], adr[k + 1] - adr[k], ld, count)
    mjgiFOR_SIMD(SCATTER, from, end)
#undef SCATTER
        mjgp_scaleSimd(x + k * ld, matrix->pivot[dof], begin, end);
  }

  // U'^-1, from the root to the leaves
  for (int k = root; k >= first; k--) {
    const mjtNum* upper = matrix->upper + matrix->adr[group->dof[k]];
    int from = low;
#define GATHER(count) \
  gatherRow(x + from + k * ld, x + from, upper, col + adr[k], adr[k + 1] - adr[k], ld, count)
    mjgiFOR_SIMD(GATHER, from, high)
#undef GATHER
  }
}


void mjgp_solveColumns(const mjgpGroup* group, const mjModel* m, mjtNum* x, int ld,
                       const mjgpInertia* matrix) {
  if (ld == mjgiSIMD && !matrix->block) {
    solveLane(group, (mjgiSimd*)x, matrix);
    return;
  }
  for (int first = 0, n; first < group->nv; first += n) {
    int tree = m->dof_treeid[group->dof[first]];
    n = m->tree_dofnum[tree];
    if (!matrix->block || !matrix->blocked[tree]) {
      solveTree(group, x, ld, matrix, first, first + n - 1);
    }
  }
  if (matrix->block) {
    solveBlocks(group, m, x, ld, matrix);
  }
}


// Make the rows of E Mhat^-1 M, as columns: from the engine solver's acceleration to the
// integrator's.
static void integratorRows(mjgpStep* s) {
  const mjgpInertia* Mhat = s->Mhat;
  mjgpGroup* group = s->group;
  int nv = group->nv, ld = group->ld;
  const int *adr = group->M_adr, *col = group->M_col;
  mjtNum* x = s->forces;

  // rows of Mhat^-1
  memset(x, 0, sizeof(mjtNum) * (size_t)nv * (size_t)ld);
  mjgp_addColumns(s, x);
  mjgp_solveColumns(group, s->m, x, ld, Mhat);

  // times M = Mhat - diag(slope)
  if (Mhat->slope && !Mhat->block) {
    for (int k = 0; k < nv; k++) {
      mjtNum slope = -Mhat->slope[group->dof[k]];
      for (int j = k * ld; j < (k + 1) * ld; j += mjgiSIMD) {
        *(mjgiSimd*)(s->rows + j) = slope * *(const mjgiSimd*)(x + j);
      }
    }
    mjgp_addColumns(s, s->rows);
  }

  // times M, entry by entry
  else {
    mju_zero(s->rows, nv * ld);
    for (int k = 0; k < nv; k++) {
      for (int p = adr[k]; p < adr[k + 1]; p++) {
        mjgp_addSimd(s->rows + k * ld, x + col[p] * ld, group->M[p], 0, ld);
        if (p > adr[k]) {
          mjgp_addSimd(s->rows + col[p] * ld, x + k * ld, group->M[p], 0, ld);
        }
      }
    }
  }
}


// W += left' right for rows from .. to of W in count lanes
static inline void addOuter(mjtNum* W, const mjtNum* left, const mjtNum* right, int from, int to,
                            int ld, int count) {
  mjgiSimd source[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    source[c] = ((const mjgiSimd*)right)[c];
  }
  for (int i = from; i < to; i++) {
    mjgiSimd* target = (mjgiSimd*)(W + i * ld);
    for (int c = 0; c < count; c++) {
      target[c] += left[i] * source[c];
    }
  }
}


int mjgp_hasDelassus(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  size_t size = sizeof(int) * (size_t)group->nefc;
  return group->reduced && !mjgp_hasSliding(group) && !memcmp(s->reduced_state, group->state, size);
}


int mjgp_makeDelassus(mjgpStep* s) {
  if (mjgp_hasDelassus(s)) {
    return 1;
  }
  if (s->rows && !s->made) {
    integratorRows(s);
    s->made = 1;
  }
  mjgpGroup* group = s->group;
  int nv = group->nv, n = s->n + group->nextra, ld = group->ld;
  if (!mjgp_factor(group)) {
    return 0;
  }

  // columns of E, and the rows of the integrator
  memset(s->right, 0, sizeof(mjtNum) * (size_t)nv * (size_t)ld);
  mjgp_addColumns(s, s->right);
  mjgp_solveLowerJoints(group, s->right, 1);
  if (s->rows) {
    mju_copy(s->left, s->rows, nv * ld);
    mjgp_solveLowerJoints(group, s->left, 0);
  }

  // product of left and right; a row of right is zero outside from .. to
  mju_zero(s->W, n * ld);
  for (int k = 0; k < nv; k++) {
    const mjtNum *left = s->left + k * ld, *right = s->right + k * ld;
    int from = s->rows ? 0 : group->from[k], to = s->rows ? n : group->to[k];
    int begin = mjgi_simdBegin(group->from[k]), end = mjgi_simdEnd(group->to[k]);
#define ADD(count) addOuter(s->W + begin, left, right + begin, from, to, ld, count)
    mjgiFOR_SIMD(ADD, begin, end)
#undef ADD
  }
  memcpy(s->reduced_state, group->state, sizeof(int) * (size_t)group->nefc);
  group->reduced = 1;
  return 1;
}


// Compute the descent at s->a on the present factors.
static void descend(mjgpStep* s) {
  mjgp_gradient(s->group, s->descent, NULL, s->a, NULL);
  mjgp_solveLower(s->group, s->descent);
}


int mjgp_linearize(mjgpStep* s) {
  if ((!mjgp_hasDelassus(s) && !mjgp_spend(s)) || !mjgp_makeDelassus(s)) {
    return 0;
  }
  descend(s);
  return 1;
}


void mjgp_solveHessian(const mjgpStep* s, mjtNum* x) {
  mjgp_solveFactored(s->group, x);
}


void mjgp_freeAcceleration(mjgpStep* s, mjtNum* restrict a, mjtNum* restrict size) {
  int nv = s->group->nv, ld = s->group->ld;
  mjgp_accelerations(s);
  for (int i = 0; i < ld; i++) {
    a[i] = s->acc[i];
    size[i] = mju_abs(a[i]);
  }
  mjgp_sumRows(a, size, s->left, s->descent, -1, nv, ld);
}


void mjgp_setCancellation(mjgpStep* s) {
  mjtNum h = s->m->opt.timestep;
  mj_markStack(s->d);
  mjtNum* a = mj_stackAllocNum(s->d, 2 * (size_t)s->group->ld);
  mjtNum* size = a + s->group->ld;
  mjgp_freeAcceleration(s, a, size);
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    s->g->out.cancellation[joint] = mju_abs(s->g->in.gear[joint].v) + h * size[i];
  }
  mj_freeStack(s->d);
}


void mjgp_addRounding(mjgpStep* s) {
  const mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep, *velocity = s->g->out.rounding;
  for (int k = 0; k < group->nv && s->forces; k++) {
    for (int i = 0; i < s->n; i++) {
      velocity[group->joint[i]] += h * mju_abs(s->forces[k * group->ld + i]) * s->rounding[k];
    }
  }
  mjgp_solveLower(group, s->rounding);
  for (int k = 0; k < group->nv; k++) {
    for (int i = 0; i < s->n; i++) {
      velocity[group->joint[i]] += h * mju_abs(s->left[k * group->ld + i] * s->rounding[k]);
    }
  }
}

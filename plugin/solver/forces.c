#include "solver/forces.h"

#include <string.h>

#include "gear/piece.h"
#include "gear/tolerances.h"
#include "model/simd.h"
#include "solver/contact.h"
#include "solver/system.h"
#include "solvers/dense.h"

// Joints are the gears, then all dofs with D that are not the dof of one gear. Matrices have their
// rows in lanes.
typedef struct mjgpForces_ {
  mjgpStep* s;
  mjgpInertia M;  // factors of M
  int monotone;   // 1: no gear's friction decreases with its acceleration
  int special;    // 1: a gear is self-locking or has static friction
  mjtNum size;    // largest force on a gear without constraints

  // joints: motion w = w0 + by_w z and friction t = t0 + by_t z of each on its line
  int n, ld;  // number of joints; lanes of them and one column
  int* dof;   // dof of each                                                  (n)
  mjtNum* Y;  // M^-1 E'                                                      (nv x ld)
  mjtNum*
      C;  // of the joints' dofs: (M^-1 E', -M^-1 b)                                         (n x ld)
  mjtNum* W;  // the same with rows in their states: E a = -W (t, 1)          (n x ld)
  mjtNum* K;  // factors of the equations of z                                (n x lanes of n)
  mjtNum* V;  // scratch                                                      (n x ld)
  mjtNum *D, *w, *t, *w0, *t0, *by_w, *by_t, *z;  // D: its entry             (ld)
  mjtNum *Dw, *sum;  // scratch                                               (ld)

  // rows that act
  int nrow, lanes;
  int* row;       // which                                                     (nefc)
  int* cone;      // number of the elliptic contact sliding there, -1: none    (nefc)
  int* state;     // row states of Q and W                                     (nefc)
  mjtNum* X;      // M^-1 J'                                                   (nv x lanes)
  mjtNum* G;      // J M^-1 J'                                                 (nrow x lanes)
  mjtNum* T;      // factors of the equations of f                             (nrow x lanes)
  mjtNum* Q;      // f = Q (t, 1)                                              (nrow x ld)
  int* pivot;     // exchanges of T or K                                       (nefc or n)
  mjtNum* last;   // forces of the last iteration                              (nefc)
  mjtNum* terms;  // size of the forces on each dof                            (nv)
} mjgpForces;


// Returns the entry of D at dof k of the group, the metrics' difference; 0 in one metric.
static mjtNum entryOfD(const mjgpStep* s, int k) {
  int dof = s->group->dof[k], reached = s->g->config->reached[s->m->dof_treeid[dof]];
  return !s->Mhat->solver && reached ? s->Mhat->slope[dof] : 0;
}


// Returns the number of dofs with D that are not the dof of one gear.
static int otherDofs(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  int count = 0;
  for (int k = 0; k < group->nv; k++) {
    count += entryOfD(s, k) != 0;
  }
  for (int i = 0; i < s->n; i++) {
    count -= entryOfD(s, group->E_dof[group->E_adr[i]]) != 0;
  }
  return count;
}


int mjgp_hasForces(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  const mjgpInertia* Mhat = s->Mhat;
  int room = mjgpFORCES * s->n - group->nefc;
  int is = Mhat->slope && !group->nterm && !group->nextra && !s->gaps && room >= 0;
  for (int i = 0; i < s->n; i++) {
    is &= s->g->config->own[group->joint[i]] >= 0 && !mjgp_isParallel(&s->g->in, group->joint[i]);
  }
  for (int k = 0; k < group->nv && is && Mhat->block; k++) {
    is = !Mhat->blocked[s->m->dof_treeid[group->dof[k]]];
  }
  return is && (group->nv - s->n <= room || otherDofs(s) <= room);
}


//---------------------------------- matrices ------------------------------------------------------

static void allocate(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  size_t nv = (size_t)mjgi_simdEnd(group->nv), most = (size_t)mjMAX(group->nefc, f->n);
  size_t n = (size_t)f->n, ld = (size_t)f->ld, nefc = (size_t)group->nefc;
  size_t lanes = (size_t)mjgi_simdEnd(group->nefc), gears = (size_t)f->s->n;
  f->Y = mj_stackAllocNum(f->s->d, nv * (ld + lanes + 1) + 4 * n * ld + 10 * ld +
                                       nefc * (2 * lanes + ld) + gears * (size_t)group->ld + lanes +
                                       2 * nefc + most);
  f->C = f->Y + nv * ld;
  f->W = f->C + n * ld;
  f->K = f->W + n * ld;
  f->V = f->K + n * ld;
  f->D = f->V + n * ld;
  f->w = f->D + ld;
  f->t = f->w + ld;
  f->w0 = f->t + ld;
  f->t0 = f->w0 + ld;
  f->by_w = f->t0 + ld;
  f->by_t = f->by_w + ld;
  f->z = f->by_t + ld;
  f->Dw = f->z + ld;
  f->sum = f->Dw + ld;
  f->X = f->sum + ld;
  f->terms = f->X + nv * lanes;
  f->G = f->terms + nv;
  f->T = f->G + nefc * lanes;
  f->Q = f->T + nefc * lanes;
  f->s->W = f->Q + nefc * ld;
  f->last = f->s->W + gears * (size_t)group->ld;
  f->row = (int*)(f->last + lanes);
  f->cone = f->row + nefc;
  f->state = f->cone + nefc;
  f->pivot = f->state + nefc;
}


// Make the part of the matrices that rows do not change.
static void makeJoints(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  int nv = group->nv, ld = f->ld;
  mju_zero(f->Y, nv * ld);
  for (int i = 0; i < f->n; i++) {
    f->Y[f->dof[i] * ld + i] = 1;
  }
  for (int k = 0; k < nv; k++) {
    f->Y[k * ld + f->n] = -group->force[k];
  }
  mjgp_solveColumns(group, f->s->m, f->Y, ld, &f->M);
  for (int i = 0; i < f->n; i++) {
    mju_copy(f->C + i * ld, f->Y + f->dof[i] * ld, ld);
  }
}


// List the rows that act, and make their matrices.
static void makeRows(mjgpForces* f) {
  const mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  int nv = group->nv, count = 0;
  for (int i = 0, k = 0; i < group->nefc;) {
    int elliptic = group->type[i] == mjCNSTR_CONTACT_ELLIPTIC;
    int end = i + (elliptic ? group->contact[k]->dim : 1);
    for (; i < end; i++) {
      if (group->state[i] != mjCNSTRSTATE_SATISFIED) {
        f->row[count] = i;
        f->cone[count++] = group->state[i] == mjCNSTRSTATE_CONE ? k : -1;
      }
    }
    k += elliptic;
  }
  int lanes = f->lanes = mjgi_simdEnd(count);
  f->nrow = count;
  mju_zero(f->X, mjgi_simdEnd(nv) * lanes);
  for (int c = 0; c < count; c++) {
    for (int k = group->J_adr[f->row[c]]; k < group->J_adr[f->row[c] + 1]; k++) {
      for (int j = 0; j < mjgiSIMD && group->J_lane[k] + j < nv; j++) {
        f->X[(group->J_lane[k] + j) * lanes + c] = group->J[mjgiSIMD * k + j];
      }
    }
  }
  if (count) {
    mjgp_solveColumns(group, s->m, f->X, lanes, &f->M);
  }
  mju_zero(f->G, count * lanes);
  for (int c = 0; c < count; c++) {
    for (int k = group->J_adr[f->row[c]]; k < group->J_adr[f->row[c] + 1]; k++) {
      mjgp_sumRows(f->G + c * lanes, NULL, f->X + group->J_lane[k] * lanes, group->J + mjgiSIMD * k,
                   1, mjgiSIMD, lanes);
    }
  }
}


// Set row c of the equations of the forces, T f = Q (t, 1): a row's force answers its motion, the
// forces of a sliding cone answer the motion of all its rows. jar0: J a - aref without all of them
static void setEquation(mjgpForces* f, int c, const mjtNum* jar0) {
  const mjgpGroup* group = f->s->group;
  int i = f->row[c], k = f->cone[c], lanes = f->lanes, first = c, dim = 1;
  mjtNum *T = f->T + c * lanes, *Q = f->Q + c * f->ld, one = 1;
  const mjtNum* response = &one;
  mju_zero(T, lanes);
  mju_zero(Q, f->ld);
  if (k < 0 && group->state[i] != mjCNSTRSTATE_QUADRATIC) {
    T[c] = 1;
    Q[f->n] = group->f[i];  // none, or that of sliding dry friction
    return;
  }
  if (k >= 0) {
    while (first && f->cone[first - 1] == k) {
      first--;
    }
    dim = group->contact[k]->dim;
    response = group->cone + 36 * k + dim * (c - first);
    Q[f->n] = group->f[i] + mju_dot(response, group->jar + i - (c - first), dim);
  }
  for (int p = 0; p < dim; p++) {
    mjgp_addSimd(T, f->G + (first + p) * lanes, response[p], 0, lanes);
    for (int j = 0; j < f->s->n; j++) {
      Q[j] += response[p] * f->X[f->dof[j] * lanes + first + p];
    }
    Q[f->n] -= response[p] * jar0[first + p];
  }
  T[c] += k < 0 ? group->R[i] : 1;
  mjtNum scale = T[c] != 0 ? 1 / mju_abs(T[c]) : 1;
  mjgp_scaleSimd(T, scale, 0, lanes);
  mjgp_scaleSimd(Q, scale, 0, f->ld);
}


// x = A^-1 x for the columns of x, on the factors of mjgi_lu
static void solveRows(mjtNum* x, const mjtNum* LU, const int* pivot, int n, int ld) {
  int lanes = mjgi_simdEnd(n);
  for (int i = 0; i < n; i++) {
    mjtNum *row = x + i * ld, *other = x + pivot[i] * ld;
    for (int j = 0; j < ld && row != other; j++) {
      mjtNum value = row[j];
      row[j] = other[j];
      other[j] = value;
    }
  }
  for (int i = 0; i < n; i++) {
    mjgp_sumRows(x + i * ld, NULL, x, LU + i * lanes, -1, i, ld);
    mjgp_scaleSimd(x + i * ld, LU[i * lanes + i], 0, ld);
  }
  for (int i = n - 2; i >= 0; i--) {
    mjgp_sumRows(x + i * ld, NULL, x + (i + 1) * ld, LU + i * lanes + i + 1, -1, n - 1 - i, ld);
  }
}


// Make Q and W with the rows at group->state. Returns 0 if their equations are singular.
static int makeEffects(mjgpForces* f) {
  const mjgpGroup* group = f->s->group;
  int ld = f->ld, listed = 0;
  for (int c = 0; c < f->nrow; c++) {
    int i = f->row[c], cone = f->cone[c] >= 0;
    listed += group->state[i] != mjCNSTRSTATE_SATISFIED;
    listed -= cone != (group->state[i] == mjCNSTRSTATE_CONE) ? group->nefc : 0;
  }
  for (int i = 0; i < group->nefc; i++) {
    listed -= group->state[i] != mjCNSTRSTATE_SATISFIED;
  }
  if (listed) {
    makeRows(f);
  }
  memcpy(f->state, group->state, sizeof(int) * (size_t)group->nefc);
  mju_copy(f->W, f->C, f->n * ld);
  if (!f->nrow) {
    return 1;
  }
  mjtNum* jar0 = f->last;
  mju_zero(jar0, f->lanes);
  mjgp_sumRows(jar0, NULL, f->X, group->force, 1, group->nv, f->lanes);
  for (int c = 0; c < f->nrow; c++) {
    jar0[c] -= group->aref[f->row[c]];
  }
  for (int c = 0; c < f->nrow; c++) {
    setEquation(f, c, jar0);
  }
  if (!mjgi_lu(f->T, jar0, f->pivot, f->nrow)) {
    return 0;
  }
  solveRows(f->Q, f->T, f->pivot, f->nrow, ld);
  for (int i = 0; i < f->n; i++) {
    mjgp_sumRows(f->W + i * ld, NULL, f->Q, f->X + f->dof[i] * f->lanes, -1, f->nrow, ld);
  }
  return 1;
}


// Take s->W from rows of f->ld numbers.
static void takeDelassus(const mjgpForces* f, const mjtNum* W) {
  for (int i = 0; i < f->s->n; i++) {
    mju_copy(f->s->W + i * f->s->group->ld, W + i * f->ld, f->s->n);
  }
}


// Make s->W, the effect of friction on the accelerations of the gears. Returns 0 if singular.
static int makeDelassus(mjgpForces* f) {
  int n = f->n, ld = f->ld, lanes = mjgi_simdEnd(n);
  mju_copy(f->V, f->W, n * ld);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      f->K[i * lanes + j] = (i == j) + f->C[i * ld + j] * f->D[j];
    }
  }
  mju_zero(f->z, lanes);
  if (!mjgi_lu(f->K, f->z, f->pivot, n)) {
    return 0;
  }
  solveRows(f->V, f->K, f->pivot, n, ld);
  takeDelassus(f, f->V);
  return 1;
}


//---------------------------------- iteration -----------------------------------------------------

// Set the lines of all joints: a steep line over its friction, others over their motion.
static void makeLines(mjgpForces* f) {
  const mjgpStep* s = f->s;
  for (int i = 0; i < f->n; i++) {
    f->w0[i] = f->t0[i] = f->by_t[i] = 0;
    f->by_w[i] = 1;
  }
  for (int i = 0; i < s->n; i++) {
    mjgpPiece* piece = s->piece + i;
    mjgp_linePiece(piece, s->acc[i], 0);
    int steep = piece->held || mju_abs(piece->slope) * f->C[i * (f->ld + 1)] > 1;
    f->w0[i] = (piece->held ? piece->target : piece->acc);
    f->t0[i] = piece->t;
    f->by_w[i] = piece->held ? 0 : steep ? 1 / piece->slope : 1;
    f->by_t[i] = steep ? 1 : piece->slope;
  }
}


// Solve on the lines: w and t. Returns 0 if the equations are singular.
static int solveLines(mjgpForces* f) {
  int n = f->n, ld = f->ld, lanes = mjgi_simdEnd(n);
  mjtNum *D = f->Dw, *D0 = f->sum;
  for (int j = 0; j < n; j++) {
    D[j] = f->D[j] * f->by_w[j];
    D0[j] = f->D[j] * f->w0[j];
  }
  for (int i = 0; i < n; i++) {
    const mjtNum *C = f->C + i * ld, *W = f->W + i * ld;
    mjtNum* row = f->K + i * lanes;
    for (int j = 0; j < lanes; j += mjgiSIMD) {
      *(mjgiSimd*)(row + j) = *(const mjgiSimd*)(C + j) * *(const mjgiSimd*)(D + j) +
                              *(const mjgiSimd*)(W + j) * *(const mjgiSimd*)(f->by_t + j);
    }
    row[i] += f->by_w[i];
    f->z[i] = -f->w0[i] - W[n] - mjgp_dotSimd(C, D0, 0, ld) - mjgp_dotSimd(W, f->t0, 0, ld);
  }
  if (!mjgi_lu(f->K, f->z, f->pivot, n)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    f->w[i] = f->w0[i] + f->by_w[i] * f->z[i];
    f->t[i] = f->t0[i] + f->by_t[i] * f->z[i];
  }
  return 1;
}


// Let the gears settle: friction and branches in s->g. Returns 0 if they do not.
static int settle(mjgpForces* f) {
  mjgpStep* s = f->s;
  int changes = 1;
  for (int k = 0; changes && k < mjgpMILD; k++) {
    makeLines(f);
    if (!solveLines(f)) {
      return 0;
    }
    changes = 0;
    for (int i = 0; i < s->n; i++) {
      s->acc[i] = f->w[i];
      changes += mjgp_nextPiece(s->piece + i, s->acc[i], 0, f->t[i], f->size);
      s->t[i] = f->t[i];
    }

    // sweeps guess the branches, first as if the metrics were one
    if (changes > 1 && !k) {
      takeDelassus(f, f->W);
      mjgp_sweepGears(s, s->t, s->acc);
    } else if (changes && k == mjgpEXCHANGES && makeDelassus(f)) {
      mjgp_sweepGears(s, s->t, s->acc);
    }
  }
  return !changes;
}


// Move with friction s->t: forces, s->a, group->jar. Returns the largest difference of w from the
// motion of the joints, relative to the fastest motion by a force.
static mjtNum move(mjgpForces* f) {
  mjgpStep* s = f->s;
  mjgpGroup* group = s->group;
  int nv = group->nv, n = f->n, ld = f->ld;
  mju_zero(group->f, group->nefc);
  for (int c = 0; c < f->nrow; c++) {
    const mjtNum* Q = f->Q + c * ld;
    group->f[f->row[c]] = Q[n] + mju_dot(Q, f->t, s->n);
  }
  for (int k = 0; k < nv; k++) {
    f->terms[k] = mju_abs(group->force[k]);
    s->a[k] = -group->force[k];
  }
  for (int i = 0; i < s->n; i++) {
    s->a[f->dof[i]] += f->t[i];
    f->terms[f->dof[i]] += mju_abs(f->t[i]);
  }
  mjgp_subtractForces(group, s->a, group->f);
  mjtNum fastest = 0, error = 0;
  for (int k = 0; k < nv; k++) {
    f->terms[k] += mju_abs(s->a[k]);
    s->a[k] = -s->a[k];
  }
  mjgp_solveDofs(s, s->a, &f->M, 0);
  mjgp_residual(group, group->jar, s->a);
  for (int k = 0; k < nv; k++) {
    mjtNum M = group->M[group->M_adr[k]];
    f->terms[k] += mju_abs(M * s->a[k]);
    fastest = mjMAX(fastest, f->terms[k] / M);
  }
  for (int i = 0; i < n; i++) {
    f->Dw[i] = f->D[i] * f->w[i];
  }
  for (int i = 0; i < n; i++) {
    mjtNum own = f->w[i] + mjgp_dotSimd(f->C + i * ld, f->Dw, 0, ld);
    error = mjMAX(error, mju_abs(own - s->a[f->dof[i]]));
  }
  return error > 0 ? error / fastest : 0;
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


// Store the results. error: residual of the solution
static void finish(mjgpForces* f, int iterations, mjtNum error) {
  mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  mjtNum most = 0;

  // round-off is relative to the largest acceleration of single forces
  for (int k = 0; k < group->nv; k++) {
    most = mjMAX(most, f->terms[k] / group->M[group->M_adr[k]]);
  }
  for (int i = 0; i < s->n; i++) {
    most = mjMAX(most, f->terms[f->dof[i]] * mju_abs(f->W[i * (f->ld + 1)]));
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    s->t[i] = s->piece[i].friction;
    s->g->out.cancellation[joint] = mju_abs(s->g->in.gear[joint].v) + s->m->opt.timestep * most;
  }
  s->g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                                  .iterations = iterations,
                                  .factorizations = iterations,
                                  .residual = error};
}


// Returns the largest row sum of C D, of absolute values.
static mjtNum largestSum(const mjgpForces* f) {
  mjtNum most = 0;
  for (int i = 0; i < f->n; i++) {
    mjgiSimd sum = {0};
    for (int j = 0; j < f->ld; j += mjgiSIMD) {
      sum += mjgp_absSimd(*(const mjgiSimd*)(f->C + i * f->ld + j) * *(const mjgiSimd*)(f->D + j));
    }
    most = mjMAX(most, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
  return most;
}


// Returns 1 if gear i has one solution, all others given. s->W + C D s->W = W: with the largest row
// sum q of C D, column i of s->W differs from that of W by at most q / (1 - q) of its largest entry.
static int hasOneSolution(const mjgpForces* f, int i, mjtNum q) {
  mjtNum own = f->W[i * (f->ld + 1)], most = 0;
  for (int j = 0; j < f->n; j++) {
    most = mjMAX(most, mju_abs(f->W[j * f->ld + i]));
  }
  most *= q / (1 - q);
  return q < 1 && mjgp_hasOneSolution(f->s->piece + i, own - most, own + most);
}


// Returns the number of gears that another branch takes.
static int toRestBranch(mjgpForces* f) {
  int asked = 0;
  mjtNum q = -1;
  for (int i = 0; i < f->s->n && !asked; i++) {
    if (mjgp_mayBeElsewhere(f->s->piece + i)) {
      q = q < 0 ? largestSum(f) : q;
      asked = !hasOneSolution(f, i, q);
    }
  }
  return asked && makeDelassus(f) ? mjgp_toRestBranch(f->s) : 0;
}


// List the joints, with their entries of D.
static void listJoints(mjgpForces* f) {
  const mjgpStep* s = f->s;
  const mjgpGroup* group = s->group;
  int* own = mj_stackAllocInt(s->d, (size_t)(2 * group->nv));
  f->dof = own + group->nv;
  memset(own, 0, sizeof(int) * (size_t)group->nv);
  for (f->n = 0; f->n < s->n; f->n++) {
    int k = f->dof[f->n] = group->E_dof[group->E_adr[f->n]];
    own[k] = 1;
  }
  for (int k = 0; k < group->nv; k++) {
    if (entryOfD(s, k) != 0 && !own[k]) {
      f->dof[f->n++] = k;
    }
  }
  f->ld = mjgi_simdEnd(f->n + 1);
  allocate(f);
  mju_zero(f->D, 10 * f->ld);
  for (int i = 0; i < f->n; i++) {
    f->D[i] = entryOfD(s, f->dof[i]);
  }
}


static void start(mjgpForces* f, mjgpStep* s) {
  mjgpGroup* group = s->group;
  *f = (mjgpForces){.s = s, .monotone = 1};
  if (s->Mhat->solver) {
    mjgp_factorInertia(s->Mhat, s->m, s->d, s->g);
    f->M = *s->Mhat;
  } else {
    f->M = (mjgpInertia){.upper = s->d->qLD, .pivot = s->d->qLDiagInv, .adr = s->m->M_rowadr};
  }
  listJoints(f);
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    mjgp_startPiece(s->piece + i, s->g, s->m, joint, 0, NULL, 0);
    f->monotone &= s->piece[i].monotone;
    f->special |= !s->piece[i].ordinary;
    f->size = mjMAX(f->size, mju_abs(group->force[f->dof[i]]));
    s->acc[i] = s->a[f->dof[i]];
  }
  makeJoints(f);
  mjgp_startStates(s->group, s->m, s->d, NULL, f->last, f->Q);
}


// Returns 1 if solved.
static int iterate(mjgpForces* f) {
  mjgpStep* s = f->s;
  int most = f->monotone ? mjgpMILD : mjgpEXCHANGES;
  for (int k = 1; k <= most; k++) {
    if (!mjgp_spend(s) || !makeEffects(f) || !settle(f)) {
      return 0;
    }
    mjtNum error = move(f);
    if (!keepsRows(f) || !(error <= mjgpROOT)) {
      continue;
    }
    finish(f, k, error);
    if (!f->special || (!toRestBranch(f) && !mjgp_releasePieces(s->piece, s->n))) {
      return 1;
    }
  }
  return 0;
}


int mjgp_solveForces(mjgpStep* s) {
  mjgpForces f;
  start(&f, s);
  int solved = iterate(&f);
  for (int i = 0; i < s->n; i++) {
    mjgp_storePiece(s->piece + i, s->g);
  }
  return solved;
}

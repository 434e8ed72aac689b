#include "friction/tree.h"

#include <float.h>

#include "configuration/jacobian.h"
#include "friction/factor.h"
#include "friction/friction.h"
#include "friction/piece.h"
#include "friction/tolerances.h"


typedef struct mjgpTree_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  mjgpInertia* Mhat;
  const mjtNum* force;  // without friction                                     (nv)
  int first, end;       // dofs of the tree
  const int* joint;     // geared joints, ascending by dof
  int n;                // their number
  mjgpPiece* piece;     // their pieces                                         (n)
  int* held;            // of each dof: its acceleration is known               (nv)
  mjtNum* a;            // acceleration                                         (nv)
  mjtNum* balance;      // force - Mhat a                                       (nv)
  mjtNum* pivot;        // inverse diagonal of D                                (nv)
  mjtNum size;          // of the largest force in it
  mjtNum most;          // largest acceleration that is a sum in it
} mjgpTree;


//---------------------------------- one iteration -------------------------------------------------

// lines of all pieces; 0 if one has none
static int makeLines(mjgpTree* tree) {
  mjtNum h = tree->m->opt.timestep;
  int all = 1;
  for (int b = 0; b < tree->n; b++) {
    mjgpPiece* piece = tree->piece + b;
    all &= mjgp_linePiece(piece, tree->g, h, piece->shaft ? piece->shaft->a : 0, 0);
  }
  return all;
}


// acceleration on the lines
// Long because elimination and substitution are one walk over the tree and back
static void solve(mjgpTree* tree) {
  const mjModel* m = tree->m;
  const mjgpGears* g = tree->g;
  const mjtNum* slope = tree->Mhat->slope;
  mjtNum* a = tree->a;
  int stuck = 0;

  // rows in whole lanes; what lines add to the diagonal waits in pivot
  for (int k = tree->first, b = 0; k < tree->end; k++) {
    mjgp_copySimd(g->scratch.matrix + g->config->line[k], tree->d->M, m->M_rowadr[k],
                  m->M_rownnz[k], g->config->nC);
    tree->pivot[k] = slope[k];
    tree->held[k] = 0;
    a[k] = tree->force[k];
    if (b == tree->n || g->config->own[tree->joint[b]] != k) {
      continue;
    }
    const mjgpPiece* piece = tree->piece + b++;
    if (piece->held) {
      stuck = tree->held[k] = 1;
      a[k] = piece->target;
      continue;
    }
    tree->pivot[k] += piece->slope;
    a[k] -= piece->t - (piece->shaft ? piece->slope * piece->shaft->a : 0);
  }

  // what stuck joints do is known
  for (int k = tree->first; k < tree->end && stuck; k++) {
    const int* row = m->M_colind + m->M_rowadr[k];
    mjtNum* L = g->scratch.matrix + g->config->line[k];
    int diag = m->M_rownnz[k] - 1, held = tree->held[k];
    if (held) {
      L[diag] = 0;
      tree->pivot[k] = 1;
    }
    for (int p = 0; p < diag; p++) {
      int above = tree->held[row[p]];
      if (!held && above) {
        a[k] -= L[p] * a[row[p]];
      } else if (held && !above) {
        a[row[p]] -= L[p] * a[k];
      }
      L[p] = held || above ? 0 : L[p];
    }
  }
  mjgp_solveRows(g->scratch.matrix, a, tree->pivot, tree->first, tree->end, m, g->config->line);
}


// force that is left for friction at acceleration a
static void balance(mjgpTree* tree) {
  const mjModel* m = tree->m;
  const mjtNum* a = tree->a;
  mjtNum *left = tree->balance, size = 0, most = 0;
  for (int k = tree->first; k < tree->end; k++) {
    const int* row = m->M_colind + m->M_rowadr[k];
    const mjtNum* M = tree->d->M + m->M_rowadr[k];
    int diag = m->M_rownnz[k] - 1;
    mjtNum own = (M[diag] + tree->Mhat->slope[k]) * a[k], sum = tree->force[k] - own;
    mjtNum largest = mju_abs(tree->force[k]) + mju_abs(own);
    size = largest > size ? largest : size;
    largest *= mju_abs(tree->pivot[k]);
    most = largest > most ? largest : most;
    for (int p = 0; p < diag; p++) {
      sum -= M[p] * a[row[p]];
      left[row[p]] -= M[p] * a[k];
    }
    left[k] = sum;
  }
  tree->size = size;
  tree->most = most;
}


// compare the pieces with what came out, and go on to others; returns 1 if they were right
static int check(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  mjtNum h = tree->m->opt.timestep, residual = 0;
  int right = 1;
  for (int b = 0; b < tree->n; b++) {
    mjgpPiece* piece = tree->piece + b;
    int dof = g->config->own[tree->joint[b]];
    mjtNum left = tree->balance[dof], from = piece->shaft ? piece->shaft->a : 0;
    mjtNum t = piece->held ? left : piece->t + piece->slope * (tree->a[dof] - from);
    mjtNum missing = piece->shaft ? 0 : mju_abs(left - t);
    residual = missing > residual ? missing : residual;
    right &= !mjgp_nextPiece(piece, g, h, tree->a[dof], 0, t, 0);
  }
  residual = residual > 0 ? residual / tree->size : 0;
  g->out.last_info.residual = residual;
  return right && residual <= 64 * DBL_EPSILON * (tree->end - tree->first);
}


//---------------------------------- one tree ------------------------------------------------------

// gears that lock and are on another branch than the jamming rule's go to that; returns their number
static int connect(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  mjtNum* x = tree->balance;
  int count = 0;
  for (int b = 0; b < tree->n; b++) {
    int i = tree->joint[b], dof = g->config->own[i];
    g->out.P[i] = 0;
    if (mjgp_isLocking(tree->piece + b, g)) {
      mjgp_factorInertia(tree->Mhat, tree->m, tree->d, g);
      mju_zero(x + tree->first, tree->end - tree->first);
      x[dof] = 1;
      mjgp_solveInertia(x, tree->m, tree->Mhat, tree->first, tree->end);
      count += mjgp_connectPiece(tree->piece + b, g, tree->m->opt.timestep, x[dof],
                                 g->in.inertia[i] * x[dof]);
    }
  }
  return count;
}


// gears that break away at this solution; returns their number
static int release(mjgpTree* tree) {
  int count = 0;
  for (int b = 0; b < tree->n; b++) {
    count += mjgp_releasePiece(tree->piece + b, tree->g);
  }
  return count;
}


static int solveTree(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  int solved = 0, iterations = 0, shafts = 0;
  mj_markStack(tree->d);
  tree->piece =
      mj_stackAllocByte(tree->d, sizeof(mjgpPiece) * (size_t)tree->n, _Alignof(mjgpPiece));
  for (int b = 0; b < tree->n; b++) {
    shafts += g->config->joint[tree->joint[b]].gap == mjgpGAP_ROTOR;
  }
  mjgpShaft* shaft = shafts ? mj_stackAllocByte(tree->d, 2 * sizeof(mjgpShaft) * (size_t)shafts,
                                                _Alignof(mjgpShaft))
                            : NULL;
  for (int b = 0; b < tree->n; b++) {
    int i = tree->joint[b];
    mjgp_startPiece(tree->piece + b, g, tree->m, i, tree->d->qacc_warmstart[g->config->own[i]],
                    shaft);
    shaft = tree->piece[b].shaft ? shaft + 2 : shaft;
  }
  while (!solved && iterations < mjgpMILD && makeLines(tree)) {
    iterations++;
    solve(tree);
    balance(tree);
    solved = check(tree) && !connect(tree) && !release(tree);
  }
  g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                               .iterations = iterations,
                               .factorizations = iterations,
                               .residual = g->out.last_info.residual,
                               .sigma_max = -1};

  // rounding errors are relative to the largest acceleration that forces of the tree cause alone
  for (int b = 0; b < tree->n && solved; b++) {
    int i = tree->joint[b];
    g->out.cancellation[i] = mju_abs(g->in.v[i]) + tree->m->opt.timestep * tree->most;
    if (tree->piece[b].shaft) {
      mjgp_storeShaft(g, i, tree->piece[b].shaft, tree->piece[b].shaft->t, tree->most);
    }
  }
  mj_freeStack(tree->d);
  return solved;
}


// can the gears of a tree be solved on its own matrix
static int isEligible(const mjgpTree* tree) {
  const mjgpGears* g = tree->g;
  for (int b = 0; b < tree->n; b++) {
    if (g->config->own[tree->joint[b]] < 0 || g->in.row[tree->joint[b]] ||
        !mjgp_isLinear(g, tree->joint[b])) {
      return 0;
    }
  }
  return 1;
}


int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n) {
  if (!Mhat->slope || !Mhat->passive || g->in.settings.solver != mjgNEWTON ||
      g->in.settings.want_sigma_max) {
    return n;
  }
  mj_markStack(d);
  mjgpTree tree = {.m = m,
                   .d = d,
                   .g = g,
                   .Mhat = Mhat,
                   .force = force,
                   .held = mj_stackAllocInt(d, (size_t)m->nv),
                   .a = g->scratch.vector,
                   .balance = g->scratch.vector + m->nv,
                   .pivot = g->scratch.vector + 2 * m->nv};
  int left = 0;
  for (int start = 0; start < n; start += tree.n) {
    // the joints of a tree
    int id = m->dof_treeid[mjgp_firstDof(m, g->config->joint + joint[start])], end = start;
    tree.first = m->tree_dofadr[id];
    tree.end = tree.first + m->tree_dofnum[id];
    while (end < n && g->config->own[joint[end]] >= tree.first &&
           g->config->own[joint[end]] < tree.end) {
      end++;
    }
    tree.joint = joint + start;
    tree.n = mjMAX(end - start, 1);

    // where it stays unsolved a group starts afresh
    if (isEligible(&tree) && solveTree(&tree)) {
      g->count.trees++;
      mjgp_countFriction(g, m, d, mjgSOLVED, -1);
      continue;
    }
    for (int b = 0; b < tree.n; b++) {
      int i = joint[start + b];
      mjgp_startJoint(g, d, i);
      joint[left++] = i;
    }
  }
  mj_freeStack(d);
  return left;
}

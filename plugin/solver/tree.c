#include "solver/tree.h"

#include <float.h>

#include "configuration/jacobian.h"
#include "gear/friction.h"
#include "gear/piece.h"
#include "gear/tolerances.h"
#include "model/factor.h"


typedef struct mjgpTree_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  mjgpInertia* Mhat;
  const mjtNum* force;  // all forces without friction                          (nv)
  int first, end;       // dofs of the tree
  const int* joint;     // geared joints, ascending by dof
  int n;                // their number
  mjgpPiece* piece;     // their pieces                                         (n)
  mjgpShaft* shaft;     // two for each piece; null: no joint is behind a gap   (2 n)
  int special;          // mjgpOTHER + mjgpSTATIC if they apply to a gear
  int* held;            // mjgpDOF_HELD, mjgpDOF_BELOW                                (nv)
  mjtNum* a;            // acceleration                                         (nv)
  mjtNum* balance;      // force - Mhat a                                       (nv)
  mjtNum* pivot;        // inverse diagonal of D                                (nv)
  mjtNum size;          // largest force in the tree
  mjtNum most;          // largest acceleration by a single force in the tree
} mjgpTree;

// special gears of a tree: flags
enum {
  mjgpOTHER = 1,  // a gear is self-locking or has static friction
  mjgpSTATIC = 2  // a gear has static friction
};

// knowledge about a dof: flags
enum {
  mjgpDOF_HELD = 1,  // its acceleration is known
  mjgpDOF_BELOW = 2  // the acceleration of an ancestor is known
};


//---------------------------------- one iteration -------------------------------------------------

// Subtract the force that a dof's known acceleration causes on its n ancestors.
static inline void takeForces(mjtNum* a, const int* held, const int* row, const mjtNum* M, int n,
                              mjtNum known) {
  for (int p = 0; p < n; p++) {
    int k = row[p];
    if (!(held[k] & mjgpDOF_HELD)) {
      a[k] -= M[p] * known;
    }
  }
}


// Returns the force on a dof less the forces that known accelerations of its ancestors
// cause, and clears their entries in its row L
static inline mjtNum takeKnown(const mjtNum* a, const int* held, const int* row, mjtNum* L, int n,
                               mjtNum force) {
  for (int p = 0; p < n; p++) {
    int k = row[p];
    if (held[k] & mjgpDOF_HELD) {
      force -= L[p] * a[k];
      L[p] = 0;
    }
  }
  return force;
}


// Make matrix and right side with the lines of all pieces. Returns 0 if a piece has no
// line
static int assemble(mjgpTree* tree) {
  const mjModel* m = tree->m;
  const mjgpGears* g = tree->g;
  const int *own = g->config->own, *line = g->config->line;
  const mjtNum *M = tree->d->M, *slope = tree->Mhat->slope, *force = tree->force;
  mjgpPiece *piece = tree->piece, *end = piece + tree->n;
  mjtNum *a = tree->a, *pivot = tree->pivot;
  int all = 1, *held = tree->held;

  // rows in whole lanes; pivot: additions of lines to the diagonal
  for (int k = tree->first; k < tree->end; k++) {
    int adr = m->M_rowadr[k], diag = m->M_rownnz[k] - 1;
    const int* row = m->M_colind + adr;
    mjtNum right = force[k], diagonal = slope[k];
    int below = diag && held[row[diag - 1]] ? mjgpDOF_BELOW : 0;
    if (piece < end && own[piece->joint] == k) {
      mjgpPiece* at = piece++;
      if (!at->kept) {
        all &= mjgp_linePiece(at, at->shaft ? at->shaft->a : 0, 0);
      }
      if (at->held) {
        a[k] = at->target;
        held[k] = mjgpDOF_HELD | below;
        takeForces(a, held, row, M + adr, diag, a[k]);
        continue;
      }
      right -= at->t - at->slope * at->acc;
      diagonal += at->slope;
    }
    mjtNum* L = g->scratch.matrix + line[k];
    mjgp_copySimd(L, M, adr, diag + 1, g->config->nC);
    a[k] = below ? takeKnown(a, held, row, L, diag, right) : right;
    pivot[k] = diagonal;
    held[k] = below;
  }
  return all;
}


// Returns the unbalanced force at a held dof, which friction takes: the force less row
// and column k of the inertia matrix times a. Descendants of k follow it and have longer
// rows
static mjtNum heldForce(const mjgpTree* tree, int k) {
  const mjModel* m = tree->m;
  const mjtNum *M = tree->d->M, *a = tree->a, *own = M + m->M_rowadr[k];
  const int* row = m->M_colind + m->M_rowadr[k];
  int n = m->M_rownnz[k];
  mjtNum sum = tree->force[k] - (own[n - 1] + tree->Mhat->slope[k]) * a[k];
  for (int p = 0; p < n - 1; p++) {
    sum -= own[p] * a[row[p]];
  }
  for (int j = k + 1; j < tree->end && m->M_rownnz[j] > n; j++) {
    sum -= M[m->M_rowadr[j] + n - 1] * a[j];
  }
  return sum;
}


// Compute the unbalanced force at acceleration a, which friction takes.
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


// Check the pieces and set the next ones. Returns 1 if all are unchanged.
static int check(mjgpTree* tree) {
  int right = 1;
  for (int b = 0; b < tree->n; b++) {
    mjgpPiece* piece = tree->piece + b;
    int dof = tree->g->config->own[piece->joint];
    mjtNum a = tree->a[dof];
    mjtNum t = piece->held ? heldForce(tree, dof) : piece->t + piece->slope * (a - piece->acc);
    int kept = !mjgp_nextPiece(piece, a, 0, t, 0);
    right &= kept;
    piece->kept = kept && !piece->shaft;
  }
  return right;
}


// Returns 1 if forces balance up to round-off, when all pieces are unchanged
static int balances(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  mjtNum h = tree->m->opt.timestep, residual = 0;
  balance(tree);
  for (int b = 0; b < tree->n; b++) {
    const mjgpPiece* piece = tree->piece + b;
    int i = piece->joint, dof = g->config->own[i];
    mjtNum left = tree->balance[dof];
    mjtNum t = piece->held ? left : piece->t + piece->slope * (tree->a[dof] - piece->acc);
    mjtNum missing = piece->shaft ? 0 : mju_abs(left - t);
    residual = missing > residual ? missing : residual;

    // round-off is relative to the largest acceleration of single forces
    g->out.cancellation[i] = mju_abs(g->in.gear[i].v) + h * tree->most;
  }
  residual = residual > 0 ? residual / tree->size : 0;
  g->out.last_info.residual = residual;
  return residual <= 64 * DBL_EPSILON * (tree->end - tree->first);
}


//---------------------------------- one tree ------------------------------------------------------

// Returns 1 if gear i has one solution, all others given. W is at least 1 over the diagonal, and at
// most that of its motor alone.
static int hasOneSolution(const mjgpTree* tree, const mjgpPiece* piece) {
  const mjModel* m = tree->m;
  int dof = tree->g->config->own[piece->joint];
  mjtNum slope = tree->Mhat->slope[dof], inertia = piece->inertia;
  mjtNum own = tree->d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1] + slope;
  return inertia <= m->dof_armature[dof] + slope &&
         mjgp_hasOneSolution(piece, 1 / own, 1 / inertia);
}


// Move self-locking gears to the branch connected to rest. Returns the number of moved
// gears.
static int toRestBranch(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  int count = 0;
  for (int b = 0; b < tree->n && tree->special; b++) {
    mjgpPiece* piece = tree->piece + b;
    if (mjgp_mayBeElsewhere(piece) && !hasOneSolution(tree, piece)) {
      mjgp_factorInertia(tree->Mhat, tree->m, tree->d, g);
      mjtNum W =
          mjgp_inverseDiagonal(tree->m, tree->Mhat, tree->balance, g->config->own[piece->joint]);
      int moved = mjgp_connectPiece(piece, W, piece->inertia * W);
      piece->kept &= !moved;
      count += moved;
    }
  }
  return count;
}


// Release gears that slip on their static bound. Returns their number.
static int release(mjgpTree* tree) {
  int count = 0;
  for (int b = 0; b < tree->n && tree->special & mjgpSTATIC; b++) {
    int released = mjgp_releasePiece(tree->piece + b);
    tree->piece[b].kept &= !released;
    count += released;
  }
  return count;
}


// Start the pieces of the first tree of n joints. Returns 0 if the tree cannot be solved on its
// own matrix.
static int startPieces(mjgpTree* tree, const int* joint, int n) {
  mjgpGears* g = tree->g;
  const mjgpInput* in = &g->in;
  const mjModel* m = tree->m;
  int id = m->dof_treeid[g->config->joint[joint[0]].dof], eligible = 1;
  int first = m->tree_dofadr[id], end = first + m->tree_dofnum[id], special = 0, b = 0;
  int some = g->config->ngeared | g->config->gaps | in->rows;
  for (; b < n; b++) {
    int i = joint[b], dof = g->config->joint[i].dof;
    if (b && (dof < first || dof >= end)) {
      break;
    }
    int pair = g->config->joint[i].gap > mjgpGAP_ROTOR;
    if (some && (pair || in->row[i] || mjgp_isBranched(g, i))) {
      eligible = 0;
    } else {
      mjgp_startPiece(tree->piece + b, g, m, i, tree->d->qacc_warmstart[dof],
                      tree->shaft ? tree->shaft + 2 * b : NULL, 0);
      tree->piece[b].kept = 0;
      special |= in->gear[i].ordinary                                  ? 0
                 : in->gear[i].static_ratio != 1 || in->gear[i].braked ? mjgpOTHER | mjgpSTATIC
                                                                       : mjgpOTHER;
    }
  }
  tree->first = first;
  tree->end = end;
  tree->joint = joint;
  tree->n = b;
  tree->special = special;
  return eligible;
}


// Returns 1 if an iteration solved the tree, -1 if a piece has no line, else 0
static int iterate(mjgpTree* tree) {
  if (!assemble(tree)) {
    return -1;
  }
  mjgp_solveRows(tree->g->scratch.matrix, tree->a, tree->pivot, tree->held, mjgpDOF_HELD,
                 tree->first, tree->end, tree->m, tree->g->config->line);
  return check(tree) && balances(tree) && !toRestBranch(tree) && !release(tree);
}


static int solveTree(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  int solved = 0, iterations = 0, limit = g->in.settings.iterations;
  int most = limit ? mjMIN(limit, mjgpMILD) : mjgpMILD;
  for (; !solved && iterations < most; iterations += solved >= 0) {
    solved = iterate(tree);
  }
  solved = solved > 0;
  g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                               .iterations = iterations,
                               .factorizations = iterations,
                               .residual = g->out.last_info.residual};
  for (int b = 0; b < tree->n && solved; b++) {
    const mjgpShaft* shaft = tree->piece[b].shaft;
    mjgp_storePiece(tree->piece + b, g);
    if (shaft) {
      mjgp_storeShaft(g, tree->joint[b], shaft, shaft->t, tree->most);
    }
  }
  return solved;
}


int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n) {
  if (!Mhat->slope || !Mhat->passive || g->in.settings.solver != mjgNEWTON) {
    return n;
  }
  size_t count = (size_t)n, shafts = g->config->rotors ? 2 * count : 0;
  mjgpTree tree = {
      .m = m,
      .d = d,
      .g = g,
      .Mhat = Mhat,
      .force = force,
      .piece = mj_stackAllocByte(d, sizeof(mjgpPiece) * count, _Alignof(mjgpPiece)),
      .shaft =
          shafts ? mj_stackAllocByte(d, sizeof(mjgpShaft) * shafts, _Alignof(mjgpShaft)) : NULL,
      .held = g->scratch.held,
      .a = g->scratch.vector,
      .balance = g->scratch.vector + m->nv,
      .pivot = g->scratch.vector + 2 * m->nv};
  int left = 0;
  for (int start = 0; start < n; start += tree.n) {
    // an unsolved tree is solved again as a group
    if (startPieces(&tree, joint + start, n - start) && solveTree(&tree)) {
      g->count.trees++;
      mjgp_recordSolve(g, m, d, mjgSOLVED, -1);
      continue;
    }
    for (int b = 0; b < tree.n; b++) {
      int i = joint[start + b];
      mjgp_startJoint(g, d, i);
      joint[left++] = i;
    }
  }
  return left;
}

#include "friction/tree.h"

#include <float.h>

#include "friction/factor.h"
#include "friction/friction.h"
#include "law/law.h"

#define mjgpTRIES 4  // guesses of modes and signs

typedef struct mjgpTree_ {
  const mjModel* m;
  const mjData* d;
  mjgpGears* g;
  const mjtNum* slope;  // of the metric                                        (nv)
  const mjtNum* force;  // without friction                                     (nv)
  int first, end;       // dofs of the tree
  const int* joint;     // geared joints
  int n;                // their number
  mjtNum* a;            // acceleration                                         (nv)
  mjtNum* balance;      // force - Mhat a                                       (nv)
  mjtNum* pivot;        // inverse diagonal of D                                (nv)
  mjtNum size;          // of the largest force in it
  mjtNum most;          // largest acceleration that is a sum in it
} mjgpTree;


//---------------------------------- one guess -----------------------------------------------------

mjtNum mjgp_pieceLine(mjtNum* constant, const mjgpGears* g, int i) {
  mjtNum offset, slope = 0, gamma_v = g->in.gamma_v[i];
  int piece = mjgi_piece(g->out.mode[i], g->out.load[i] > 0);
  mjtNum factor = mjgi_lawRow(&offset, piece, g->in.coulomb[i], 1, 1);
  *constant = 0;
  mjgi_lawLine(&slope, constant, factor, offset, g->in.gamma_u[i] + gamma_v, gamma_v);
  return slope;
}


int mjgp_haveOneSolution(const mjgpGears* g, const int* joint, int n) {
  const mjgpInput* in = &g->in;
  const mjtNum *gamma_u = in->gamma_u, *gamma_v = in->gamma_v, *ratio = in->static_ratio;
  const mjtNum *lag = in->lag, *compliance = in->compliance;
  for (int b = 0; b < n; b++) {
    int i = joint[b], bounded = (gamma_u[i] >= 0) & (gamma_u[i] < 1) & (gamma_v[i] >= 0) &
                                (gamma_v[i] < 1) & (ratio[i] == 1);
    if (!(bounded & (lag[i] == 0) & (compliance[i] == 0) & !in->row[i]) ||
        (g->config->gaps && g->config->joint[i].gap != mjgpGAP_NONE)) {
      return 0;
    }
  }
  return 1;
}


// acceleration with the friction of the guess
// Long because elimination and substitution are one walk over the tree and back
static void solve(mjgpTree* tree) {
  const mjModel* m = tree->m;
  const mjgpGears* g = tree->g;
  mjtNum *a = tree->a, h = m->opt.timestep;
  int stuck = 0;

  // rows in whole lanes; what slipping joints add to the diagonal waits in pivot
  for (int k = tree->first; k < tree->end; k++) {
    mjgp_copySimd(g->scratch.matrix + g->config->line[k], tree->d->M, m->M_rowadr[k],
                  m->M_rownnz[k], g->config->nC);
    tree->pivot[k] = tree->slope[k];
    a[k] = tree->force[k];
    if (g->config->geared[k] < 0) {
      continue;
    }
    int i = g->config->geared[k], s = g->out.mode[i];
    if (!s) {
      stuck = 1;
      continue;
    }

    mjtNum constant, slope = mjgp_pieceLine(&constant, g, i);
    tree->pivot[k] -= slope * g->in.inertia[i];
    a[k] -= slope * g->in.tau[i] + constant;
  }

  // stuck joints: what they do is known
  for (int k = tree->first; k < tree->end && stuck; k++) {
    const int* row = m->M_colind + m->M_rowadr[k];
    mjtNum* L = g->scratch.matrix + g->config->line[k];
    int diag = m->M_rownnz[k] - 1;
    int held = g->config->geared[k] >= 0 && !g->out.mode[g->config->geared[k]];
    if (held) {
      a[k] = -tree->d->qvel[k] / h;
      L[diag] = 0;
      tree->pivot[k] = 1;
    }
    for (int p = 0; p < diag; p++) {
      int c = row[p], gear = g->config->geared[c];
      int above = gear >= 0 && !g->out.mode[gear];
      if (!held && above) {
        a[k] -= L[p] * a[c];
      } else if (held && !above) {
        a[c] -= L[p] * a[k];
      }
      if (held || above) {
        L[p] = 0;
      }
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
    mjtNum own = (M[diag] + tree->slope[k]) * a[k], sum = tree->force[k] - own;
    mjtNum largest = mju_abs(tree->force[k]) + mju_abs(own);
    size = largest > size ? largest : size;
    largest *= tree->pivot[k];
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


// compare the guess with what came out, and correct it; returns 1 if it was right
static int check(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  mjtNum h = tree->m->opt.timestep, residual = 0;
  int right = 1;
  for (int b = 0; b < tree->n; b++) {
    int i = tree->joint[b], dof = g->config->own[i], s = g->out.mode[i];
    mjtNum u = g->in.tau[i] - g->in.inertia[i] * tree->a[dof], t = tree->balance[dof];
    mjtNum lambda = mjgi_lawLoad(g->in.gamma_u[i], g->in.gamma_v[i], u, t);
    mjtNum bound = mjgi_lawBound(lambda, g->in.coulomb[i], 1);
    mjtNum v = g->in.v[i] + h * tree->a[dof];
    g->out.t[i] = s ? s * bound : t;
    g->out.u[i] = u;
    g->out.lambda[i] = lambda;
    g->out.v_next[i] = s ? v : 0;
    mjtNum missing = s ? mju_abs(t - s * bound) : 0;
    residual = missing > residual ? missing : residual;

    int piece = mjgi_piece(s, g->out.load[i] > 0);
    int next = mjgi_lawNext(piece, t, v, lambda, g->in.coulomb[i], 1, 1);
    if (next != piece) {
      right = 0;
      g->out.mode[i] = mjgi_pieceDirection(next);
      g->out.load[i] = next == mjgiSTUCK ? g->out.load[i] : mjgi_pieceLoad(next);
    }
  }
  residual = residual > 0 ? residual / tree->size : 0;
  g->out.last_info.residual = residual;
  return right && residual <= 64 * DBL_EPSILON * (tree->end - tree->first);
}


//---------------------------------- one tree ------------------------------------------------------

static int solveTree(mjgpTree* tree) {
  mjgpGears* g = tree->g;
  int solved = 0, tries = 0;
  while (!solved && tries < mjgpTRIES) {
    tries++;
    solve(tree);
    balance(tree);
    solved = check(tree);
  }
  g->out.last_info.status = mjgSOLVED;
  g->out.last_info.iterations = g->out.last_info.factorizations = tries;
  g->out.last_info.fallbacks = 0;

  // rounding errors are relative to the largest acceleration that forces of the tree cause alone
  for (int b = 0; b < tree->n; b++) {
    int i = tree->joint[b];
    g->out.cancellation[i] = mju_abs(g->in.v[i]) + tree->m->opt.timestep * tree->most;
    g->out.P[i] = 0;
  }
  return solved;
}


int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n) {
  if (!Mhat->slope || !Mhat->passive) {
    return n;
  }
  mjgpTree tree = {.m = m,
                   .d = d,
                   .g = g,
                   .slope = Mhat->slope,
                   .force = force,
                   .a = g->scratch.vector,
                   .balance = g->scratch.vector + m->nv,
                   .pivot = g->scratch.vector + 2 * m->nv};
  int left = 0;
  for (int start = 0; start < n; start += tree.n) {
    // the joints of a tree
    int id = m->dof_treeid[g->config->own[joint[start]]], end = start;
    tree.first = m->tree_dofadr[id];
    tree.end = tree.first + m->tree_dofnum[id];
    while (end < n && g->config->own[joint[end]] < tree.end) {
      end++;
    }
    tree.joint = joint + start;
    tree.n = end - start;

    // where it stays unsolved the general way starts afresh
    if (mjgp_haveOneSolution(g, tree.joint, tree.n) && solveTree(&tree)) {
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
  return left;
}

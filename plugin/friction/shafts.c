#include "friction/shafts.h"

#include <math.h>

#include "configuration/jacobian.h"
#include "friction/factor.h"
#include "friction/friction.h"

// factorizations of a tree; most take one or two
#define mjgpTRIES 10


//---------------------------------- one shaft -----------------------------------------------------

int mjgp_areShafts(const mjgpGears* g, const int* joint, int n) {
  const mjgpInput* in = &g->in;
  for (int b = 0; b < n; b++) {
    int i = joint[b];
    const mjgpJoint* self = g->config->joint + i;
    int monotone = (in->gamma_u[i] >= 0) & (in->gamma_u[i] < 1) & (in->gamma_v[i] >= 0) &
                   (in->gamma_v[i] < 1) & (in->static_ratio[i] <= 1);
    if (self->gap != mjgpGAP_ROTOR || g->config->own[i] < 0 || !monotone || in->lag[i] != 0 ||
        in->compliance[i] > 0 || mjgi_hasTouch(in->coupling[i].law)) {
      return 0;
    }
  }
  return 1;
}


// torque and tangent at acceleration a
static void evaluate(mjgpShaft* s, mjtNum a) {
  mjgi_resolveAgain(&s->step, &s->rate, s->coupling, &s->gap, s->v + s->h * a, 0);
  s->a = a;
  s->t = -s->step.T - s->misplaced * a;
  s->slope = -s->h * s->step.dT - s->misplaced;
}


void mjgp_makeShaft(mjgpShaft* shaft, const mjgpGears* g, const mjModel* m, int i, mjtNum a) {
  shaft->coupling = g->in.coupling + i;
  shaft->gap = mjgi_makeGap(shaft->coupling, 0);
  shaft->h = m->opt.timestep;
  shaft->v = g->in.v[i];
  shaft->misplaced = g->in.implicit[i];

  // the piece of the last step
  shaft->step = (mjgCouplingStep){.mode = g->out.mode[i], .lambda = g->out.load[i]};
  evaluate(shaft, a);
}


mjtNum mjgp_moveShaft(mjgpShaft* shaft, mjtNum a) {
  mjtNum guess = shaft->t + shaft->slope * (a - shaft->a), stiff = mju_abs(shaft->step.dT);
  mjtNum size = mju_abs(shaft->step.T) + stiff * mju_abs(shaft->coupling->velocity) +
                (stiff * shaft->h + shaft->misplaced) * (mju_abs(a) + mju_abs(shaft->a));
  evaluate(shaft, a);
  mjtNum error = mju_abs(shaft->t - guess);
  return error > 0 ? error / (size + mju_abs(shaft->step.T)) : 0;
}


void mjgp_storeShaft(mjgpGears* g, int i, const mjgpShaft* shaft, mjtNum fastest) {
  mjgpResult* out = &g->out;
  out->gap[i] = shaft->step;
  mjgi_closeGap(out->gap + i, &shaft->gap, shaft->step.T, shaft->rate);
  out->t[i] = shaft->t;
  out->v_next[i] = shaft->v + shaft->h * shaft->a;
  out->u[i] = g->in.tau[i] - g->in.inertia[i] * shaft->a;
  out->lambda[i] = shaft->step.lambda;
  out->mode[i] = shaft->step.mode;
  out->P[i] = 0;
  out->cancellation[i] = mju_max(mju_abs(shaft->v) + shaft->h * fastest, mju_abs(out->v_next[i]));
}


//---------------------------------- one tree ------------------------------------------------------

typedef struct mjgpShaftTree_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  const mjtNum *slope, *force;
  int first, end;    // dofs of the tree
  const int* joint;  // geared joints
  int n;             // their number
  mjtNum* a;         // acceleration                                                 (nv)
  mjtNum* pivot;     // inverse diagonal                                             (nv)
  mjgpShaft* shaft;  //                                                              (n)
} mjgpShaftTree;


// acceleration on the tangents of the shafts
static void solve(mjgpShaftTree* tree) {
  const mjModel* m = tree->m;
  const mjgpGears* g = tree->g;
  mjtNum* a = tree->a;
  for (int k = tree->first; k < tree->end; k++) {
    mjgp_copySimd(g->scratch.matrix + g->config->line[k], tree->d->M, m->M_rowadr[k],
                  m->M_rownnz[k], g->config->nC);
    tree->pivot[k] = tree->slope[k];
    a[k] = tree->force[k];
  }
  for (int b = 0; b < tree->n; b++) {
    const mjgpShaft* shaft = tree->shaft + b;
    int dof = g->config->own[tree->joint[b]];
    tree->pivot[dof] += shaft->slope;
    a[dof] -= shaft->t - shaft->slope * shaft->a;
  }
  mjgp_solveRows(g->scratch.matrix, a, tree->pivot, tree->first, tree->end, m, g->config->line);
}


static int solveTree(mjgpShaftTree* tree) {
  mjgpGears* g = tree->g;
  mj_markStack(tree->d);
  tree->shaft =
      mj_stackAllocByte(tree->d, sizeof(mjgpShaft) * (size_t)tree->n, _Alignof(mjgpShaft));
  for (int b = 0; b < tree->n; b++) {
    int i = tree->joint[b];
    mjgp_makeShaft(tree->shaft + b, g, tree->m, i, tree->d->qacc_warmstart[g->config->own[i]]);
  }
  mjtNum error = INFINITY;
  int tries = 0;
  while (!(error <= mjgpTANGENT) && tries < mjgpTRIES) {
    tries++;
    solve(tree);
    error = 0;
    for (int b = 0; b < tree->n; b++) {
      mjtNum own = mjgp_moveShaft(tree->shaft + b, tree->a[g->config->own[tree->joint[b]]]);
      error = own <= error ? error : own;
    }
  }
  int settled = error <= mjgpTANGENT;
  g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                               .iterations = tries,
                               .factorizations = tries,
                               .residual = error,
                               .sigma_max = -1};

  // rounding errors are relative to the largest acceleration that forces of the tree cause alone
  mjtNum fastest = 0;
  for (int k = tree->first; k < tree->end && settled; k++) {
    fastest = mju_max(
        fastest, (mju_abs(tree->force[k]) + mju_abs(tree->a[k] / tree->pivot[k])) * tree->pivot[k]);
  }
  for (int b = 0; b < tree->n && settled; b++) {
    mjgp_storeShaft(g, tree->joint[b], tree->shaft + b, fastest);
  }
  mj_freeStack(tree->d);
  return settled;
}


int mjgp_solveShafts(mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                     const mjtNum* force, int* joint, int n) {
  if (!Mhat->slope || !g->config->rotors) {
    return n;
  }
  mjgpShaftTree tree = {.m = m,
                        .d = d,
                        .g = g,
                        .slope = Mhat->slope,
                        .force = force,
                        .a = g->scratch.vector,
                        .pivot = g->scratch.vector + 2 * m->nv};
  int left = 0;
  for (int start = 0; start < n; start += tree.n) {
    int id = m->dof_treeid[mjgp_firstDof(m, g->config->joint + joint[start])], end = start;
    tree.first = m->tree_dofadr[id];
    tree.end = tree.first + m->tree_dofnum[id];
    while (end < n && g->config->own[joint[end]] >= tree.first &&
           g->config->own[joint[end]] < tree.end) {
      end++;
    }
    tree.joint = joint + start;
    tree.n = end - start;
    int coupled = 0;
    for (int b = 0; b < tree.n; b++) {
      coupled |= g->in.row[tree.joint[b]] != NULL;
    }
    if (tree.n && !coupled && mjgp_areShafts(g, tree.joint, tree.n) && solveTree(&tree)) {
      g->count.trees++;
      mjgp_countFriction(g, m, d, mjgSOLVED, -1);
      continue;
    }
    tree.n = mjMAX(tree.n, 1);
    for (int b = 0; b < tree.n; b++) {
      int i = joint[start + b];
      mjgp_startJoint(g, d, i);
      joint[left++] = i;
    }
  }
  return left;
}

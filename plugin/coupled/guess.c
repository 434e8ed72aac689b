#include "coupled/guess.h"

#include <string.h>

#include "friction/tree.h"
#include "law/law.h"

#define mjgpTRIES 6  // guesses of pieces and of states
#define mjgpFEW   2  // changes after which another guess is made although they do not become less

// of the torques that balance at the joints: a load that is nothing but rounding
#define mjgpROUNDED 1e-12


static int isEligible(const mjgpStep* s) {
  const mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  if (s->rows || s->gaps || s->rough || group->nextra || g->in.settings.solver != mjgNEWTON ||
      g->in.settings.want_sigma_max) {
    return 0;
  }
  for (int i = 0; i < s->n; i++) {
    if (g->config->own[group->joint[i]] < 0) {
      return 0;
    }
  }
  return mjgp_haveOneSolution(g, group->joint, s->n);
}


// dof of joint i in the group
static int dofOf(const mjgpGroup* group, int i) {
  return group->E_dof[group->E_adr[i]];
}


// in H x = right: x_k is known
static void hold(mjgpGroup* group, mjtNum* right, int k, mjtNum x) {
  for (int i = 0; i < k; i++) {
    if (group->last[i] >= k) {
      mjtNum* entry = group->U + group->U_adr[i] + k;
      right[i] -= *entry * x;
      *entry = 0;
    }
  }
  mjtNum* row = group->U + group->U_adr[k];
  for (int j = k + 1; j <= group->last[k]; j++) {
    right[j] -= row[j] * x;
    row[j] = 0;
  }
  row[k] = 1;
  right[k] = x;
}


// Hessian and right side of a step from s->a, with the friction of each joint's piece; right: minus the gradient without
static void addPieces(mjgpStep* s, mjtNum* right) {
  const mjgpGears* g = s->g;
  const mjgpInput* in = &g->in;
  mjgpGroup* group = s->group;
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i], k = dofOf(group, i);
    if (g->out.mode[joint]) {
      mjtNum constant, slope = mjgp_pieceLine(&constant, g, joint);
      group->U[group->U_adr[k] + (size_t)k] -= slope * in->inertia[joint];
      right[k] -= slope * (in->tau[joint] - in->inertia[joint] * s->a[k]) + constant;
    }
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i], k = dofOf(group, i);
    if (!g->out.mode[joint]) {
      hold(group, right, k, -in->v[joint] / s->m->opt.timestep - s->a[k]);
    }
  }
}


// compare the guess with what came out, and correct it; balance: the torque that is left for friction. Returns the number
// of joints that go on to another piece
static int check(mjgpStep* s, const mjtNum* balance) {
  mjgpGears* g = s->g;
  const mjgpInput* in = &g->in;
  const mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep, largest = 0;
  int changes = 0;
  for (int i = 0; i < s->n; i++) {
    largest = mju_max(largest, mju_abs(group->force[dofOf(group, i)]));
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i], k = dofOf(group, i), mode = g->out.mode[joint];
    mjtNum u = in->tau[joint] - in->inertia[joint] * s->a[k], t = balance[k];
    mjtNum lambda = mjgi_lawLoad(in->gamma_u[joint], in->gamma_v[joint], u, t);
    mjtNum bound = mjgi_lawBound(lambda, in->coulomb[joint], 1), v = in->v[joint] + h * s->a[k];
    g->out.t[joint] = mode ? mode * bound : t;
    g->out.u[joint] = u;
    g->out.lambda[joint] = lambda;
    g->out.v_next[joint] = mode ? v : 0;
    int piece = mjgi_piece(mode, g->out.load[joint] > 0);
    int next = mjgi_lawNext(piece, t, v, lambda, in->coulomb[joint], 1, 1);
    int turned = mode && mjgi_pieceDirection(next) == mode;

    // a load that is nothing but rounding may have either sign
    if (next != piece && !(turned && mju_abs(lambda) <= mjgpROUNDED * (mju_abs(u) + largest))) {
      changes++;
      g->out.mode[joint] = mjgi_pieceDirection(next);
      g->out.load[joint] = next == mjgiSTUCK ? g->out.load[joint] : mjgi_pieceLoad(next);
    }
  }
  return changes;
}


// results that are not of one joint
static void finish(mjgpStep* s, int tries) {
  mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  g->count.guessed++;
  g->out.last_info =
      (mjgInfo){.status = mjgSOLVED, .iterations = tries, .factorizations = tries, .sigma_max = -1};

  // rounding errors are relative to the largest acceleration that forces of the group cause alone
  mjtNum most = 0;
  for (int k = 0; k < group->nv; k++) {
    mjtNum M = group->M[group->M_adr[k]], own = M * s->a[k];
    mjtNum constraint = own - group->force[k] + s->gradient[k];
    mjtNum size = mju_abs(group->force[k]) + mju_abs(own) + mju_abs(constraint);
    most = mju_max(most, size * mju_max(group->inverse[k] * group->inverse[k], 1 / M));
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    g->out.cancellation[joint] = mju_abs(g->in.v[joint]) + s->m->opt.timestep * most;
    g->out.P[joint] = 0;
  }
}


int mjgp_solveGuess(mjgpStep* s) {
  mjgpGroup* group = s->group;
  int nv = group->nv, changes = 0;
  if (!isEligible(s)) {
    return 0;
  }
  mjgp_gradient(group, s->gradient, NULL, s->a, NULL);
  mju_scl(s->gradient, s->gradient, -1, nv);
  for (int tries = 1; tries <= mjgpTRIES; tries++) {
    s->newton_steps++;
    mjgp_assemble(group);
    addPieces(s, s->gradient);
    if (!mjgp_eliminate(group)) {
      return 0;
    }
    mjgp_solveLower(group, s->gradient);
    mjgp_solveUpper(group, s->gradient);
    mju_addTo(s->a, s->gradient, nv);
    memcpy(s->state, group->state, sizeof(int) * (size_t)group->nefc);
    mjgp_evaluate(s);
    mjgp_gradient(group, s->gradient, NULL, s->a, NULL);
    mju_scl(s->gradient, s->gradient, -1, nv);
    int before = changes, cones = 0;
    changes = check(s, s->gradient);
    for (int i = 0; i < group->nefc; i++) {
      changes += s->state[i] != group->state[i];
      cones |= group->state[i] == mjCNSTRSTATE_CONE;
    }
    if (!changes && !cones) {
      finish(s, tries);
      return 1;
    }

    // contacts that slide are not linear, and many changes are for the general way, which goes on from here
    if (cones || (tries > 1 && changes > mjgpFEW && 2 * changes > before)) {
      return 0;
    }
  }
  return 0;
}

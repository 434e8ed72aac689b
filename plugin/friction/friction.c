#include "friction/friction.h"

#include <math.h>


void mjgp_makeLaw(mjgpGears* g, const mjData* d) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    const mjgTransmission* gear = &g->in.joint[i]->gear;

    // where friction depends on the load beyond the law, the load is that of a steady motion with the
    // friction of the last step
    mjtNum last = d->plugin_state[g->config->state[i]];
    mjg_frictionAt(g->in.gamma_u + i, g->in.gamma_v + i, g->in.coulomb + i, gear, g->in.q[i],
                   g->in.v[i], g->in.tau[i], g->in.tau[i] - last);
    g->in.static_ratio[i] = gear->static_ratio;
  }
}


//---------------------------------- gaps between two joints ---------------------------------------

// The problem has a row per joint. The row of a load is that of its motor minus its own, so that the
// torque of the shaft acts on the motor and drives the load. If the motor is not among the rows, its
// velocity is held; if the load is not, the torque of its shaft.

// the motor's row among n joints, or -1
static int motorRow(const mjgpGears* g, const int* joint, int n, int a) {
  for (int b = 0; b < n; b++) {
    if (joint[b] == g->config->joint[joint[a]].partner) {
      return b;
    }
  }
  return -1;
}


// change of rows and columns of one block; start: its first joint
static void subtractLoads(const mjgpGears* g, const int* joint, int n, mjtNum* A, mjtNum* v,
                          mjtNum* phi, mjtNum* t, const mjtNum* alpha) {
  for (int a = 0; a < n; a++) {
    const mjgpJoint* self = g->config->joint + joint[a];
    if (self->gap == mjgpGAP_MOTOR && motorRow(g, joint, n, a) < 0) {
      mjtNum T = -g->out.t[self->partner];
      v[a] -= A[a * n + a] * T;
      phi[a] += alpha[a] * A[a * n + a] * T;
      t[a] -= T;
    }
    if (self->gap != mjgpGAP_LOAD) {
      continue;
    }
    int b = motorRow(g, joint, n, a);
    t[a] = -t[a];
    if (b < 0) {
      v[a] = g->out.v_next[self->partner] - v[a];
      continue;
    }
    v[a] = v[b] - v[a];
    t[b] -= t[a];
    for (int k = 0; k < n; k++) {
      A[a * n + k] = A[b * n + k] - A[a * n + k];
    }
    for (int k = 0; k < n; k++) {
      A[k * n + a] = A[k * n + b] - A[k * n + a];
    }
  }
}


// back to joints: torques and velocities
static void addLoads(const mjgpGears* g, const int* joint, int n, mjtNum* v_next, mjtNum* t) {
  for (int a = 0; a < n; a++) {
    const mjgpJoint* self = g->config->joint + joint[a];
    int b = self->gap == mjgpGAP_LOAD || self->gap == mjgpGAP_MOTOR ? motorRow(g, joint, n, a) : -1;
    if (self->gap == mjgpGAP_MOTOR && b < 0) {
      t[a] -= g->out.t[self->partner];
    }
    if (self->gap == mjgpGAP_LOAD) {
      v_next[a] = (b < 0 ? g->out.v_next[self->partner] : v_next[b]) - v_next[a];
      if (b >= 0) {
        t[b] += t[a];
      }
      t[a] = -t[a];
    }
  }
}


int mjgp_solveFriction(mjgpGears* g, const mjModel* m, mjData* d, mjgpProblem* problem) {
  int n = problem->n;
  mjtNum h = m->opt.timestep;
  mj_markStack(d);
  mjtNum* number = mj_stackAllocNum(d, (size_t)(10 * n));
  mjtNum *v = number, *phi = v + n, *alpha = phi + n, *beta = alpha + n, *t = beta + n;
  mjtNum *v_next = t + n, *lambda = v_next + n, *v0 = lambda + n, *coulomb = v0 + n;
  mjtNum* static_ratio = coulomb + n;
  int* mode = mj_stackAllocInt(d, (size_t)n);
  const mjgCoupling** coupling =
      mj_stackAllocByte(d, sizeof(mjgCoupling*) * (size_t)n, _Alignof(mjgCoupling*));
  int gaps = 0;

  // velocity and internal force without friction, scale of rounding errors
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    mjtNum gamma = g->in.gamma_u[i] + g->in.gamma_v[i];
    v[a] = g->in.v[i] + h * problem->a[a];
    phi[a] = gamma * (g->in.tau[i] - g->in.inertia[i] * problem->a[a]);
    alpha[a] = gamma * g->in.inertia[i] / h;
    beta[a] = g->in.gamma_v[i];
    coulomb[a] = g->in.coulomb[i];
    static_ratio[a] = g->in.static_ratio[i];
    v0[a] = g->in.v[i];
    t[a] = g->out.t[i];
    mode[a] = g->out.mode[i];
    int gap = g->config->joint[i].gap;
    coupling[a] = gap == mjgpGAP_ROTOR || gap == mjgpGAP_LOAD ? g->in.coupling + i : NULL;
    gaps |= gap != mjgpGAP_NONE;
    g->out.scale[i] = mju_abs(g->in.v[i]) + h * problem->size[a];
  }

  // A = h W
  int start = 0, first = 0;
  for (int b = 0, size = 0; b < problem->nblock; b++) {
    size = problem->block[b];
    mju_scl(problem->W + start, problem->W + start, h, size * size);
    if (gaps) {
      subtractLoads(g, problem->joint + first, size, problem->W + start, v + first, phi + first,
                    t + first, alpha + first);
    }
    first += size;
    start += size * size;
  }

  // solve
  mjgProblem core = {.n = n,
                     .nblock = problem->nblock,
                     .block = problem->block,
                     .v = v,
                     .A = problem->W,
                     .phi = phi,
                     .alpha = alpha,
                     .beta = beta,
                     .coulomb = coulomb,
                     .static_ratio = static_ratio,
                     .v0 = v0,
                     .coupling = gaps ? coupling : NULL};
  mjgSolution solution = {.t = t, .v = v_next, .lambda = lambda, .mode = mode};
  int status = mjg_solve(&solution, &g->out.last_info, &core, &g->in.settings, g->scratch.work);

  // no finite input: no friction, the engine reports the bad state itself
  if (status < 0) {
    g->out.last_info.status = status;
    for (int a = 0; a < n; a++) {
      t[a] = lambda[a] = 0;
      v_next[a] = v[a];
      mode[a] = (v[a] > 0) - (v[a] < 0);
    }
  }

  // what the gaps did
  start = first = 0;
  for (int b = 0; gaps && b < problem->nblock; b++) {
    int size = problem->block[b];
    for (int k = 0; k < size; k++) {
      int a = first + k;
      if (coupling[a]) {
        mjtNum A = problem->W[start + k * size + k];
        mjg_couplingResolve(g->out.gap + problem->joint[a], coupling[a], v_next[a] + A * t[a], A);
      }
    }
    addLoads(g, problem->joint + first, size, v_next + first, t + first);
    first += size;
    start += size * size;
  }

  // joints that their own load holds, for who draws them; a load that grows with friction less than
  // friction itself holds none
  int *jammed = mj_stackAllocInt(d, (size_t)n), locks = 0;
  start = first = 0;
  for (int b = 0; b < problem->nblock; b++) {
    int size = problem->block[b];
    for (int k = 0; k < size; k++) {
      int a = first + k;
      mjtNum p = alpha[a] * problem->W[start + k * (size + 1)] - beta[a];
      locks |= mode[a] == 0 && static_ratio[a] * mju_abs(p) >= 1;
      jammed[a] = 0;
    }
    first += size;
    start += size * size;
  }
  if (locks && status >= 0 && !gaps) {
    mjg_jammed(jammed, &core, &solution);
  }

  // results
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    g->out.jammed[i] = jammed[a];
    g->out.t[i] = t[a];
    g->out.v_next[i] = v_next[a];
    g->out.lambda[i] = lambda[a];
    g->out.mode[i] = mode[a];
  }

  mj_freeStack(d);
  return status;
}


void mjgp_countFriction(mjgpGears* g, const mjData* d, int status) {
  // what is reported of a step is the worst of its problems
  const mjgInfo* last = &g->out.last_info;
  g->out.info.iterations = mjMAX(g->out.info.iterations, last->iterations);
  g->out.info.factorizations += last->factorizations;
  g->out.info.fallbacks += last->fallbacks;
  g->out.info.residual = mju_max(g->out.info.residual, last->residual);
  if (status < 0 || (g->out.info.status >= 0 && status > g->out.info.status)) {
    g->out.info.status = status;
  }

  g->count.steps++;
  g->count.solved += status == mjgSOLVED;
  g->count.ill_posed += status == mjgJAMMED;
  g->count.iterations += last->iterations;
  g->count.fallbacks += last->fallbacks;
  g->count.unsolved += status < mjgSOLVED || status > mjgJAMMED;
  if (status == mjgITERATION_LIMIT || status == mjgNO_SOLUTION) {
    mjgp_warn(g, mjgpWARN_UNSOLVED,
              "at time %g: %s (relative residual %g). Further occurrences are "
              "counted, not reported",
              d->time, mjg_statusString(status), last->residual);
  }
}

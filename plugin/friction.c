#include "friction.h"

#include <math.h>


void mjgp_makeLaw(mjgpGears* g, const mjData* d) {
  for (int a = 0; a < g->nactive; a++) {
    int i = g->active[a];
    const mjgTransmission* gear = &g->joint[i].gear;

    // where friction depends on the load beyond the law, the load is that of a steady motion with the
    // friction of the last step
    mjtNum last = d->plugin_state[g->state[i]];
    mjg_frictionAt(g->gamma_u + i, g->gamma_v + i, g->coulomb + i, gear, g->q[i], g->v[i],
                   g->tau[i], g->tau[i] - last);
    g->static_ratio[i] = gear->static_ratio;
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

  // velocity and internal force without friction, scale of rounding errors
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    mjtNum gamma = g->gamma_u[i] + g->gamma_v[i];
    v[a] = g->v[i] + h * problem->a[a];
    phi[a] = gamma * (g->tau[i] - g->inertia[i] * problem->a[a]);
    alpha[a] = gamma * g->inertia[i] / h;
    beta[a] = g->gamma_v[i];
    coulomb[a] = g->coulomb[i];
    static_ratio[a] = g->static_ratio[i];
    v0[a] = g->v[i];
    t[a] = g->t[i];
    mode[a] = g->mode[i];
    g->scale[i] = mju_abs(g->v[i]) + h * problem->size[a];
  }

  // A = h W
  int start = 0;
  for (int b = 0, size = 0; b < problem->nblock; b++) {
    size = problem->block[b];
    mju_scl(problem->W + start, problem->W + start, h, size * size);
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
                     .v0 = v0};
  mjgSolution solution = {.t = t, .v = v_next, .lambda = lambda, .mode = mode};
  int status = mjg_solve(&solution, &g->last_info, &core, &g->options.solver, g->work);

  // no finite input: no friction, the engine reports the bad state itself
  if (status < 0) {
    g->last_info.status = status;
    for (int a = 0; a < n; a++) {
      t[a] = lambda[a] = 0;
      v_next[a] = v[a];
      mode[a] = (v[a] > 0) - (v[a] < 0);
    }
  }

  // results
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    g->t[i] = t[a];
    g->v_next[i] = v_next[a];
    g->lambda[i] = lambda[a];
    g->mode[i] = mode[a];
  }

  mj_freeStack(d);
  return status;
}


void mjgp_countFriction(mjgpGears* g, const mjData* d, int status) {
  // what is reported of a step is the worst of its problems
  const mjgInfo* last = &g->last_info;
  g->info.iterations = mjMAX(g->info.iterations, last->iterations);
  g->info.factorizations += last->factorizations;
  g->info.fallbacks += last->fallbacks;
  g->info.residual = mju_max(g->info.residual, last->residual);
  if (status < 0 || (g->info.status >= 0 && status > g->info.status)) {
    g->info.status = status;
  }

  g->count.steps++;
  g->count.iterations += last->iterations;
  g->count.fallbacks += last->fallbacks;
  if (status == mjgITERATION_LIMIT || status == mjgNO_SOLUTION) {
    g->count.unsolved++;
    mjgp_warn(g, mjgpWARN_UNSOLVED,
              "at time %g: %s (relative residual %g). Further occurrences are "
              "counted, not reported",
              d->time, mjg_statusString(status), last->residual);
  }
}

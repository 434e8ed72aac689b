#include "coupled/anticipate.h"

#include <math.h>

#include "friction/friction.h"

#define mjgpTRIALS  40     // runs of the engine's solver
#define mjgpSETTLED 1e-12  // change of friction, relative, that counts as none


void mjgp_anticipate(mjgpGears* g, const mjModel* m, mjData* d, const mjgpMetric* metric,
                     const mjtNum* effect, const int* joint, int n) {
  mj_markStack(d);
  int nv = (int)m->nv;
  mjtNum* z = mj_stackAllocNum(d, (size_t)nv);
  mjtNum* number = mj_stackAllocNum(d, 4 * (size_t)n + (size_t)n * (size_t)n);
  mjtNum *a = number, *size = a + n, *t = size + n, *best = t + n, *W = best + n;
  mjtNum least = INFINITY, last = INFINITY, share = 1;
  for (int trial = 0; trial < mjgpTRIALS; trial++) {
    // the engine's motion with this friction
    for (int k = 0; k < n; k++) {
      t[k] = g->out.t[joint[k]];
      d->qfrc_passive[g->config->joint[joint[k]].dof] = g->in.base[joint[k]] - t[k];
    }
    mj_fwdAcceleration(m, d);
    mj_fwdConstraint(m, d);
    mju_add(z, d->qfrc_smooth, d->qfrc_constraint, nv);
    mjgp_backward(z, z, m, metric, g);

    // without friction it would be
    for (int k = 0; k < n; k++) {
      a[k] = mjgp_forward(size + k, z, m, metric, g, joint[k]);
      for (int j = 0; j < n; j++) {
        W[k * n + j] = effect[joint[k] * g->config->n + joint[j]];
        a[k] += W[k * n + j] * t[j];
        size[k] += mju_abs(W[k * n + j] * t[j]);
      }
    }
    mjgpProblem problem = {.n = n, .joint = joint, .W = W, .a = a, .size = size};
    int status = mjgp_solveFriction(g, m, d, &problem);

    // has it settled
    mjtNum change = 0, most = 0;
    for (int k = 0; k < n; k++) {
      mjtNum weight = effect[joint[k] * g->config->n + joint[k]];
      change = mju_max(change, mju_abs(g->out.t[joint[k]] - t[k]) * weight);
      most = mju_max(most, size[k]);
    }
    if (change < least) {
      least = change;
      mju_copy(best, t, n);
    }
    if (status < 0 || change <= mjgpSETTLED * most) {
      break;
    }

    // noslip friction answers more or less stiffly than what the correction assumes: go part of the way
    share = change > 0.7 * last ? mju_max(0.05, 0.5 * share) : mju_min(1, 1.1 * share);
    last = change;
    int end = trial == mjgpTRIALS - 1;
    for (int k = 0; k < n; k++) {
      mjtNum wish = g->out.t[joint[k]];
      g->out.t[joint[k]] = end ? best[k] : t[k] + share * (wish - t[k]);
    }
  }
  mj_freeStack(d);
}

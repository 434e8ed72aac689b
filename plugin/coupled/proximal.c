#include "coupled/proximal.h"

#include <math.h>

#include "coupled/fallback.h"
#include "coupled/line_search.h"
#include "coupled/natural_map.h"
#include "solvers/dense.h"

// of the acceleration that a joint's friction takes: c
#define mjgpSHORT 1e-2

// rounds, Newton steps of each, and trials of a line search
#define mjgpROUNDS 30
#define mjgpNEWTON 40
#define mjgpTRIALS 40

// change of friction at which rounds end, relative: the natural map takes over
#define mjgpNEAR 1e-6

// of the slope at the start: the line search ends
#define mjgpFLAT 1e-3

// of a Newton step to the acceleration: it does not move
#define mjgpSTILL 1e-13

typedef struct mjgpProximal_ {
  mjgpStep* s;
  mjtNum* c;       // acceleration that falls where the shaft's torque grows by 1  (n)
  mjtNum* center;  // torques of shafts of the round before                        (n)
  mjtNum* torque;  // torques of shafts                                            (n)
  mjtNum* asked;   // friction with which joints feel them                         (n)
  mjtNum* slope;   // derivative by acceleration                                   (n)
  mjtNum* from;    // acceleration before a step                                   (nv)
  mjtNum* step;    //                                                              (nv)
  mjtNum* acc;     // of the joints by a step                                      (ld)
  mjtNum* K;       // equations of the joints                                      (n x n)
  mjtNum* x;       // their solution                                               (n)
  int* pivot;      // scratch                                                      (n)
} mjgpProximal;


// gradient at s->a, with what the shafts ask for there
static void evaluate(mjgpProximal* p) {
  mjgpStep* s = p->s;
  mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  mjgp_evaluate(s);
  mjgp_accelerations(s);
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjgCouplingStep* shaft = g->out.gap + joint;
    mjtNum v = g->in.v[joint] + h * s->acc[i], A = h * p->c[i];
    mjg_couplingResolve(shaft, g->in.coupling + joint, v + A * p->center[i], A);
    p->torque[i] = -shaft->T;
    p->asked[i] = -shaft->T - mjgp_takenTorque(s, i);
    p->slope[i] = -h * shaft->dT - g->in.implicit[joint];
  }
  mjgp_gradient(s->group, s->gradient, NULL, s->a, p->asked);
}


// Newton step from there: (H + E' D rows) step = - gradient, with D the derivatives of what shafts ask for by the rows
// that give the acceleration of the joints and the torques of rotor inertia, by Woodbury
static int newtonStep(mjgpProximal* p) {
  mjgpStep* s = p->s;
  const int* extra = s->group->extra;
  int n = s->n, nv = s->group->nv, ld = mjgi_simdEnd(n);
  if (!mjgp_linearize(s)) {
    return 0;
  }
  mju_scl(p->step, s->gradient, -1, nv);
  mjgp_solveHessian(s, p->step);
  mjgp_accelerationsOf(s, p->acc, p->step);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      mjtNum other = extra[i] >= 0 ? mjgp_delassus(s, n + extra[i], j) : 0;
      p->K[i * ld + j] = (i == j) + p->slope[i] * mjgp_delassus(s, i, j) - other;
    }
    p->x[i] = p->slope[i] * p->acc[i] - (extra[i] >= 0 ? p->acc[n + extra[i]] : 0);
  }
  if (!mjgi_lu(p->K, p->x, p->pivot, n)) {
    return 0;
  }
  mju_copy(p->step, s->gradient, nv);
  mjgp_addGears(s->group, p->step, p->x);
  mju_scl(p->step, p->step, -1, nv);
  mjgp_solveHessian(s, p->step);
  return 1;
}


// along the step to where the gradient has no part of it, by regula falsi and bisection; 0 if nothing moves
static int searchLine(mjgpProximal* p) {
  mjgpStep* s = p->s;
  int nv = s->group->nv;
  mju_copy(p->from, s->a, nv);
  mjtNum begin = mju_dot(p->step, s->gradient, nv), share = 1;
  mjgpBracket b = {.high = INFINITY, .at_low = begin};
  if (!(begin < 0) || mju_norm(p->step, nv) <= mjgpSTILL * mju_norm(p->from, nv)) {
    return 0;
  }
  for (int k = 0; k < mjgpTRIALS; k++) {
    mju_addScl(s->a, p->from, p->step, share, nv);
    evaluate(p);
    mjtNum now = mju_dot(p->step, s->gradient, nv);
    if (mju_abs(now) <= -mjgpFLAT * begin) {
      return 1;
    }
    mjgp_narrow(&b, share, now);
    share = b.high < INFINITY ? b.low - b.at_low * (b.high - b.low) / (b.at_high - b.at_low)
                              : 2 * share;
    if (!(share > b.low && share < b.high)) {
      share = 0.5 * (b.low + b.high);
    }
  }
  return 1;
}


// minimum with the center that is there
static int minimize(mjgpProximal* p) {
  evaluate(p);
  for (int k = 0; k < mjgpNEWTON; k++) {
    if (!newtonStep(p)) {
      return 0;
    }
    if (!searchLine(p)) {
      break;
    }
  }
  return 1;
}


static int isCovered(const mjgpStep* s) {
  for (int i = 0; i < s->n; i++) {
    if (s->g->config->joint[s->group->joint[i]].gap != mjgpGAP_ROTOR) {
      return 0;
    }
  }
  return !s->engine;
}


int mjgp_proximal(mjgpStep* s) {
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(s->group->nv), ld = (size_t)s->group->ld;
  if (!isCovered(s)) {
    return 0;
  }
  mj_markStack(s->d);
  size_t wide = (size_t)mjgi_simdEnd(s->n);
  mjtNum* number = mj_stackAllocNum(s->d, 2 * nv + ld + 5 * n + wide + n * wide);
  mjgpProximal path = {.s = s}, *p = &path;
  p->from = number;
  p->step = p->from + nv;
  p->acc = p->step + nv;
  p->c = p->acc + ld;
  p->center = p->c + n;
  p->asked = p->center + n;
  p->torque = p->asked + n;
  p->slope = p->torque + n;
  p->x = p->slope + n;
  p->K = p->x + wide;
  p->pivot = mj_stackAllocInt(s->d, n);
  mju_zero(number, (int)(2 * nv + ld + 5 * n + wide + n * wide));
  mju_zero(s->shift, s->n);
  mjgp_evaluate(s);
  mjgp_accelerations(s);
  int going = mjgp_linearize(s);
  for (int i = 0; i < s->n; i++) {
    p->c[i] = mjgpSHORT * mjgp_stepSize(s, i);
    p->center[i] = s->t[i] + mjgp_takenTorque(s, i);
  }
  for (int k = 0; k < mjgpROUNDS && going; k++) {
    going = minimize(p);
    mjtNum change = 0, size = mjMINVAL;
    for (int i = 0; i < s->n; i++) {
      mjtNum root = mju_sqrt(p->c[i]);
      change = mju_max(change, root * mju_abs(p->torque[i] - p->center[i]));
      size = mju_max(size, root * mju_abs(p->torque[i]));
    }
    mju_copy(p->center, p->torque, s->n);
    if (change <= mjgpNEAR * size) {
      break;
    }
  }
  mju_copy(s->t, p->asked, s->n);
  mj_freeStack(s->d);
  return going && mjgp_polish(s);
}

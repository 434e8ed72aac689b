#include "coupled/answer.h"

#include <math.h>

#include "coupled/fallback.h"
#include "coupled/natural_map.h"
#include "friction/tolerances.h"


// part of the way to the friction that the law asks for, again and again: slow, and of use where answers of the
// engine's solver jump, which is no way for Newton
static int relax(mjgpStep* s) {
  int n = s->n, solved = 0;
  mj_markStack(s->d);
  mjgpMap map;
  mjtNum *t = mj_stackAllocNum(s->d, 2 * (size_t)n), *z = t + n, last = INFINITY, share = 1;
  mju_copy(t, s->t, n);
  int going = mjgp_makeMap(&map, s);
  s->fixed = 1;
  for (int k = 0; k < mjgpRELAXED && going && !solved; k++) {
    for (int i = 0; i < n; i++) {
      z[i] = t[i] / map.unit[i];
    }
    going = mjgp_evaluateMap(&map, z);
    solved = going && mju_dot(map.F, map.F, n) <= mjgpROOT * mjgpROOT;
    if (solved || !going || mjgp_solveLinear(s) < 0) {
      break;
    }
    mjtNum change = 0;
    for (int i = 0; i < n; i++) {
      change = mju_max(change, mju_abs(s->target[i] - t[i]) / map.unit[i]);
    }
    share = change > mjgpFASTER * last ? mju_max(mjgpSLOWEST, 0.5 * share)
                                       : mju_min(1, mjgpGROW * share);
    last = change;
    for (int i = 0; i < n; i++) {
      t[i] += share * (s->target[i] - t[i]);
    }
  }
  if (solved) {
    mjgp_acceptMap(&map);
  }
  s->fixed = 0;
  mj_freeStack(s->d);
  return solved;
}


// does the engine move the joints as they were solved for
static int isConfirmed(mjgpStep* s) {
  const mjgpGears* g = s->g;
  int confirmed = 1;
  mjgp_accelerations(s);
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjtNum v = g->in.v[joint] + s->m->opt.timestep * s->acc[i];
    confirmed &= mju_abs(v - g->out.v_next[joint]) <= mjgpSAME * g->out.cancellation[joint] +
                                                          mjgpEVALUATIONS * g->out.rounding[joint] +
                                                          mjgpSTILL;
  }
  return confirmed;
}


void mjgp_answerEngine(mjgpStep* s, const mjgInfo* exact, int* worst) {
  mjgpGears* g = s->g;
  mj_markStack(s->d);
  mjtNum* start = mj_stackAllocNum(s->d, (size_t)s->n);
  for (int i = 0; i < s->n; i++) {
    s->t[i] = start[i] = g->out.t[s->group->joint[i]];
  }
  if (!mjgp_linearize(s)) {
    mj_freeStack(s->d);
    return;
  }
  s->engine = 1;
  if (mjgp_inner(s, s->t) && isConfirmed(s)) {
    g->count.by[mjgpANSWER_SAME]++;
    g->out.last_info = *exact;
    mj_freeStack(s->d);
    return;
  }
  int solved = mjgp_damped(s), method = mjgpANSWER_DAMPED;
  g->out.last_info = (mjgInfo){.status = mjgSOLVED, .sigma_max = -1};
  if (!solved) {
    s->engine = s->responses = 0;
    for (int i = 0; i < s->n; i++) {
      s->t[i] = start[i];
    }
    solved = mjgp_inner(s, s->t) && mjgp_linearize(s);
    s->engine = 1;
    solved = solved && relax(s);
    method = mjgpANSWER_RELAXED;
  }
  mjgp_accelerations(s);
  mjtNum error = solved ? mjgp_lawError(s, worst) : 1;
  g->count.fallbacks++;
  g->out.info.fallbacks++;
  if (!(error <= mjgpLAW)) {
    s->responses = 0;
    mjgp_giveUp(s);
    error = mjgp_lawError(s, worst);
    g->out.last_info.status = mjgITERATION_LIMIT;
    method = mjgpANSWER_NONE;
  }
  g->count.by[method]++;
  g->out.last_info.residual = error;
  mj_freeStack(s->d);
}

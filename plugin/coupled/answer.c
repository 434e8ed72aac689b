#include "coupled/answer.h"

#include <math.h>

#include "coupled/fallback.h"
#include "coupled/law_error.h"
#include "coupled/newton.h"
#include "friction/tolerances.h"

typedef struct mjgpAnswer_ {
  mjgpStep* s;     // t: friction that the engine was asked
  mjgpNewton p;    // t: what the gears answer to its answer
  mjtNum* unit;    // of friction: stops what moves in a step without friction          (n)
  mjtNum* acc;     // accelerations with p.t, as far as they are linear in it           (ld)
  mjtNum fastest;  // acceleration to which rounding errors are relative
} mjgpAnswer;


static void allocate(mjgpAnswer* answer, mjgpStep* s) {
  size_t ld = (size_t)s->group->ld;
  answer->s = s;
  answer->unit = mj_stackAllocNum(s->d, (size_t)s->n + ld);
  answer->acc = answer->unit + s->n;
  mjgp_makeNewton(&answer->p, s);
}


// units of friction, at a linearization
static void setUnits(mjgpAnswer* answer) {
  mjgpStep* s = answer->s;
  mjtNum most = 0, h = s->m->opt.timestep;
  mjgp_freeAcceleration(s, answer->acc, answer->p.acc);
  for (int i = 0; i < s->n; i++) {
    mjtNum free = s->g->in.v[s->group->joint[i]] / h + answer->acc[i];
    most += free * free / mjgp_stepSize(s, i);
    answer->fastest = mju_max(answer->fastest, answer->p.acc[i]);
  }
  most = most > 0 ? mju_sqrt(most) : mjMINVAL;
  for (int i = 0; i < s->n; i++) {
    answer->unit[i] = most / mju_sqrt(mjgp_stepSize(s, i));
  }
}


// What the gears answer in turn to the answer of the engine, if it is linear in friction,
// as far as turns come closer; returns the largest change
static mjtNum respond(mjgpAnswer* answer) {
  mjgpStep* s = answer->s;
  mjgpNewton* p = &answer->p;
  mjtNum change = mjgpFAR, least = mjgpFAR, *before = s->target;
  mju_copy(p->t, s->t, s->n);
  mju_copy(answer->acc, s->acc, s->group->ld);
  for (int k = 0; k < mjgpTURNS && change > mjgpROUNDED && change <= 2 * least; k++) {
    least = k < mjgpMILD ? mjgpFAR : mju_min(least, change);
    mju_copy(before, p->t, s->n);
    mjgp_takeTurns(p, answer->acc);
    change = 0;
    for (int i = 0; i < s->n; i++) {
      change = mju_max(change, mju_abs(p->t[i] - before[i]) / answer->unit[i]);
    }
  }
  change = 0;
  for (int i = 0; i < s->n; i++) {
    change = mju_max(change, mju_abs(p->t[i] - s->t[i]) / answer->unit[i]);
  }
  return change;
}


// Part of the way to what the gears answer, again and again; less of it where that does
// not come closer
static int relax(mjgpAnswer* answer) {
  mjgpStep* s = answer->s;
  mjtNum last = INFINITY, share = 1;
  for (int k = 0; k < mjgpRELAXED && mjgp_inner(s, s->t); k++) {
    mjtNum change = respond(answer);
    if (!(change < mjgpFAR)) {
      return 0;
    }
    if (change <= mjgpROOT && !mjgp_releasePieces(&answer->p)) {
      return 1;
    }
    share = change > mjgpFASTER * last ? mju_max(mjgpSLOWEST, 0.5 * share)
                                       : mju_min(1, mjgpGROW * share);
    last = change;
    for (int i = 0; i < s->n; i++) {
      s->t[i] += share / mju_max(1, change) * (answer->p.t[i] - s->t[i]);
    }
  }
  return 0;
}


// results of the friction that was asked for
static void store(mjgpAnswer* answer) {
  mjgpStep* s = answer->s;
  mjgpGears* g = s->g;
  mjgpResult* out = &g->out;
  mjtNum h = s->m->opt.timestep;
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i], mode = out->mode[joint];
    const mjgpPiece* piece = answer->p.piece + i;
    mjtNum v = g->in.v[joint] + h * s->acc[i], t = s->t[i];
    if (piece->shaft) {
      mjtNum own = piece->jumps ? t + mjgp_taken(s, s->acc, i) : piece->shaft->t;
      mjgp_storeShaft(g, joint, piece->shaft, own, answer->fastest);
      mode = 1;
    }
    out->u[joint] = mjgp_torqueIn(s, i);
    out->t[joint] = piece->shaft || mode * t >= 0 || !mode ? t : 0;  // rounding, of a bound of zero
    out->v_next[joint] = mode || g->in.compliance[joint] > 0 ? v : 0;
    if (!piece->shaft) {
      out->lambda[joint] =
          mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], out->u[joint], t);
    }

    // it has the errors of its iterations
    mjtNum size = h * mjgp_stepSize(s, i) * answer->unit[i];
    out->cancellation[joint] =
        mju_max(mju_abs(g->in.v[joint]) + h * answer->fastest, mju_max(mju_abs(v), size));
  }
  out->last_info = (mjgInfo){.status = mjgSOLVED, .sigma_max = -1};
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
  int solved = 0;
  mj_markStack(s->d);
  mjgpAnswer answer = {0};
  mjtNum* start = mj_stackAllocNum(s->d, (size_t)s->n);
  for (int i = 0; i < s->n; i++) {
    s->t[i] = start[i] = g->out.t[s->group->joint[i]];
  }
  if (!mjgp_linearize(s)) {
    mj_freeStack(s->d);
    return;
  }
  allocate(&answer, s);
  setUnits(&answer);
  s->engine = 1;
  if (mjgp_inner(s, s->t) && isConfirmed(s)) {
    g->count.by[mjgpANSWER_SAME]++;
    g->out.last_info = *exact;
    mj_freeStack(s->d);
    return;
  }
  for (s->fixed = 0; s->fixed < 2 && !solved; s->fixed++) {
    s->responses = 0;
    mju_copy(s->t, start, s->n);
    s->engine = 0;
    int made = !s->fixed || mjgp_inner(s, s->t);  // W was corrected by answers
    s->engine = 1;
    solved = made && relax(&answer);
  }
  mjtNum error = 1;
  int method = mjgpANSWER_RELAXED;
  if (solved) {
    store(&answer);
    error = mjgp_lawError(s, worst);
  }
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

#include "coupled/rescue.h"

#include <float.h>
#include <math.h>

#include "coupled/path.h"
#include "friction/friction.h"

#define mjgpPOLISH 12     // steps to a solution that is near
#define mjgpDAMPED 30     // damped steps on friction
#define mjgpSWEEPS 200    // sweeps joint by joint
#define mjgpSAME   1e-11  // relative change of friction that counts as none


//---------------------------------- laws at the linearization --------------------------------------

// friction that joint i asks for while the others keep theirs, at the linearization of a(t)
static mjtNum resolve(mjgpStep* s, const mjtNum* t, int i) {
  int joint = s->group->joint[i], e = s->group->extra[i];
  int rotor = s->g->config->joint[joint].gap == mjgpGAP_ROTOR;

  // a gap looks at the joint on its other side
  for (int k = 0; k < s->n && s->gaps; k++) {
    int other = s->group->joint[k];
    s->g->out.t[other] = t[k];
    s->g->out.v_next[other] =
        s->g->in.v[other] + s->shift[k] + s->m->opt.timestep * mjgp_gearAcceleration(s, s->a, k);
  }
  mjtNum W = mjgp_effect(s, i, i), scale = s->g->out.scale[joint];
  mjtNum a = mjgp_gearAcceleration(s, s->a, i) + W * t[i] + s->shift[i] / s->m->opt.timestep;
  mjtNum size = mju_abs(a), u = mjgp_torqueIn(s, i), R = mjgp_effectTorque(s, i, i);
  if (rotor) {
    u = s->g->in.tau[joint] - u;
    u -= (s->g->in.inertia[joint] - s->g->in.implicit[joint]) * (a - W * t[i]);
    R -= (s->g->in.inertia[joint] - s->g->in.implicit[joint]) * W;
    u += R * t[i];
  } else {
    u -= R * t[i];
  }
  int general = rotor ? s->g->in.implicit[joint] != 0 || e >= 0 : e >= 0;
  mjgpProblem problem = {.n = 1,
                         .joint = &joint,
                         .W = &W,
                         .a = &a,
                         .size = &size,
                         .u = general ? &u : NULL,
                         .R = general ? &R : NULL};
  mjgp_solveFriction(s->g, s->m, s->d, &problem);
  s->g->out.scale[joint] = scale;
  return s->g->out.t[joint];
}


// distance of friction t from what all joints ask for at a(t), as acceleration, squared
static mjtNum distance(mjgpStep* s, const mjtNum* t) {
  mjtNum sum = 0;
  for (int i = 0; i < s->n; i++) {
    mjtNum error = (resolve(s, t, i) - t[i]) * mjgp_effect(s, i, i);
    sum += error * error;
  }
  return sum;
}


// velocity after the step of joint i at a(t)
static mjtNum jointVelocity(mjgpStep* s, int i) {
  return s->g->in.v[s->group->joint[i]] + s->shift[i] +
         s->m->opt.timestep * mjgp_gearAcceleration(s, s->a, i);
}


// by how much friction t_i in direction sign exceeds what the gear can give at a(t)
static mjtNum excess(mjgpStep* s, int i, mjtNum sign) {
  const mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  mjtNum u = mjgp_torqueIn(s, i);
  mjtNum lambda =
      (g->in.gamma_u[joint] + g->in.gamma_v[joint]) * u - g->in.gamma_v[joint] * s->t[i];
  mjtNum ratio = g->in.v[joint] * sign > 0 ? 1 : g->in.static_ratio[joint];
  return s->t[i] * sign - ratio * (mju_abs(lambda) + g->in.coulomb[joint]);
}


// results of joint i at a(t), which satisfies its law
static void accept(mjgpStep* s, int i) {
  mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  resolve(s, s->t, i);
  if (g->config->joint[joint].gap != mjgpGAP_NONE) {
    g->out.t[joint] = s->t[i];
    g->out.v_next[joint] = jointVelocity(s, i);
    return;
  }
  mjtNum u = mjgp_torqueIn(s, i);
  g->out.t[joint] = s->t[i];
  g->out.lambda[joint] =
      (g->in.gamma_u[joint] + g->in.gamma_v[joint]) * u - g->in.gamma_v[joint] * s->t[i];
  g->out.v_next[joint] = g->out.mode[joint] ? jointVelocity(s, i) : 0;
}


// equation of joint i for a change of friction, with the law's piece that the joint is on now: a row of K
// and its right side. The piece is what the joint would choose alone.
static mjtNum pieceRow(mjgpStep* s, mjtNum* K, int i) {
  const mjgpGears* g = s->g;
  int n = s->n, joint = s->group->joint[i];
  mjtNum wish = resolve(s, s->t, i);
  int mode = g->out.mode[joint], load = g->out.lambda[joint] >= 0 ? 1 : -1;
  for (int j = 0; j < n; j++) {
    K[j] = mjgp_effect(s, i, j);
  }

  // backlash: tangent of what the gap asks for; between two joints of the model the others stay
  if (g->config->joint[joint].gap != mjgpGAP_NONE) {
    int rotor = g->config->joint[joint].gap == mjgpGAP_ROTOR;
    mjtNum slope = rotor ? -g->out.gap[joint].dT * s->m->opt.timestep : 0;
    for (int j = 0; j < n; j++) {
      K[j] = j == i ? 1 : slope * K[j];
    }
    return wish - s->t[i];
  }

  // stuck: v+ = 0
  if (!mode) {
    return jointVelocity(s, i) / s->m->opt.timestep;
  }

  // slipping: t = sign (load lambda + c) with the ratio of a joint that starts
  mjtNum gamma_v = g->in.gamma_v[joint], gamma = g->in.gamma_u[joint] + gamma_v;
  mjtNum ratio = g->in.v[joint] * mode > 0 ? 1 : g->in.static_ratio[joint];
  mjtNum factor = mode * ratio * load;
  mjtNum u = mjgp_torqueIn(s, i);
  mjtNum lambda = gamma * u - gamma_v * s->t[i];
  for (int j = 0; j < n; j++) {
    K[j] = -factor * gamma * mjgp_effectTorque(s, i, j);
  }
  K[i] += 1 + factor * gamma_v;
  return factor * lambda + mode * ratio * g->in.coulomb[joint] - s->t[i];
}


// Newton on friction with each joint on the piece of its law that it is on: finds the solution that is
// near, also where the linearized problem has others. 1 if solved; friction is left where it was if not
int mjgp_polish(mjgpStep* s) {
  int n = s->n;
  mjtNum *K = s->work, *x = s->work + n * n, *keep = s->wish + n;
  mju_copy(keep, s->t, n);
  for (int k = 0; k < mjgpPOLISH; k++) {
    for (int i = 0; i < n; i++) {
      x[i] = pieceRow(s, K + i * n, i);
    }
    if (!mjgp_eliminate(K, x, n, 1)) {
      break;
    }
    mjtNum change = 0, most = 0;
    for (int i = 0; i < n; i++) {
      mjtNum weight = mjgp_effect(s, i, i);
      s->t[i] += x[i];
      change = mju_max(change, mju_abs(x[i]) * weight);
      most = mju_max(most, mju_abs(s->t[i]) * weight + s->g->out.scale[s->group->joint[i]]);
    }
    if (!mjgp_inner(s, s->t)) {
      break;
    }
    if (k && change <= mjgpSAME * most) {
      // where it stands now, friction is on the law
      int good = 1;
      for (int i = 0; i < n; i++) {
        mjtNum wish = resolve(s, s->t, i);
        good &= mju_abs(wish - s->t[i]) * mjgp_effect(s, i, i) <= 1e-9 * most;
      }
      for (int i = 0; i < n && good; i++) {
        accept(s, i);
      }
      if (good) {
        mjgp_addNoise(s);
        return 1;
      }
    }
  }
  mju_copy(s->t, keep, n);
  return 0;
}


// Newton on friction with steps that bring it closer to the law; 1 if solved
int mjgp_damped(mjgpStep* s) {
  int n = s->n;
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  mjtNum merit = distance(s, s->t);
  for (int k = 0; k < mjgpDAMPED; k++) {
    // a full step may settle at once
    if (mjgp_pass(s)) {
      return 1;
    }
    mjtNum* wish = s->wish + n;
    mju_copy(wish, s->wish, n);

    // else shorten it until friction comes closer to the law
    mjtNum x = 1, next = 0;
    for (; x > 1e-3; x *= 0.5) {
      for (int i = 0; i < n; i++) {
        s->trial[i] = s->t[i] + x * (wish[i] - s->t[i]);
      }
      if (!mjgp_inner(s, s->trial)) {
        return 0;
      }
      next = distance(s, s->trial);
      if (next < (1 - 0.1 * x) * merit) {
        break;
      }
    }
    if (x <= 1e-3) {
      return 0;
    }
    mju_copy(s->t, s->trial, n);
    merit = next;
  }
  return 0;
}


// joint i alone, on the exact a(t): the friction that stops it if the gear can give that much, else the
// friction between none and that one at which the gear slips. Both have a sign change to close in on.
static int solveJoint(mjgpStep* s, int i) {
  // the velocity falls as friction grows
  mjtNum low = -INFINITY, high = INFINITY, *t = s->t + i;
  for (int k = 0; k < 100; k++) {
    mjtNum v = jointVelocity(s, i), slope = s->m->opt.timestep * mjgp_effect(s, i, i),
           next = *t + v / slope;
    if (mju_abs(next - *t) <= 4 * DBL_EPSILON * mju_abs(*t)) {
      break;
    }
    if (v > 0) {
      low = *t;
    } else {
      high = *t;
    }
    if (!(next > low && next < high)) {
      next = 0.5 * (low + high);
    }
    if (next == *t || next == low || next == high) {
      break;
    }
    *t = next;
    if (!mjgp_inner(s, s->t)) {
      return 0;
    }
  }

  // stuck, or regula falsi for the friction of slipping
  mjtNum sign = *t > 0 ? 1 : -1, hold = *t, none = 0, at_hold = excess(s, i, sign), at_none;
  if (at_hold <= 0) {
    return 1;
  }
  *t = 0;
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  at_none = excess(s, i, sign);
  for (int k = 0, side = 0; k < 100 && at_none < 0; k++) {
    mjtNum next = (none * at_hold - hold * at_none) / (at_hold - at_none);
    if (next == none || next == hold) {
      break;
    }
    *t = next;
    if (!mjgp_inner(s, s->t)) {
      return 0;
    }
    mjtNum value = excess(s, i, sign);
    if (mju_abs(value) <= 1e-14 * mju_abs(*t)) {
      break;
    }
    if (value > 0) {
      hold = next;
      at_hold = value;
      at_none *= side == 1 ? 0.5 : 1;
      side = 1;
    } else {
      none = next;
      at_none = value;
      at_hold *= side == -1 ? 0.5 : 1;
      side = -1;
    }
  }
  return 1;
}


// joint by joint; 1 if solved. Sweeps approach a solution slowly but surely: their progress is
// extrapolated, and Newton tries again from where they are
int mjgp_jointByJoint(mjgpStep* s) {
  int n = s->n;
  mjtNum *before = s->trial, *step = s->work, *last = s->work + n;
  mju_zero(last, n);
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  for (int k = 0; k < mjgpSWEEPS; k++) {
    mju_copy(before, s->t, n);
    for (int i = 0; i < n; i++) {
      if (!solveJoint(s, i)) {
        return 0;
      }
    }

    // no joint asks for a change: each satisfies its law
    mjtNum change = 0, most = 0;
    for (int i = 0; i < n; i++) {
      mjtNum weight = mjgp_effect(s, i, i);
      step[i] = s->t[i] - before[i];
      change = mju_max(change, mju_abs(step[i]) * weight);
      most = mju_max(most, mju_abs(s->t[i]) * weight);
    }
    if (change <= mjgpSAME * most) {
      for (int i = 0; i < n; i++) {
        accept(s, i);
      }
      mjgp_addNoise(s);
      return 1;
    }

    // the sum of the geometric series that two sweeps suggest
    mjtNum ratio = mju_dot(step, last, n) / mju_max(mju_dot(last, last, n), mjMINVAL);
    mju_copy(last, step, n);
    if (k % 5 == 4 && ratio > 0.1 && ratio < 0.999) {
      mju_addToScl(s->t, step, ratio / (1 - ratio), n);
      mju_zero(last, n);
      if (!mjgp_inner(s, s->t)) {
        return 0;
      }
    }
    if (k % 5 == 4) {
      if (mjgp_polish(s)) {
        return 1;
      }
      if (!mjgp_inner(s, s->t)) {
        return 0;
      }
    }
  }
  return 0;
}


// along the path of path.h, with growing x only where there is backlash, whose law the core alone knows
int mjgp_fromRest(mjgpStep* s) {
  if (!s->gaps) {
    return mjgp_followPath(s);
  }
  int n = s->n;
  mjtNum h = s->m->opt.timestep, step = 0.25;
  mjtNum *free = s->trial, *last = s->wish + n;
  mju_zero(s->t, n);
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    free[i] = s->g->in.v[s->group->joint[i]] + h * mjgp_gearAcceleration(s, s->a, i);
    last[i] = 0;
  }
  mju_copy(s->start, s->a, s->group->nv);
  for (mjtNum x = 0; step > 1e-4;) {
    mjtNum next = mju_min(1, x + step);
    for (int i = 0; i < n; i++) {
      s->shift[i] = (next - 1) * free[i];
    }
    int solved = 0;
    for (int k = 0; k < mjgpPASSES && !solved; k++) {
      solved = mjgp_linearize(s) && mjgp_pass(s);
    }
    if (solved && next >= 1) {
      return 1;
    }
    if (solved) {
      x = next;
      step *= 2;
      mju_copy(last, s->wish, n);
      mju_copy(s->start, s->a, s->group->nv);
    } else {
      step *= 0.25;
      mju_copy(s->a, s->start, s->group->nv);
      mjgp_evaluate(s);
    }
    for (int i = 0; i < n; i++) {
      s->g->out.t[s->group->joint[i]] = last[i];
    }
  }
  mju_zero(s->shift, n);
  return 0;
}


void mjgp_giveUp(mjgpStep* s) {
  mjgpGears* g = s->g;
  mju_zero(s->shift, s->n);
  s->passes = 0;
  for (int round = 0, wrong = 1; wrong && round <= s->n; round++) {
    if (!mju_isZero(s->t, s->n) && !mjgp_inner(s, s->t)) {
      mju_zero(s->t, s->n);
    }
    wrong = 0;
    for (int i = 0; i < s->n; i++) {
      if (s->t[i] * jointVelocity(s, i) < 0) {
        s->t[i] = 0;
        wrong = 1;
      }
    }
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjtNum u = mjgp_torqueIn(s, i);
    g->out.t[joint] = s->t[i];
    g->out.v_next[joint] = jointVelocity(s, i);
    g->out.mode[joint] = (g->out.v_next[joint] > 0) - (g->out.v_next[joint] < 0);
    g->out.u[joint] = u;
    g->out.lambda[joint] =
        (g->in.gamma_u[joint] + g->in.gamma_v[joint]) * u - g->in.gamma_v[joint] * s->t[i];
  }
}

#include "coupled/fallback.h"

#include <math.h>

#include "coupled/natural_map.h"
#include "friction/friction.h"
#include "friction/tolerances.h"
#include "law/law.h"
#include "solvers/dense.h"


static mjtNum square(const mjtNum* x, int n) {
  return mju_dot(x, x, n);
}


// to the place between z + share x and z + over x, over: the map has turned round there, at which the map turns: trial and
// its merit. Stays where it is if that is not better. Returns 0 if the map cannot be evaluated
static int intoPiece(mjgpMap* map, mjtNum* trial, mjtNum* merit, const mjtNum* z, const mjtNum* x,
                     const mjtNum* before, mjtNum share, mjtNum over) {
  int n = map->n;
  mjtNum low = share, high = over, best = share, least = *merit;
  if (mju_dot(before, map->F, n) < 0) {
    low = 0;
    high = share;
  }
  for (int k = 0; k < mjgpHALVINGS && high > low && least > mjgpSHRINK * *merit; k++) {
    mjtNum middle = 0.5 * (low + high);
    mju_addScl(trial, z, x, middle, n);
    if (!mjgp_evaluateMap(map, trial)) {
      return 0;
    }
    mjtNum now = square(map->F, n);
    if (now < least) {
      least = now;
      best = middle;
    }
    if (mju_dot(before, map->F, n) < 0) {
      high = middle;
    } else {
      low = middle;
    }
  }
  *merit = least;
  mju_addScl(trial, z, x, best, n);
  return mjgp_evaluateMap(map, trial);
}


// trial: z + x, shortened until friction comes closer to the law. Returns 0 if it does not
static int shorten(mjgpMap* map, mjtNum* trial, mjtNum* merit, const mjtNum* z, const mjtNum* x,
                   mjtNum* before) {
  int n = map->n;
  mjtNum over = 0, last = *merit;
  mju_copy(before, map->F, n);
  for (mjtNum share = 1; share >= mjgpSHORTEST; share *= 0.5) {
    mju_addScl(trial, z, x, share, n);
    if (!mjgp_evaluateMap(map, trial)) {
      return 0;
    }
    *merit = square(map->F, n);
    if (*merit <= (1 - mjgpDESCENT * share) * last || *merit <= mjgpROOT * mjgpROOT) {
      // a step over a narrow piece, as that of a row of dry friction: its ends are too far on both sides
      return *merit <= mjgpSHRINK * last || map->s->engine ||
             intoPiece(map, trial, merit, z, x, before, share, over);
    }
    over = mju_dot(before, map->F, n) < 0 ? share : over;
  }
  return 0;
}


int mjgp_damped(mjgpStep* s) {
  int n = s->n, ld = mjgi_simdEnd(n), solved = 0;
  mj_markStack(s->d);
  mjgpMap map;
  mjtNum* number = mj_stackAllocNum(s->d, (size_t)(4 * n + n * ld));
  mjtNum *z = number, *trial = z + n, *x = trial + n, *before = x + n, *K = before + n;
  int* pivot = mj_stackAllocInt(s->d, (size_t)n);
  mju_zero(K, n * ld);
  mju_copy(z, s->t, n);
  if (!mjgp_makeMap(&map, s)) {
    mj_freeStack(s->d);
    return 0;
  }
  for (int i = 0; i < n; i++) {
    z[i] /= map.unit[i];
  }
  int going = mjgp_evaluateMap(&map, z);
  mjtNum merit = going ? square(map.F, n) : 0;
  for (int k = 0; k < mjgpDESCENTS && going; k++) {
    if (merit <= mjgpROOT * mjgpROOT) {
      if (!mjgp_releaseMap(&map)) {
        solved = 1;
        break;
      }
      going = mjgp_evaluateMap(&map, z);
      merit = going ? square(map.F, n) : 0;
      continue;
    }
    for (int i = 0; i < n; i++) {
      mju_copy(K + i * ld, map.J + i * n, n);
      x[i] = -map.F[i];
    }
    if (!mjgi_lu(K, x, pivot, n)) {
      break;
    }

    going = shorten(&map, trial, &merit, z, x, before);
    mju_copy(z, trial, n);
  }
  if (solved) {
    mjgp_acceptMap(&map);
    mjgp_addRounding(s);
  }
  mj_freeStack(s->d);
  return solved;
}


// the budget of linearizations, anew; those so far are counted
static void renew(mjgpStep* s) {
  s->g->count.newton_steps += s->newton_steps;
  s->newton_steps = 0;
}


int mjgp_breakAway(mjgpStep* s, mjtNum* ratio, int which) {
  int any = 0;
  if (which < 0) {
    renew(s);
  }
  for (int i = 0; i < s->n; i++) {
    mjtNum* own = s->g->in.static_ratio + s->group->joint[i];
    mjgpBrake* brake = s->g->in.brake + s->group->joint[i];
    ratio[i] = *own;
    if (which < 0 || i == which) {
      any |= *own > 1 || brake->holding > brake->sliding;
      *own = brake->broken = 1;
    }
  }
  return any;
}


void mjgp_restoreStatic(mjgpStep* s, const mjtNum* ratio) {
  for (int i = 0; i < s->n; i++) {
    s->g->in.static_ratio[s->group->joint[i]] = ratio[i];
    s->g->in.brake[s->group->joint[i]].broken = 0;
  }
}


// a rotor with the torque of the shaft that acts on the joint, whether the shaft would give it or not: friction keeps its
// law, and no momentum is lost
static void turnRotor(mjgpStep* s, int i) {
  mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  const mjgCoupling* c = g->in.coupling + joint;
  mjgCouplingStep* step = g->out.gap + joint;
  mjtNum h = s->m->opt.timestep, v = g->in.v[joint] + h * s->acc[i];

  // the gap beside a joint that moves as it does, then the rotor
  mjg_couplingResolve(step, c, v, 0);
  if (g->config->joint[joint].gap == mjgpGAP_LOAD) {
    step->T = s->t[i];
    return;
  }
  mjtNum T = -s->t[i] - mjgp_takenTorque(s, i), phi = (c->gamma_u + c->gamma_v) * T;
  mjtNum hold = c->inertia * c->velocity / h + c->torque - T, ratio = fmax(1, c->static_ratio);
  int piece =
      mjgi_lawResolve(&step->friction, hold, phi, c->gamma_u, c->coulomb,
                      mjgi_lawRatio(ratio, c->velocity, 1), mjgi_lawRatio(ratio, c->velocity, -1));
  step->T = T;
  step->lambda = phi + c->gamma_u * step->friction;
  step->mode = mjgi_pieceDirection(piece);
  step->velocity = step->mode ? h / c->inertia * (hold - step->friction) : 0;
  step->omega_d = step->velocity - v;
  g->out.lambda[joint] = step->lambda;
  g->out.mode[joint] = step->mode;
}


void mjgp_giveUp(mjgpStep* s) {
  mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  renew(s);
  for (int round = 0, wrong = 1; wrong && round <= s->n; round++) {
    if (!mjgp_inner(s, s->t) && !mju_isZero(s->t, s->n)) {
      mju_zero(s->t, s->n);
      mjgp_inner(s, s->t);
    }
    if (!round) {
      mjgp_setCancellation(s);
      mjgp_addRounding(s);
    }
    wrong = 0;
    mjgp_accelerations(s);
    for (int i = 0; i < s->n; i++) {
      int joint = s->group->joint[i], gap = mjgp_hasGap(g->config->joint + joint);
      mjtNum v = g->in.v[joint] + h * s->acc[i];
      mjtNum slip = mjgp_slip(g, joint, v, s->t[i]);
      if (!gap && s->t[i] * slip < 0 && !mjgp_isRounding(s, i, slip)) {
        s->t[i] = 0;
        wrong = 1;
      }
    }
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjtNum v = g->in.v[joint] + h * s->acc[i];
    g->out.t[joint] = s->t[i];
    g->out.u[joint] = mjgp_torqueIn(s, i);
    g->out.v_next[joint] = v;
    mjtNum slip = mjgp_slip(g, joint, v, s->t[i]);
    g->out.mode[joint] = (slip > 0) - (slip < 0);
    g->out.lambda[joint] =
        mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], g->out.u[joint], s->t[i]);
    if (mjgp_hasGap(g->config->joint + joint)) {
      turnRotor(s, i);
    }
  }
  mjgp_holdRounding(s);
}

// Newton on the acceleration of all dofs of a group.
//
// While constraints keep their states their forces are linear in the acceleration, and the friction
// problem is that of the core with H = M + J' s'' J in the place of the mass matrix. A pass linearizes
// at the current acceleration, solves for friction and moves to the acceleration that belongs to it.
// If the states are the same there the step is solved, exactly. Most steps take one pass.
//
// Where passes do not settle, friction is the unknown instead: a(t) is then the unique solution of
// the engine's convex problem for given friction (inner), and each method below is safer and slower
// than the one before: Newton on the pieces of the law that the joints are on; damped Newton on t;
// along the path from rest; joint by joint. Joints with backlash use those that ask the core for the law.

#include "coupling.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "constraint.h"
#include "friction.h"
#include "noslip.h"

#define mjgpPASSES 8      // undamped passes
#define mjgpPOLISH 12     // steps to a solution that is near
#define mjgpDAMPED 30     // damped steps on friction
#define mjgpSWEEPS 200    // sweeps joint by joint
#define mjgpINNER  100    // steps of the inner problem
#define mjgpBUDGET 5000   // linearizations that one group may cost
#define mjgpSAME   1e-11  // relative change of friction that counts as none
#define mjgpNOISE  128    // a gradient of this many rounding errors counts as zero


typedef struct Step_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  mjgpGroup* group;
  int n;             // geared joints
  int passes;        // linearizations so far
  int gaps;          // there is a gap with backlash among them
  mjtNum* a;         // acceleration                                       (nv)
  mjtNum* next;      // acceleration to which a pass leads                 (nv)
  mjtNum* start;     // acceleration at the last solved point of the path   (nv)
  mjtNum* search;    // direction of the inner problem                     (nv)
  mjtNum* gradient;  //                                                    (nv)
  mjtNum* noise;     // rounding errors in it                              (nv)
  mjtNum* descent;   // L^-1 gradient without friction                     (nv)
  mjtNum* right;     // L^-1 E, a column per joint                         (nv x n)
  mjtNum* left;      // L^-1 of the rows that give the velocity; may be right
  mjtNum* rows;      // those rows; null: unit vectors                     (n x nv)
  mjtNum* W;         // left' right: effect of friction on acceleration    (n x n)
  mjtNum* jar;       // of the inner problem's direction                   (nefc)
  mjtNum* residual;  // J a - aref of a trial                              (nefc)
  mjtNum* f;         // forces of a trial                                  (nefc)
  int* state;        // states of a trial                                  (nefc)
  mjtNum* t;         // friction                                           (n)
  mjtNum* wish;      // friction that a linearization asks for             (n)
  mjtNum* trial;     // friction of a trial                                (n)
  mjtNum* shift;     // added to the velocity before the step, on the path (n)
  mjtNum* work;      // problem of the core                                (n x n + 2 n)
} Step;


//---------------------------------- pieces --------------------------------------------------------

// forces, states and cone Hessians at s->a
static void evaluate(Step* s) {
  mjgpGroup* group = s->group;
  mjgp_residual(group, group->jar, s->a);
  mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);
}


// velocity change per second of geared joint i at acceleration a
static mjtNum gearAcceleration(const Step* s, const mjtNum* a, int i) {
  return s->rows ? mju_dot(s->rows + (size_t)i * (size_t)s->group->nv, a, s->group->nv)
                 : a[s->group->gear[i]];
}


// factor at the states of a, with the effect of forces on the geared joints; 0 if not possible
static int linearize(Step* s) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  if (s->passes++ >= mjgpBUDGET || !mjgp_factor(group)) {
    return 0;
  }
  mjgp_gradient(group, s->descent, NULL, s->a, NULL);
  mjgp_solveLower(group, s->descent, 1, 0);

  // columns of E, and the rows of the integrator
  int n = s->n, first = nv;
  mju_zero(s->right, n * nv);
  for (int i = 0; i < n; i++) {
    s->right[group->gear[i] * n + i] = 1;
    first = mjMIN(first, group->gear[i]);
  }
  mjgp_solveLower(group, s->right, n, first);
  if (s->rows) {
    first = 0;
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < nv; k++) {
        s->left[k * n + i] = s->rows[i * nv + k];
      }
    }
    mjgp_solveLower(group, s->left, n, 0);
  }

  // their product
  mju_zero(s->W, n * n);
  for (int k = first; k < nv; k++) {
    const mjtNum *left = s->left + k * n, *right = s->right + k * n;
    for (int i = 0; i < n; i++) {
      mjtNum factor = left[i];
      for (int j = 0; j < n && factor != 0; j++) {
        s->W[i * n + j] += factor * right[j];
      }
    }
  }
  return 1;
}


// entry of the effect of friction on the acceleration of geared joints
static mjtNum entry(const Step* s, int i, int j) {
  return s->W[i * s->n + j];
}


// friction for the linearization; results in s->g and s->wish
static int solveLinear(Step* s) {
  int n = s->n, block = n;
  mjtNum *W = s->work, *a = s->work + n * n, *size = a + n;
  mju_copy(W, s->W, n * n);
  for (int i = 0; i < n; i++) {
    a[i] = gearAcceleration(s, s->a, i) + s->shift[i] / s->m->opt.timestep;
    size[i] = mju_abs(a[i]);
  }
  for (int k = 0; k < s->group->nv; k++) {
    const mjtNum* left = s->left + k * n;
    for (int i = 0; i < n; i++) {
      mjtNum term = left[i] * s->descent[k];
      a[i] -= term;
      size[i] += mju_abs(term);
    }
  }
  mjgpProblem problem = {
      .n = n, .joint = s->group->joint, .nblock = 1, .block = &block, .W = W, .a = a, .size = size};
  int status = mjgp_solveFriction(s->g, s->m, s->d, &problem);
  for (int i = 0; i < n; i++) {
    s->wish[i] = s->g->t[s->group->joint[i]];
  }
  return status;
}


// next = a - H^-1 gradient(a, t)
static void move(Step* s, const mjtNum* t) {
  int nv = s->group->nv;
  for (int k = 0; k < nv; k++) {
    s->next[k] = s->descent[k] + mju_dot(s->right + k * s->n, t, s->n);
  }
  mjgp_solveUpper(s->group, s->next);
  mju_sub(s->next, s->a, s->next, nv);
}


// is the gradient at a with friction t nothing but rounding
static int isZero(Step* s, const mjtNum* t) {
  mjgp_gradient(s->group, s->gradient, s->noise, s->a, t);
  for (int i = 0; i < s->group->nv; i++) {
    if (mju_abs(s->gradient[i]) > mjgpNOISE * s->noise[i]) {
      return 0;
    }
  }
  return 1;
}


// go to next; returns 1 if friction t and the constraint forces there are those of the linearization
static int settle(Step* s, const mjtNum* t) {
  mjgpGroup* group = s->group;
  memcpy(s->state, group->state, sizeof(int) * (size_t)group->nefc);
  mju_copy(s->a, s->next, group->nv);
  evaluate(s);
  int exact = 1;
  for (int i = 0; i < group->nefc; i++) {
    exact &= group->state[i] == s->state[i] && group->state[i] != mjCNSTRSTATE_CONE;
  }
  return exact || isZero(s, t);
}


//---------------------------------- inner problem -------------------------------------------------

// slope of the convex cost along the search direction at distance x, without its constant part
static mjtNum constraintSlope(Step* s, mjtNum x) {
  mjgpGroup* group = s->group;
  mjtNum slope = 0;
  for (int i = 0; i < group->nefc; i++) {
    s->residual[i] = group->jar[i] + x * s->jar[i];
  }
  mjgp_constraintForce(group, s->f, s->state, NULL, s->residual);
  for (int i = 0; i < group->nefc; i++) {
    slope -= s->f[i] * s->jar[i];
  }
  return slope;
}


// exact minimizer of the convex cost along the search direction
static mjtNum searchLine(Step* s, const mjtNum* t) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  for (int i = 0; i < group->nefc; i++) {
    s->jar[i] = 0;
    for (int k = group->J_adr[i]; k < group->J_adr[i + 1]; k++) {
      s->jar[i] += group->J[k] * s->search[group->J_col[k]];
    }
  }

  // slope = linear + x quadratic + slope of the constraint cost
  mjtNum *Ma = s->next, linear, quadratic;
  mjgp_mulInertia(group, Ma, s->a);
  mju_subFrom(Ma, group->force, nv);
  for (int i = 0; i < s->n; i++) {
    Ma[group->gear[i]] += t[i];
  }
  linear = mju_dot(Ma, s->search, nv);
  mjgp_mulInertia(group, Ma, s->search);
  quadratic = mju_dot(Ma, s->search, nv);

  // bracket from 1 on, then regula falsi with halved ends (Illinois)
  mjtNum low = 0, high = 1, at_low = linear + constraintSlope(s, 0), at_high;
  if (!(at_low < 0)) {
    return 0;
  }
  mjtNum tolerance = 1e-10 * mju_abs(at_low);
  for (int k = 0;; k++) {
    at_high = linear + high * quadratic + constraintSlope(s, high);
    if (at_high >= 0 || k == 60) {
      break;
    }
    if (mju_abs(at_high) <= tolerance) {
      return high;
    }
    low = high;
    at_low = at_high;
    high *= 2;
  }
  if (at_high <= tolerance) {
    return high;
  }
  for (int k = 0, side = 0; k < 60; k++) {
    mjtNum x = (low * at_high - high * at_low) / (at_high - at_low);
    mjtNum slope = linear + x * quadratic + constraintSlope(s, x);
    if (mju_abs(slope) <= tolerance || high - low <= 4 * DBL_EPSILON * high) {
      return x;
    }
    if (slope < 0) {
      low = x;
      at_low = slope;
      at_high *= side == -1 ? 0.5 : 1;
      side = -1;
    } else {
      high = x;
      at_high = slope;
      at_low *= side == 1 ? 0.5 : 1;
      side = 1;
    }
  }
  return low;
}


// a = a(t): the engine's convex problem with friction t, solved to rounding and linearized there;
// 0 if not solved
static int inner(Step* s, const mjtNum* t) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  for (int k = 0; k < mjgpINNER; k++) {
    evaluate(s);
    int zero = isZero(s, t);
    if (!linearize(s)) {
      return 0;
    }
    if (zero) {
      return 1;
    }

    // full step if it lands where it aims, else the best step along it
    mju_copy(s->search, s->gradient, nv);
    mjgp_solveLower(group, s->search, 1, 0);
    mjgp_solveUpper(group, s->search);
    mju_scl(s->search, s->search, -1, nv);
    mjtNum x = searchLine(s, t);
    if (x == 0) {
      return 1;
    }
    mju_addToScl(s->a, s->search, x, nv);
  }
  return 0;
}


//---------------------------------- safer methods -------------------------------------------------

// friction that joint i asks for while the others keep theirs, at the linearization of a(t)
static mjtNum resolve(Step* s, const mjtNum* t, int i) {
  int joint = s->group->joint[i], block = 1;

  // a gap looks at the joint on its other side
  for (int k = 0; k < s->n && s->gaps; k++) {
    int other = s->group->joint[k];
    s->g->t[other] = t[k];
    s->g->v_next[other] =
        s->g->v[other] + s->shift[k] + s->m->opt.timestep * gearAcceleration(s, s->a, k);
  }
  mjtNum W = entry(s, i, i), scale = s->g->scale[joint];
  mjtNum a = gearAcceleration(s, s->a, i) + W * t[i] + s->shift[i] / s->m->opt.timestep;
  mjgpProblem problem = {
      .n = 1, .joint = &joint, .nblock = 1, .block = &block, .W = &W, .a = &a, .size = &a};
  mjgp_solveFriction(s->g, s->m, s->d, &problem);
  s->g->scale[joint] = scale;
  return s->g->t[joint];
}


// distance of friction t from what all joints ask for at a(t), as acceleration, squared
static mjtNum distance(Step* s, const mjtNum* t) {
  mjtNum sum = 0;
  for (int i = 0; i < s->n; i++) {
    mjtNum error = (resolve(s, t, i) - t[i]) * entry(s, i, i);
    sum += error * error;
  }
  return sum;
}


// a pass from where we are; 1 if it settles
static int pass(Step* s) {
  if (solveLinear(s) < 0) {
    return 0;
  }
  move(s, s->wish);
  return settle(s, s->wish);
}


// velocity after the step of joint i at a(t)
static mjtNum jointVelocity(Step* s, int i) {
  return s->g->v[s->group->joint[i]] + s->shift[i] +
         s->m->opt.timestep * gearAcceleration(s, s->a, i);
}


// by how much friction t_i in direction sign exceeds what the gear can give at a(t)
static mjtNum excess(Step* s, int i, mjtNum sign) {
  const mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  mjtNum u = g->tau[joint] - g->inertia[joint] * gearAcceleration(s, s->a, i);
  mjtNum lambda = (g->gamma_u[joint] + g->gamma_v[joint]) * u - g->gamma_v[joint] * s->t[i];
  mjtNum ratio = g->v[joint] * sign > 0 ? 1 : g->static_ratio[joint];
  return s->t[i] * sign - ratio * (mju_abs(lambda) + g->coulomb[joint]);
}


// results of joint i at a(t), which satisfies its law
static void accept(Step* s, int i) {
  mjgpGears* g = s->g;
  int joint = s->group->joint[i];
  resolve(s, s->t, i);
  if (g->joint[joint].gap != mjgpGAP_NONE) {
    g->t[joint] = s->t[i];
    g->v_next[joint] = jointVelocity(s, i);
    return;
  }
  mjtNum u = g->tau[joint] - g->inertia[joint] * gearAcceleration(s, s->a, i);
  g->t[joint] = s->t[i];
  g->lambda[joint] = (g->gamma_u[joint] + g->gamma_v[joint]) * u - g->gamma_v[joint] * s->t[i];
  g->v_next[joint] = g->mode[joint] ? jointVelocity(s, i) : 0;
}


// solve K x = x in place by elimination with pivoting; 0 if K is singular
static int eliminate(mjtNum* K, mjtNum* x, int n) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = mju_abs(K[i * n + k]) > mju_abs(K[pivot * n + k]) ? i : pivot;
    }
    if (K[pivot * n + k] == 0) {
      return 0;
    }
    for (int j = 0; j < n && pivot != k; j++) {
      mjtNum swap = K[k * n + j];
      K[k * n + j] = K[pivot * n + j];
      K[pivot * n + j] = swap;
    }
    mjtNum swap = x[k];
    x[k] = x[pivot];
    x[pivot] = swap;
    for (int i = k + 1; i < n; i++) {
      mjtNum factor = K[i * n + k] / K[k * n + k];
      for (int j = k + 1; j < n; j++) {
        K[i * n + j] -= factor * K[k * n + j];
      }
      x[i] -= factor * x[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      x[i] -= K[i * n + j] * x[j];
    }
    x[i] /= K[i * n + i];
  }
  return 1;
}


// equation of joint i for a change of friction, with the law's piece that the joint is on now: a row of K
// and its right side. The piece is what the joint would choose alone.
static mjtNum pieceRow(Step* s, mjtNum* K, int i) {
  const mjgpGears* g = s->g;
  int n = s->n, joint = s->group->joint[i];
  mjtNum wish = resolve(s, s->t, i);
  int mode = g->mode[joint], load = g->lambda[joint] >= 0 ? 1 : -1;
  for (int j = 0; j < n; j++) {
    K[j] = entry(s, i, j);
  }

  // backlash: tangent of what the gap asks for; between two joints of the model the others stay
  if (g->joint[joint].gap != mjgpGAP_NONE) {
    int rotor = g->joint[joint].gap == mjgpGAP_ROTOR;
    mjtNum slope = rotor ? -g->gap[joint].dT * s->m->opt.timestep : 0;
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
  mjtNum gamma_v = g->gamma_v[joint], gamma = g->gamma_u[joint] + gamma_v;
  mjtNum ratio = g->v[joint] * mode > 0 ? 1 : g->static_ratio[joint];
  mjtNum factor = mode * ratio * load;
  mjtNum u = g->tau[joint] - g->inertia[joint] * gearAcceleration(s, s->a, i);
  mjtNum lambda = gamma * u - gamma_v * s->t[i];
  for (int j = 0; j < n; j++) {
    K[j] *= -factor * gamma * g->inertia[joint];
  }
  K[i] += 1 + factor * gamma_v;
  return factor * lambda + mode * ratio * g->coulomb[joint] - s->t[i];
}


// Newton on friction with each joint on the piece of its law that it is on: finds the solution that is
// near, also where the linearized problem has others. 1 if solved; friction is left where it was if not
static int polish(Step* s) {
  int n = s->n;
  mjtNum *K = s->work, *x = s->work + n * n, *keep = s->wish + n;
  mju_copy(keep, s->t, n);
  for (int k = 0; k < mjgpPOLISH; k++) {
    for (int i = 0; i < n; i++) {
      x[i] = pieceRow(s, K + i * n, i);
    }
    if (!eliminate(K, x, n)) {
      break;
    }
    mjtNum change = 0, most = 0;
    for (int i = 0; i < n; i++) {
      mjtNum weight = entry(s, i, i);
      s->t[i] += x[i];
      change = mju_max(change, mju_abs(x[i]) * weight);
      most = mju_max(most, mju_abs(s->t[i]) * weight + s->g->scale[s->group->joint[i]]);
    }
    if (!inner(s, s->t)) {
      break;
    }
    if (k && change <= mjgpSAME * most) {
      // where it stands now, friction is on the law
      int good = 1;
      for (int i = 0; i < n; i++) {
        mjtNum wish = resolve(s, s->t, i);
        good &= mju_abs(wish - s->t[i]) * entry(s, i, i) <= 1e-9 * most;
      }
      for (int i = 0; i < n && good; i++) {
        accept(s, i);
      }
      if (good) {
        return 1;
      }
    }
  }
  mju_copy(s->t, keep, n);
  return 0;
}


// Newton on friction with steps that bring it closer to the law; 1 if solved
static int damped(Step* s) {
  int n = s->n, nv = s->group->nv;
  mjtNum* keep = s->search + nv;
  if (!inner(s, s->t)) {
    return 0;
  }
  mjtNum merit = distance(s, s->t);
  for (int k = 0; k < mjgpDAMPED; k++) {
    // a full step may settle at once
    mju_copy(keep, s->a, nv);
    if (pass(s)) {
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
      if (!inner(s, s->trial)) {
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
static int solveJoint(Step* s, int i) {
  // the velocity falls as friction grows
  mjtNum low = -INFINITY, high = INFINITY, *t = s->t + i;
  for (int k = 0; k < 100; k++) {
    mjtNum v = jointVelocity(s, i), slope = s->m->opt.timestep * entry(s, i, i),
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
    if (!inner(s, s->t)) {
      return 0;
    }
  }

  // stuck, or regula falsi for the friction of slipping
  mjtNum sign = *t > 0 ? 1 : -1, hold = *t, none = 0, at_hold = excess(s, i, sign), at_none;
  if (at_hold <= 0) {
    return 1;
  }
  *t = 0;
  if (!inner(s, s->t)) {
    return 0;
  }
  at_none = excess(s, i, sign);
  for (int k = 0, side = 0; k < 100 && at_none < 0; k++) {
    mjtNum next = (none * at_hold - hold * at_none) / (at_hold - at_none);
    if (next == none || next == hold) {
      break;
    }
    *t = next;
    if (!inner(s, s->t)) {
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
static int jointByJoint(Step* s) {
  int n = s->n;
  mjtNum *before = s->trial, *step = s->work, *last = s->work + n;
  mju_zero(last, n);
  if (!inner(s, s->t)) {
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
      mjtNum weight = entry(s, i, i);
      step[i] = s->t[i] - before[i];
      change = mju_max(change, mju_abs(step[i]) * weight);
      most = mju_max(most, mju_abs(s->t[i]) * weight);
    }
    if (change <= mjgpSAME * most) {
      for (int i = 0; i < n; i++) {
        accept(s, i);
      }
      return 1;
    }

    // the sum of the geometric series that two sweeps suggest
    mjtNum ratio = mju_dot(step, last, n) / mju_max(mju_dot(last, last, n), mjMINVAL);
    mju_copy(last, step, n);
    if (k % 5 == 4 && ratio > 0.1 && ratio < 0.999) {
      mju_addToScl(s->t, step, ratio / (1 - ratio), n);
      mju_zero(last, n);
      if (!inner(s, s->t)) {
        return 0;
      }
    }
    if (k % 5 == 4) {
      if (polish(s)) {
        return 1;
      }
      if (!inner(s, s->t)) {
        return 0;
      }
    }
  }
  return 0;
}


// along the path from rest: add -(1 - x) v+ to the velocity, where v+ is that without friction, so that
// nothing moves at x = 0, and let x grow to 1; 1 if solved
static int fromRest(Step* s) {
  int n = s->n;
  mjtNum h = s->m->opt.timestep, step = 0.25;
  mjtNum *free = s->trial, *last = s->wish + n;
  mju_zero(s->t, n);
  if (!inner(s, s->t)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    free[i] = s->g->v[s->group->joint[i]] + h * gearAcceleration(s, s->a, i);
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
      solved = linearize(s) && pass(s);
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
      evaluate(s);
    }
    for (int i = 0; i < n; i++) {
      s->g->t[s->group->joint[i]] = last[i];
    }
  }
  mju_zero(s->shift, n);
  return 0;
}


//---------------------------------- one group -----------------------------------------------------

// rows that turn the acceleration of the engine's solver into that of the integrator
static void integratorRows(Step* s, const mjgpMetric* metric) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  mjtNum* full = mj_stackAllocNum(s->d, (size_t)s->m->nv);
  mju_zero(full, (int)s->m->nv);
  for (int i = 0; i < s->n; i++) {
    mjgp_row(full, s->m, metric, s->g, group->joint[i]);
    for (int k = 0; k < nv; k++) {
      s->search[k] = full[group->dof[k]];
    }
    mjgp_mulInertia(group, s->rows + (size_t)i * (size_t)nv, s->search);
    int tree = s->m->dof_treeid[s->g->joint[group->joint[i]].dof];
    mju_zero(full + s->m->tree_dofadr[tree], s->m->tree_dofnum[tree]);
  }
}


static void allocate(Step* s, const mjgpMetric* metric) {
  size_t nv = (size_t)s->group->nv, n = (size_t)s->n, nefc = (size_t)s->group->nefc;
  mjData* d = s->d;
  mjtNum* number = mj_stackAllocNum(d, 8 * nv);
  s->a = number;
  s->next = number + nv;
  s->search = number + 2 * nv;  // and a copy behind it
  s->gradient = number + 4 * nv;
  s->noise = number + 5 * nv;
  s->descent = number + 6 * nv;
  s->start = number + 7 * nv;
  s->right = mj_stackAllocNum(d, n * nv);
  s->left = metric->inertia ? s->right : mj_stackAllocNum(d, n * nv);
  s->rows = metric->inertia ? NULL : mj_stackAllocNum(d, n * nv);
  s->jar = mj_stackAllocNum(d, 3 * nefc);
  s->f = s->jar + nefc;
  s->residual = s->jar + 2 * nefc;
  s->state = mj_stackAllocInt(d, nefc);
  number = mj_stackAllocNum(d, 7 * n + 2 * n * n);
  s->t = number;
  s->wish = number + n;  // and a copy behind it
  s->trial = number + 3 * n;
  s->shift = number + 4 * n;
  s->W = number + 5 * n;
  s->work = s->W + n * n;
}


// start from the acceleration and the friction of the last step
static void start(Step* s) {
  const mjtNum* acc = s->d->plugin_state + s->g->acc;
  for (int i = 0; i < s->group->nv; i++) {
    s->a[i] = acc[s->group->dof[i]];
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    const mjtNum* state = s->d->plugin_state + s->g->state[joint];
    s->t[i] = s->g->t[joint] = state[0];
    s->g->mode[joint] = (int)state[s->g->stride[joint]];
    s->shift[i] = 0;
  }
  evaluate(s);
}


// solve for friction and acceleration of one group; effect (nullable) gets the effect of friction
// (joints x joints of g)
static void solveGroup(mjgpGears* g, const mjModel* m, mjData* d, const mjgpMetric* metric,
                       mjgpGroup* group, mjtNum* effect) {
  Step step = {.m = m, .d = d, .g = g, .group = group, .n = group->njoint};
  Step* s = &step;
  allocate(s, metric);
  if (s->rows) {
    integratorRows(s, metric);
  }
  for (int i = 0; i < s->n; i++) {
    s->gaps |= g->joint[group->joint[i]].gap != mjgpGAP_NONE;
  }
  start(s);
  g->count.coupled++;

  // passes, then the safer methods
  int solved = 0;
  for (int k = 0; k < mjgpPASSES && !solved; k++) {
    solved = linearize(s) && pass(s);
  }
  if (!solved) {
    g->count.hard++;
    g->count.fallbacks++;
    start(s);
    solved = !s->gaps && inner(s, s->t) && polish(s);
    if (!solved) {
      start(s);
      solved = damped(s);
    }
    if (!solved) {
      start(s);
      solved = fromRest(s);
    }
    if (!solved && !s->gaps) {
      start(s);
      solved = jointByJoint(s);
    }
  }

  g->count.passes += step.passes;

  // results; the engine starts from the acceleration and finds it solved
  mjgp_countFriction(g, d, solved ? g->last_info.status : mjgITERATION_LIMIT);
  for (int i = 0; i < group->nv; i++) {
    d->qacc_warmstart[group->dof[i]] = s->a[i];
  }
  group->noslip = effect != NULL;
  if (effect && !linearize(s)) {
    effect = NULL;
  }
  for (int i = 0; i < s->n && effect; i++) {
    for (int j = 0; j < s->n; j++) {
      effect[group->joint[i] * g->n + group->joint[j]] = entry(s, i, j);
    }
  }
}


//---------------------------------- hand over ----------------------------------------------------

// the engine compares the cost of starting from qacc_warmstart with that of starting without
// constraints, for all islands at once. Islands without gears start where they are better off, so that
// they do not spoil the start of the others.
static void chooseStart(const mjModel* m, mjData* d, const mjtNum* force, const int* coupled) {
  int nv = (int)m->nv, other = 0;
  for (int i = 0; i < nv && !other; i++) {
    other = d->dof_island[i] >= 0 && !coupled[d->dof_island[i]];
  }
  if (!other) {
    return;
  }
  mj_markStack(d);
  mjtNum* jar = mj_stackAllocNum(d, (size_t)d->nefc);
  mjtNum *trial = mj_stackAllocNum(d, 3 * (size_t)nv), *Ma = trial + nv, *smooth = Ma + nv;
  mjtNum cost[2];
  mj_solveM(m, d, smooth, force, 1);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < nv; i++) {
      int island = d->dof_island[i];
      trial[i] = k && island >= 0 && !coupled[island] ? smooth[i] : d->qacc_warmstart[i];
    }
    mj_mulJacVec(m, d, jar, trial);
    mju_subFrom(jar, d->efc_aref, d->nefc);
    mj_constraintUpdate(m, d, jar, cost + k, 0);
    mj_mulM(m, d, Ma, trial);
    for (int i = 0; i < nv; i++) {
      cost[k] += 0.5 * (Ma[i] - force[i]) * (trial[i] - smooth[i]);
    }
  }
  if (cost[0] > cost[1]) {
    mju_copy(d->qacc_warmstart, trial, nv);
  }
  mj_freeStack(d);
}


//---------------------------------- all groups ----------------------------------------------------

int mjgp_couple(mjgpGears* g, const mjModel* m, mjData* d, const mjgpMetric* metric,
                const mjtNum* force, int* joint, int n) {
  mj_markStack(d);
  int* local = mj_stackAllocInt(d, (size_t)m->nv);
  int* part = mj_stackAllocInt(d, (size_t)n);
  for (int i = 0; i < m->nv; i++) {
    local[i] = -1;
  }

  // noslip iterations come after: keep what friction is corrected with
  mjtNum* effect = NULL;
  if (m->opt.noslip_iterations > 0) {
    effect = mj_stackAllocNum(d, (size_t)g->n * (size_t)g->n);
    mju_zero(effect, g->n * g->n);
  }

  // no islands, or gaps across them: one group of all that is awake
  mjgpGroup group;
  if (!d->nisland || g->crossing) {
    int sleep = (m->opt.enableflags & mjENBL_SLEEP) && d->nv_awake < m->nv;
    int nv = sleep ? d->nv_awake : (int)m->nv;
    int *dof = mj_stackAllocInt(d, (size_t)nv), *row = mj_stackAllocInt(d, (size_t)d->nefc);
    for (int i = 0; i < nv; i++) {
      dof[i] = sleep ? d->dof_awake_ind[i] : i;
    }
    for (int i = 0; i < d->nefc; i++) {
      row[i] = i;
    }
    memcpy(part, joint, sizeof(int) * (size_t)n);
    mjgp_makeGroup(&group, m, d, g, local, force, dof, nv, row, d->nefc, part, n);
    solveGroup(g, m, d, metric, &group, effect);
    if (effect) {
      mjgp_anticipateNoslip(g, m, d, metric, effect, joint, n);
    }
    mj_freeStack(d);
    return 0;
  }

  // islands with geared joints, one by one
  int left = 0, *coupled = mj_stackAllocInt(d, (size_t)d->nisland);
  for (int island = 0; island < d->nisland; island++) {
    int npart = 0;
    for (int i = 0; i < n; i++) {
      if (d->dof_island[g->joint[joint[i]].dof] == island) {
        part[npart++] = joint[i];
      }
    }
    coupled[island] = npart > 0;
    if (npart) {
      mj_markStack(d);
      mjgp_makeGroup(&group, m, d, g, local, force, d->map_idof2dof + d->island_idofadr[island],
                     d->island_nv[island], d->map_iefc2efc + d->island_iefcadr[island],
                     d->island_nefc[island], part, npart);
      solveGroup(g, m, d, metric, &group, effect);
      mj_freeStack(d);
    }
  }
  // joints without constraints to the front, the others behind them
  memcpy(part, joint, sizeof(int) * (size_t)n);
  for (int pass = 0, k = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      if ((d->dof_island[g->joint[part[i]].dof] >= 0) == pass) {
        joint[k++] = part[i];
        left += !pass;
      }
    }
  }
  if (left < n) {
    chooseStart(m, d, force, coupled);
  }
  if (effect && left < n) {
    mjgp_anticipateNoslip(g, m, d, metric, effect, joint + left, n - left);
  }
  mj_freeStack(d);
  return left;
}

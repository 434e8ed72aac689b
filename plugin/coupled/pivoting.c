#include "coupled/pivoting.h"

#include <math.h>
#include <string.h>

#include "coupled/fallback.h"
#include "coupled/natural_map.h"
#include "friction/friction.h"
#include "law/law.h"
#include "solvers/dense.h"

#define mjgpENDS    40  // most ends of pieces on a path from rest, times rows and joints
#define mjgpUPDATES 8   // joints that may change sides before their equations are factored anew

// where a piece may end: a function that is positive on it
typedef enum mjgpEnd_ {
  mjgpEND_NONE = 0,
  mjgpEND_ROW,    // of a row: J a - aref at the edge where it ceases to act or begins to
  mjgpEND_DRY,    // of dry friction, which has two: the lower one
  mjgpEND_LOAD,   // of a joint: its load changes sign
  mjgpEND_ABOVE,  // its trial torque at the upper bound
  mjgpEND_BELOW,  // its trial torque at the lower bound
} mjgpEnd;

typedef struct mjgpPath_ {
  mjgpStep* s;
  int n;
  mjtNum x;
  mjtNum* c;     // velocity change per second that a torque counts as in the map     (n)
  mjtNum* unit;  // of friction, in which joints of any size are alike                  (n)
  mjtNum* free;  // velocity that is added as x grows                                 (n)
  mjtNum* G;     // gradient at the start                                             (nv)
  mjtNum* F;     // map at the start                                                  (n)
  mjtNum*
      answer;  // change of acceleration by the gradient at the start, at the linearization     (ld)
  int* mark;   // pieces at some point of the path                            (nefc + 2 n)
  int* pivot;  // scratch                                                           (n)
  int* side;   // of each joint: -1 slips backward, 0 stuck, 1 slips forward        (n)
  int* load;   // sign of its load                                                  (n)

  // along the line
  mjtNum* da;       // acceleration                                                      (nv)
  mjtNum* dt;       // friction                                                          (n)
  mjtNum* djar;     // constraint rows                                                   (nefc)
  mjtNum* dacc;     // velocity change per second of joints                              (ld)
  mjtNum* trial;    // trial torque                                                      (n)
  mjtNum* dtrial;   //                                                                   (n)
  mjtNum* lambda;   // load                                                              (n)
  mjtNum* dlambda;  //                                                                   (n)
  mjtNum* K;        // equations of the joints, factored                                 (n x n)

  // joints that have changed sides since then
  int nchange;
  int change[mjgpUPDATES];
  mjtNum* old;      // dt of the equations that are factored                                 (n)
  mjtNum* answers;  // of dt to the right sides of these joints                  (mjgpUPDATES x n)
  mjtNum* rows;     // their equations                                           (mjgpUPDATES x n)
  mjtNum right[mjgpUPDATES];
} mjgpPath;


//---------------------------------- joints ---------------------------------------------------------

static mjtNum ratio(const mjgpPath* p, int i, int s) {
  const mjgpGears* g = p->s->g;
  int joint = p->s->group->joint[i];
  return mjgi_lawRatio(g->in.static_ratio[joint], g->in.v[joint], s);
}


// trial torque and load of each joint at s->a, s->t and x
static void evaluateJoints(mjgpPath* p) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    s->shift[i] = (p->x - 1) * p->free[i];
    mjtNum v = g->in.v[joint] + s->shift[i] + h * s->acc[i];
    p->trial[i] = s->t[i] + mjgp_slip(g, joint, v, s->t[i]) / (h * p->c[i]);
    p->lambda[i] =
        mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], mjgp_torqueIn(s, i), s->t[i]);
  }
}


// map of joint i there, on its piece
static mjtNum mapOf(const mjgpPath* p, int i) {
  const mjgpGears* g = p->s->g;
  mjtNum t = p->s->t[i], coulomb = g->in.coulomb[p->s->group->joint[i]];
  if (!p->side[i]) {
    return t - p->trial[i];
  }
  return t - p->side[i] * ratio(p, i, p->side[i]) * (p->load[i] * p->lambda[i] + coulomb);
}


// equation of joint i on its piece, with friction in units; returns its right side
static mjtNum makeRow(const mjgpPath* p, mjtNum* restrict row, int i) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  int n = p->n, ld = s->group->ld, joint = s->group->joint[i], e = s->group->extra[i];
  const mjtNum *W = s->W + i * ld, *other = e >= 0 ? s->W + (n + e) * ld : NULL;
  const mjtNum* restrict unit = p->unit;
  mjtNum h = s->m->opt.timestep, scale = 1 / unit[i];
  mjtNum own = p->answer[i] - p->free[i] / h;  // less the acceleration that x brings
  if (!p->side[i]) {
    mjtNum share = scale / p->c[i];
    for (int j = 0; j < n; j++) {
      row[j] = share * W[j] * unit[j];
    }
    row[i] += g->in.compliance[joint] / (h * p->c[i]);
    return -scale * p->F[i] - share * own;
  }
  mjtNum factor = p->side[i] * ratio(p, i, p->side[i]) * p->load[i], inertia = g->in.inertia[joint];
  mjtNum gamma = factor * (g->in.gamma_u[joint] + g->in.gamma_v[joint]);
  for (int j = 0; j < n; j++) {
    row[j] = -scale * gamma * inertia * W[j] * unit[j];
  }
  for (int j = 0; j < n && other; j++) {
    row[j] -= scale * gamma * other[j] * unit[j];
  }
  row[i] += 1 + factor * g->in.gamma_v[joint];
  return scale * (-p->F[i] + gamma * (inertia * own + (e >= 0 ? p->answer[n + e] : 0)));
}


// dt from all equations; 0 if they are singular
static int solveAll(mjgpPath* p) {
  p->nchange = 0;
  for (int i = 0; i < p->n; i++) {
    p->dt[i] = makeRow(p, p->K + i * mjgi_simdEnd(p->n), i);
  }
  int regular = mjgi_lu(p->K, p->dt, p->pivot, p->n);
  mju_copy(p->old, p->dt, p->n);
  return regular;
}


// dt where joint i alone has changed sides: what is factored, and what makes up for the equations that are others now,
// dt = old + sum of w answers with rows dt = right. Returns 0 if they are too many or singular
static int solveChanged(mjgpPath* p, int i) {
  int n = p->n, ld = mjgi_simdEnd(n), k = 0;
  _Alignas(64) mjtNum G[mjgpUPDATES * mjgpUPDATES] = {0}, w[mjgpUPDATES];
  int pivot[mjgpUPDATES];
  while (k < p->nchange && p->change[k] != i) {
    k++;
  }
  if (k == mjgpUPDATES) {
    return 0;
  }
  if (k == p->nchange) {
    p->change[p->nchange++] = i;
    mju_zero(p->answers + k * ld, ld);
    p->answers[k * ld + i] = 1;
    mjgi_luSolve(p->answers + k * ld, p->K, p->pivot, n);
  }
  p->right[k] = makeRow(p, p->rows + k * ld, i);
  for (int j = 0; j < p->nchange; j++) {
    const mjtNum* row = p->rows + j * ld;
    w[j] = p->right[j] - mju_dot(row, p->old, n);
    for (int l = 0; l < p->nchange; l++) {
      G[j * mjgi_simdEnd(p->nchange) + l] = mju_dot(row, p->answers + l * ld, n);
    }
  }
  if (!mjgi_lu(G, w, pivot, p->nchange)) {
    return 0;
  }
  mju_copy(p->dt, p->old, n);
  for (int j = 0; j < p->nchange; j++) {
    mju_addToScl(p->dt, p->answers + j * ld, w[j], n);
  }
  return 1;
}


// direction of the line: dt, da and what follows from them for growing x; changed: the joint that alone has changed sides
// since the last one, -1: more has changed. 0 if there is none
static int direct(mjgpPath* p, int changed) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  int n = p->n, nv = group->nv;
  mjtNum h = s->m->opt.timestep;
  if ((changed < 0 || !solveChanged(p, changed)) && !solveAll(p)) {
    return 0;
  }

  // friction, a, rows, trial torque and load
  for (int i = 0; i < n; i++) {
    p->dt[i] *= p->unit[i];
  }
  mju_copy(p->da, p->G, nv);
  mjgp_addGears(group, p->da, p->dt);
  mju_scl(p->da, p->da, -1, nv);
  mjgp_solveHessian(s, p->da);
  mjgp_mulJacobian(group, p->djar, p->da);
  mjgp_accelerationsOf(s, p->dacc, p->da);
  for (int i = 0; i < n; i++) {
    int joint = group->joint[i], e = group->extra[i];
    mjtNum a = p->dacc[i] + p->free[i] / h;
    mjtNum du = -g->in.inertia[joint] * a - (e >= 0 ? p->dacc[n + e] : 0);
    p->dlambda[i] = mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], du, p->dt[i]);
    p->dtrial[i] = p->dt[i] + (h * a - g->in.compliance[joint] * p->dt[i]) / (h * p->c[i]);
  }
  return 1;
}


//---------------------------------- ends of pieces -------------------------------------------------

static int isDry(const mjgpGroup* group, int row) {
  return row >= group->ne && row < group->ne + group->nf;
}


// does a piece have this end
static int hasEnd(const mjgpPath* p, mjgpEnd end, int i) {
  const mjgpGroup* group = p->s->group;
  int side = end >= mjgpEND_LOAD ? p->side[i] : 0;
  switch (end) {
    case mjgpEND_ROW:
      return i >= group->ne && !(isDry(group, i) && group->state[i] == mjCNSTRSTATE_LINEARNEG);
    case mjgpEND_DRY:
      return isDry(group, i) && group->state[i] != mjCNSTRSTATE_LINEARPOS;
    case mjgpEND_ABOVE:
      return side >= 0;
    case mjgpEND_BELOW:
      return side <= 0;
    default:
      return 1;
  }
}


// value and slope of the function of an end, positive on the piece
static void endAt(mjtNum* value, mjtNum* slope, const mjgpPath* p, mjgpEnd end, int i) {
  const mjgpGroup* group = p->s->group;
  if (end == mjgpEND_LOAD) {
    *value = p->load[i] * p->lambda[i];
    *slope = p->load[i] * p->dlambda[i];
    return;
  }
  if (end == mjgpEND_ROW || end == mjgpEND_DRY) {
    mjtNum edge = isDry(group, i) ? group->R[i] * group->floss[i] : 0;
    int sign = end == mjgpEND_ROW ? 1 : -1;
    sign *= group->state[i] == mjCNSTRSTATE_QUADRATIC ? -1 : 1;
    *value = sign * group->jar[i] - (group->state[i] == mjCNSTRSTATE_QUADRATIC ? -edge : edge);
    *slope = sign * p->djar[i];
    return;
  }
  int direction = end == mjgpEND_ABOVE ? 1 : -1, sign = p->side[i] ? -1 : 1;
  mjtNum r = ratio(p, i, direction), coulomb = p->s->g->in.coulomb[group->joint[i]];
  *value = sign * (r * (p->load[i] * p->lambda[i] + coulomb) - direction * p->trial[i]);
  *slope = sign * (r * p->load[i] * p->dlambda[i] - direction * p->dtrial[i]);
}


// go to the piece behind an end
static void cross(mjgpPath* p, mjgpEnd end, int i) {
  int* state = p->s->group->state + i;
  switch (end) {
    case mjgpEND_ROW:
    case mjgpEND_DRY:
      if (*state != mjCNSTRSTATE_QUADRATIC) {
        *state = mjCNSTRSTATE_QUADRATIC;
      } else if (isDry(p->s->group, i)) {
        *state = end == mjgpEND_ROW ? mjCNSTRSTATE_LINEARPOS : mjCNSTRSTATE_LINEARNEG;
      } else {
        *state = mjCNSTRSTATE_SATISFIED;
      }
      break;
    case mjgpEND_LOAD:
      p->load[i] = -p->load[i];
      break;
    default:
      p->side[i] = p->side[i] ? 0 : end == mjgpEND_ABOVE ? 1 : -1;
  }
}


// length of the line in direction sign, as growth of x, and the end that it meets
static mjtNum lineLength(mjgpEnd* end, int* which, const mjgpPath* p, int sign) {
  mjtNum length = INFINITY;
  *end = mjgpEND_NONE;
  for (int e = mjgpEND_ROW; e <= mjgpEND_BELOW; e++) {
    int count = e >= mjgpEND_LOAD ? p->n : p->s->group->nefc;
    for (int i = 0; i < count; i++) {
      mjtNum value, slope;
      if (!hasEnd(p, (mjgpEnd)e, i)) {
        continue;
      }
      endAt(&value, &slope, p, (mjgpEnd)e, i);
      if (sign * slope < 0 && value < -length * sign * slope) {
        length = mju_max(0, value / (-sign * slope));
        *end = (mjgpEnd)e;
        *which = i;
      }
    }
  }
  return length;
}


//---------------------------------- the path -------------------------------------------------------

// the linearization at the states of the rows, and what the gradient at the start does there
static int relinearize(mjgpPath* p) {
  mjgpStep* s = p->s;
  int nv = s->group->nv;
  if (!mjgp_relinearize(s) && !mjgp_linearize(s)) {
    return 0;
  }
  mj_markStack(s->d);
  mjtNum* x = mj_stackAllocNum(s->d, (size_t)mjgi_simdEnd(nv));
  mju_zero(x, mjgi_simdEnd(nv));
  mju_copy(x, p->G, nv);
  mjgp_solveHessian(s, x);
  mjgp_accelerationsOf(s, p->answer, x);
  mj_freeStack(s->d);
  return 1;
}


// has the path been on these pieces before: all of a combination of pieces is one line, so that it goes in a circle
// then. They are compared with those at the last power of two (Brent)
static int isCircle(mjgpPath* p, int k) {
  const int *state = p->s->group->state, *mark = p->mark;
  size_t nefc = sizeof(int) * (size_t)p->s->group->nefc, n = sizeof(int) * (size_t)p->n;
  int rows = p->s->group->nefc;
  if (k && !memcmp(mark, state, nefc) && !memcmp(mark + rows, p->side, n) &&
      !memcmp(mark + rows + p->n, p->load, n)) {
    return 1;
  }
  if (!(k & (k - 1))) {
    memcpy(p->mark, state, nefc);
    memcpy(p->mark + rows, p->side, n);
    memcpy(p->mark + rows + p->n, p->load, n);
  }
  return 0;
}


// follow the path to x = 1; 1 if it arrives
static int follow(mjgpPath* p, int most) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int sign = 1, which = -1, changed = -1;
  mjgpEnd end = mjgpEND_NONE;
  for (int k = 0; k < most; k++) {
    mjtNum value, slope;
    if (isCircle(p, k) || !direct(p, changed)) {
      return 0;
    }

    // away from the end of the last line
    if (end) {
      endAt(&value, &slope, p, end, which);
      sign = slope >= 0 ? 1 : -1;
    }
    mjtNum length = lineLength(&end, &which, p, sign);
    int arrived = sign > 0 && p->x + length >= 1;
    length = arrived ? 1 - p->x : length;
    if (!(length < 1e6)) {
      return 0;
    }
    p->x = arrived ? 1 : p->x + sign * length;
    mju_addToScl(s->a, p->da, sign * length, group->nv);
    mju_addToScl(s->t, p->dt, sign * length, p->n);
    mjgp_residual(group, group->jar, s->a);
    evaluateJoints(p);
    if (arrived) {
      return 1;
    }
    cross(p, end, which);
    changed = end >= mjgpEND_LOAD ? which : -1;
    if (changed < 0 && !relinearize(p)) {
      return 0;
    }
  }
  return 0;
}


static void allocate(mjgpPath* p, mjgpStep* s) {
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(s->group->nv), ld = (size_t)s->group->ld;
  *p = (mjgpPath){.s = s, .n = s->n};
  mjtNum* number = mj_stackAllocNum(s->d, 10 * n + 2 * nv + 2 * ld + (size_t)s->group->nefc +
                                              (n + 2 * mjgpUPDATES) * (size_t)mjgi_simdEnd(s->n));
  p->G = number;
  p->da = p->G + nv;
  p->answer = p->da + nv;
  p->dacc = p->answer + ld;
  p->c = p->dacc + ld;
  p->free = p->c + n;
  p->F = p->free + n;
  p->dt = p->F + n;
  p->trial = p->dt + n;
  p->dtrial = p->trial + n;
  p->lambda = p->dtrial + n;
  p->dlambda = p->lambda + n;
  p->old = p->dlambda + n;
  p->unit = p->old + n;
  p->djar = p->unit + n;
  p->K = p->djar + s->group->nefc;
  p->answers = p->K + s->n * mjgi_simdEnd(s->n);
  p->rows = p->answers + mjgpUPDATES * mjgi_simdEnd(s->n);
  mju_zero(p->K, s->n * mjgi_simdEnd(s->n));
  p->side = mj_stackAllocInt(s->d, 5 * n + (size_t)s->group->nefc);
  p->mark = p->side + 3 * n;
  p->pivot = p->side + 2 * n;
  p->load = p->side + n;
  mju_zero(p->G, (int)(2 * nv));
}


// from s->a and s->t, linearized there; moving: velocities without friction come with x
static int start(mjgpPath* p, int flg_rest) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  p->x = 0;
  mju_zero(p->free, p->n);
  mju_zero(s->shift, p->n);
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    p->c[i] = mjgp_stepSize(s, i);
    p->unit[i] = 1 / mju_sqrt(p->c[i]);
    if (flg_rest) {
      p->free[i] = mjgp_slip(g, joint, g->in.v[joint] + h * s->acc[i], s->t[i]);
    }
  }
  evaluateJoints(p);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    int piece = flg_rest ? mjgiSTUCK
                         : mjgi_lawProject(p->trial[i], p->lambda[i], g->in.coulomb[joint],
                                           ratio(p, i, 1), ratio(p, i, -1));
    p->side[i] = mjgi_pieceDirection(piece);
    p->load[i] = p->lambda[i] >= 0 ? 1 : -1;
    p->F[i] = mapOf(p, i);
  }
  mjgp_gradient(s->group, p->G, NULL, s->a, s->t);
  mju_zero(p->G + s->group->nv, mjgi_simdEnd(s->group->nv) - s->group->nv);
  return relinearize(p);
}


int mjgp_pivotOn(mjgpStep* s) {
  mjgpPath path;
  int solved = 0;
  if (!mjgp_isPivoting(s)) {
    return 0;
  }
  mj_markStack(s->d);
  allocate(&path, s);
  mjgp_evaluate(s);
  solved = mjgp_linearize(s) && start(&path, 0) && follow(&path, s->n + s->group->nefc);
  mju_zero(s->shift, s->n);
  mj_freeStack(s->d);
  return solved && mjgp_polish(s);
}


// from rest; s->a and s->t at the end
static int followRest(mjgpPath* path, int most) {
  mjgpStep* s = path->s;
  mju_zero(s->t, s->n);
  return mjgp_inner(s, s->t) && start(path, 1) && follow(path, most);
}


// the same where constraints and integrator move in one metric, that of the constraints: there is a solution, near that in
// both where they are near
static int followOneMetric(mjgpPath* path, int most) {
  mjgpStep* s = path->s;
  mjtNum *rows = s->rows, *left = s->left;
  s->rows = NULL;
  s->left = s->right;
  s->factors = 0;
  int arrived = followRest(path, most);
  s->rows = rows;
  s->left = left;
  s->factors = 0;
  mju_zero(s->shift, s->n);
  return arrived;
}


int mjgp_pivotRest(mjgpStep* s) {
  mjgpPath path;
  int most = mjgpENDS * (s->n + s->group->nefc);
  if (!mjgp_isPivoting(s)) {
    return 0;
  }
  mj_markStack(s->d);
  allocate(&path, s);
  int solved = followRest(&path, most);

  // in two metrics the path may come back to its start
  if (!solved && s->rows && followOneMetric(&path, most)) {
    mjgp_evaluate(s);
    solved = mjgp_linearize(s) && start(&path, 0) && follow(&path, most);
  }
  mju_zero(s->shift, s->n);
  mj_freeStack(s->d);
  return solved && mjgp_polish(s);
}


void mjgp_pivotOneMetric(mjgpStep* s) {
  mjgpPath path;
  if (!mjgp_isPivoting(s) || !s->rows) {
    return;
  }
  mj_markStack(s->d);
  allocate(&path, s);
  mjtNum* last = mj_stackAllocNum(s->d, (size_t)s->n);
  mju_copy(last, s->t, s->n);
  s->newton_steps = 0;
  if (!followOneMetric(&path, mjgpENDS * (s->n + s->group->nefc))) {
    mju_copy(s->t, last, s->n);
  }
  mj_freeStack(s->d);
}

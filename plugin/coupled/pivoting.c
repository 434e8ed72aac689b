#include "coupled/pivoting.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "coupled/fallback.h"
#include "coupled/natural_map.h"
#include "coupled/zones.h"
#include "friction/friction.h"
#include "law/law.h"
#include "solvers/dense.h"

#define mjgpENDS    40   // most ends of pieces on a path from rest, times rows and joints
#define mjgpUPDATES 100  // changes of the inverse of the joints' equations before it is made anew
#define mjgpNEARLY \
  1e-8  // of the terms of a change: what is left of them makes the equations nearly singular
#define mjgpTURN    0.3   // tangent of the angle by which a contact that slides may turn on a line,
#define mjgpTURNED  0.5   // and of that by which it may have turned since the linearization
#define mjgpVISITED 1024  // combinations of pieces that are remembered
#define mjgpSAME    1e-10  // difference of x at which a path with contacts that turn is where it was
#define mjgpNEAR \
  1e-6  // lengths of the path by which it may be missed: this, and of the line before
#define mjgpLESS    0.1
#define mjgpCORRECT 4     // steps back to it
#define mjgpSHRINK  0.25  // of a line that missed it by more
#define mjgpLEAST   1e-4  // shortest of them
#define mjgpBESIDE \
  1e-6  // of a contact's residual: so near to an end of its zone it may be on either side
#define mjgpBACK   8   // times that a path may be missed
#define mjgpARRIVE 10  // steps to the end of a path that is not straight

// where a piece may end: a function that is positive on it
typedef enum mjgpEnd_ {
  mjgpEND_NONE = 0,
  mjgpEND_ROW,    // of a row: J a - aref at the edge where it ceases to act or begins to
  mjgpEND_DRY,    // of dry friction, which has two: the lower one
  mjgpEND_LOAD,   // of a joint: its load changes sign
  mjgpEND_ABOVE,  // its trial torque at the upper bound
  mjgpEND_BELOW,  // its trial torque at the lower bound
  mjgpEND_UPPER,  // of a zone of an elliptic cone: where it ceases to act
  mjgpEND_LOWER,  // where it begins to slide, or ceases to
  mjgpEND_TURN,   // none: a contact that slides has turned
} mjgpEnd;

// residuals that a line takes away
typedef struct mjgpResidual_ {
  mjtNum* G;       // gradient                                                     (nv)
  mjtNum* F;       // map                                                          (n)
  mjtNum* free;    // velocity that is added                                       (n)
  mjtNum* answer;  // change of acceleration by the gradient, at the linearization (ld)
} mjgpResidual;

typedef struct mjgpPath_ {
  mjgpStep* s;
  int n;
  mjtNum x;
  mjtNum* c;           // velocity change per second that a torque counts as in the map     (n)
  mjtNum* unit;        // of friction, in which joints of any size are alike                  (n)
  mjgpResidual begin;  // at the start, of which x takes away a share
  mjgpResidual error;  // what contacts that turn have left
  mjgpResidual* goal;  // one of them: what the line in hand takes away
  mjtNum* turned;      // residual of the rows at the linearization                        (nefc)
  int* cone;           // first row of each elliptic contact                          (ncone)
  int sign;            // of the determinant of the joints' equations
  uint64_t* visited;   // combinations of pieces that the path was on      (mjgpVISITED)
  mjtNum* visited_x;   // and where                                        (mjgpVISITED)
  mjtNum size;         // of what is to be taken away, in units
  int* pivot;          // scratch                                                           (n)
  int* side;           // of each joint: -1 slips backward, 0 stuck, 1 slips forward        (n)
  int* load;           // sign of its load                                                  (n)

  // along the line
  mjtNum* da;       // acceleration                                                      (nv)
  mjtNum* dt;       // friction                                                          (n)
  mjtNum* djar;     // constraint rows                                                   (nefc)
  mjtNum* dacc;     // velocity change per second of joints                              (ld)
  mjtNum* trial;    // trial torque                                                      (n)
  mjtNum* dtrial;   //                                                                   (n)
  mjtNum* lambda;   // load                                                              (n)
  mjtNum* dlambda;  //                                                                   (n)

  // equations of the joints
  int updates;      // changes of the inverse since it was made
  mjtNum* K;        // as they are                                                     (n x n)
  mjtNum* inverse;  // of them                                                         (n x n)
  mjtNum* next;     // as they come to be                                              (n x n)
  mjtNum* column;   // a change of rank one: column times row                          (n)
  mjtNum* row;      //                                                                 (n)
  mjtNum* effect;   // scratch                                                         (n)
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
    s->shift[i] = (p->x - 1) * p->begin.free[i];
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


// equation of joint i on its piece, with friction in units
static void makeRow(const mjgpPath* p, mjtNum* restrict row, int i) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  int n = p->n, ld = s->group->ld, joint = s->group->joint[i], e = s->group->extra[i];
  const mjtNum *W = s->W + i * ld, *other = e >= 0 ? s->W + (n + e) * ld : NULL;
  const mjtNum* restrict unit = p->unit;
  mjtNum scale = 1 / unit[i];
  if (!p->side[i]) {
    mjtNum share = scale / p->c[i];
    for (int j = 0; j < n; j++) {
      row[j] = share * W[j] * unit[j];
    }
    row[i] += g->in.compliance[joint] / (s->m->opt.timestep * p->c[i]);
    return;
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
}


// its right side
static mjtNum rightSide(const mjgpPath* p, int i) {
  const mjgpGears* g = p->s->g;
  const mjgpResidual* goal = p->goal;
  int joint = p->s->group->joint[i], e = p->s->group->extra[i];
  mjtNum scale = 1 / p->unit[i], F = goal->F[i];
  mjtNum own = goal->answer[i] - goal->free[i] / p->s->m->opt.timestep;  // less what x brings
  if (!p->side[i]) {
    return scale * (-F - own / p->c[i]);
  }
  mjtNum factor = p->side[i] * ratio(p, i, p->side[i]) * p->load[i];
  mjtNum gamma = factor * (g->in.gamma_u[joint] + g->in.gamma_v[joint]);
  return scale *
         (-F + gamma * (g->in.inertia[joint] * own + (e >= 0 ? goal->answer[p->n + e] : 0)));
}


// all equations and their inverse; 0 if they are singular
static int invert(mjgpPath* p) {
  int n = p->n;
  for (int i = 0; i < n; i++) {
    makeRow(p, p->K + i * n, i);
  }
  mju_copy(p->inverse, p->K, n * n);
  p->updates = 0;
  p->sign = mjgi_inverse(p->inverse, p->pivot, n);
  return p->sign;
}


// take up a change of K by p->column times p->row; 0 if that makes it nearly singular
static int update(mjgpPath* p) {
  int n = p->n;
  mjtNum pivot = 1, size = 1;
  if (++p->updates > mjgpUPDATES) {
    return 0;
  }
  mjgi_mulMatVec(p->effect, p->inverse, p->column, n);
  mju_zero(p->column, n);
  for (int i = 0; i < n; i++) {
    mjtNum term = p->row[i] * p->effect[i];
    pivot += term;
    size += mju_abs(term);
    mju_addToScl(p->column, p->inverse + i * n, p->row[i], n);
  }
  if (!(mju_abs(pivot) > mjgpNEARLY * size)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    mju_addToScl(p->inverse + i * n, p->column, -p->effect[i] / pivot, n);
  }
  p->sign = pivot < 0 ? -p->sign : p->sign;
  return 1;
}


// take up that joint i alone has changed sides
static int changeSide(mjgpPath* p, int i) {
  int n = p->n;
  mju_copy(p->row, p->K + i * n, n);
  makeRow(p, p->K + i * n, i);
  mju_sub(p->row, p->K + i * n, p->row, n);
  mju_zero(p->column, n);
  p->column[i] = 1;
  return update(p) || invert(p);
}


// take up that a row alone has changed its state, which is a change of rank one of W and so of K
static int changeRow(mjgpPath* p) {
  int n = p->n, which = 0;
  mjtNum most = 0, *K = p->next;
  for (int i = 0; i < n; i++) {
    makeRow(p, K + i * n, i);
    mju_sub(p->row, K + i * n, p->K + i * n, n);
    mjtNum size = mju_dot(p->row, p->row, n);
    which = size > most ? i : which;
    most = mju_max(size, most);
  }
  mju_sub(p->row, K + which * n, p->K + which * n, n);
  int j = 0;
  for (int i = 0; i < n; i++) {
    j = mju_abs(p->row[i]) > mju_abs(p->row[j]) ? i : j;
  }
  for (int i = 0; i < n; i++) {
    p->column[i] = most > 0 ? (K[i * n + j] - p->K[i * n + j]) / p->row[j] : 0;
  }
  p->next = p->K;
  p->K = K;
  return most == 0 || update(p) || invert(p);
}


// the line that takes away p->goal: dt, da and what follows from them
static void direct(mjgpPath* p) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  int n = p->n, nv = group->nv;
  mjtNum h = s->m->opt.timestep;

  // friction, a, rows, trial torque and load
  for (int i = 0; i < n; i++) {
    p->effect[i] = rightSide(p, i);
  }
  mjgi_mulMatVec(p->dt, p->inverse, p->effect, n);
  for (int i = 0; i < n; i++) {
    p->dt[i] *= p->unit[i];
  }
  mju_copy(p->da, p->goal->G, nv);
  mjgp_addGears(group, p->da, p->dt);
  mju_scl(p->da, p->da, -1, nv);
  mjgp_solveHessian(s, p->da);
  mjgp_mulJacobian(group, p->djar, p->da);
  mjgp_accelerationsOf(s, p->dacc, p->da);
  for (int i = 0; i < n; i++) {
    int joint = group->joint[i], e = group->extra[i];
    mjtNum a = p->dacc[i] + p->goal->free[i] / h;
    mjtNum du = -g->in.inertia[joint] * a - (e >= 0 ? p->dacc[n + e] : 0);
    p->dlambda[i] = mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], du, p->dt[i]);
    p->dtrial[i] = p->dt[i] + (h * a - g->in.compliance[joint] * p->dt[i]) / (h * p->c[i]);
  }
}


//---------------------------------- ends of pieces -------------------------------------------------

static int isDry(const mjgpGroup* group, int row) {
  return row >= group->ne && row < group->ne + group->nf;
}


static int isJoint(mjgpEnd end) {
  return end >= mjgpEND_LOAD && end <= mjgpEND_BELOW;
}


static int boundaryOf(mjgpEnd end) {
  return end == mjgpEND_UPPER ? mjgpBOUNDARY_UPPER : mjgpBOUNDARY_LOWER;
}


// does a piece have this end
static int hasEnd(const mjgpPath* p, mjgpEnd end, int i) {
  const mjgpGroup* group = p->s->group;
  int side = isJoint(end) ? p->side[i] : 0;
  switch (end) {
    case mjgpEND_ROW:
      return i >= group->ne && group->type[i] != mjCNSTR_CONTACT_ELLIPTIC &&
             !(isDry(group, i) && group->state[i] == mjCNSTRSTATE_LINEARNEG);
    case mjgpEND_DRY:
      return isDry(group, i) && group->state[i] != mjCNSTRSTATE_LINEARPOS;
    case mjgpEND_ABOVE:
      return side >= 0;
    case mjgpEND_BELOW:
      return side <= 0;
    case mjgpEND_UPPER:
    case mjgpEND_LOWER:
      return mjgp_hasBoundary(group->state[p->cone[i]], boundaryOf(end));
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
  if (!isJoint(end)) {
    int row = p->cone[i];
    mjgp_boundaryAt(value, slope, group->contact[i], group->state[row], boundaryOf(end),
                    group->jar + row, p->djar + row);
    return;
  }
  int direction = end == mjgpEND_ABOVE ? 1 : -1, sign = p->side[i] ? -1 : 1;
  mjtNum r = ratio(p, i, direction), coulomb = p->s->g->in.coulomb[group->joint[i]];
  *value = sign * (r * (p->load[i] * p->lambda[i] + coulomb) - direction * p->trial[i]);
  *slope = sign * (r * p->load[i] * p->dlambda[i] - direction * p->dtrial[i]);
}


// go to the piece behind an end
static void cross(mjgpPath* p, mjgpEnd end, int i) {
  int cone = end >= mjgpEND_UPPER, *state = p->s->group->state + (cone ? p->cone[i] : i);
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
    case mjgpEND_UPPER:
    case mjgpEND_LOWER: {
      int behind = mjgp_zoneBehind(*state, boundaryOf(end));
      for (int j = 0; j < p->s->group->contact[i]->dim; j++) {
        state[j] = behind;
      }
      break;
    }
    default:
      p->side[i] = p->side[i] ? 0 : end == mjgpEND_ABOVE ? 1 : -1;
  }
}


// length of the line in direction sign, as growth of x, and the end that it meets
static mjtNum lineLength(mjgpEnd* end, int* which, const mjgpPath* p, int sign) {
  const mjgpGroup* group = p->s->group;
  mjtNum length = INFINITY;
  *end = mjgpEND_NONE;
  for (int e = mjgpEND_ROW; e <= mjgpEND_BELOW; e++) {
    int count = e >= mjgpEND_LOAD ? p->n : group->nefc;
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

  // zones of cones, and how far a contact that slides may turn
  for (int k = 0; k < group->ncone; k++) {
    int row = p->cone[k], zone = group->state[row];
    for (int e = mjgpEND_UPPER; e <= mjgpEND_TURN; e++) {
      mjtNum until = INFINITY;
      if (e < mjgpEND_TURN && hasEnd(p, (mjgpEnd)e, k)) {
        until = mjgp_boundaryDistance(group->contact[k], zone, boundaryOf((mjgpEnd)e),
                                      group->jar + row, p->djar + row, sign);
      } else if (e == mjgpEND_TURN && zone == mjCNSTRSTATE_CONE) {
        until =
            mjgp_turnDistance(group->contact[k], group->jar + row, p->djar + row, sign, mjgpTURN);
      }
      if (until < length) {
        length = until;
        *end = (mjgpEnd)e;
        *which = k;
      }
    }
  }
  return length;
}


//---------------------------------- the path -------------------------------------------------------

static int hasSliding(const mjgpPath* p) {
  for (int k = 0; k < p->s->group->ncone; k++) {
    if (p->s->group->state[p->cone[k]] == mjCNSTRSTATE_CONE) {
      return 1;
    }
  }
  return 0;
}


// change of acceleration by a gradient, at the linearization
static void answerGradient(mjgpPath* p, mjgpResidual* residual) {
  mjgpStep* s = p->s;
  int nv = s->group->nv;
  mj_markStack(s->d);
  mjtNum* x = mj_stackAllocNum(s->d, (size_t)mjgi_simdEnd(nv));
  mju_zero(x, mjgi_simdEnd(nv));
  mju_copy(x, residual->G, nv);
  mjgp_solveHessian(s, x);
  mjgp_accelerationsOf(s, residual->answer, x);
  mj_freeStack(s->d);
}


// have contacts that slide turned since the linearization
static int hasTurned(const mjgpPath* p) {
  const mjgpGroup* group = p->s->group;
  for (int k = 0; k < group->ncone; k++) {
    int row = p->cone[k];
    if (group->state[row] == mjCNSTRSTATE_CONE &&
        !(mjgp_turn(group->contact[k], p->turned + row, group->jar + row) < mjgpTURNED)) {
      return 1;
    }
  }
  return 0;
}


// the linearization at the states of the rows, and what the gradient at the start does there; contacts that have turned
// little stay as they are. flg_row: one row has changed its state, and nothing else
static int relinearize(mjgpPath* p, int flg_row) {
  mjgpStep* s = p->s;
  s->turning = !hasTurned(p);
  int done = mjgp_relinearize(s);
  s->turning = 0;
  if (!done) {
    if (!mjgp_linearize(s)) {
      return 0;
    }
    mju_copy(p->turned, s->group->jar, s->group->nefc);
  }
  answerGradient(p, &p->begin);
  return flg_row && (done || !hasSliding(p)) ? changeRow(p) : invert(p);
}


// product of two changes of friction and x, as lengths of the path count
static mjtNum product(const mjgpPath* p, const mjtNum* dt, mjtNum dx, const mjtNum* other,
                      mjtNum other_dx) {
  mjtNum sum = 0;
  for (int i = 0; i < p->n; i++) {
    sum += dt[i] * other[i] / (p->unit[i] * p->unit[i]);
  }
  return sum / (p->size * p->size) + dx * other_dx;
}


// where contacts have turned: the change da, dt that takes away what is left of the residual besides its share at x
static void findError(mjgpPath* p, mjtNum* da, mjtNum* dt) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int nv = group->nv;
  mjgp_forceInStates(group);
  mjgp_gradient(group, p->error.G, NULL, s->a, s->t);
  mju_addToScl(p->error.G, p->begin.G, p->x - 1, nv);
  for (int i = 0; i < p->n; i++) {
    p->error.F[i] = mapOf(p, i) - (1 - p->x) * p->begin.F[i];
  }
  answerGradient(p, &p->error);
  p->goal = &p->error;
  direct(p);
  p->goal = &p->begin;
  mju_copy(da, p->da, nv);
  mju_copy(dt, p->dt, p->n);
}


static void moveBy(mjgpPath* p, const mjtNum* da, const mjtNum* dt, mjtNum share) {
  mjgpStep* s = p->s;
  mju_addToScl(s->a, da, share, s->group->nv);
  mju_addToScl(s->t, dt, share, p->n);
  mjgp_residual(s->group, s->group->jar, s->a);
  evaluateJoints(p);
}


// contacts that have left their zones are in others now; returns their number
static int fitZones(mjgpPath* p) {
  mjgpGroup* group = p->s->group;
  int count = 0;
  for (int k = 0; k < group->ncone; k++) {
    int row = p->cone[k], zone = mjgp_zoneOf(group->contact[k], group->jar + row, mjgpBESIDE);
    if (zone >= 0 && zone != group->state[row]) {
      for (int j = 0; j < group->contact[k]->dim; j++) {
        group->state[row + j] = zone;
      }
      count++;
    }
  }
  return count;
}


// the linearization at this very point
static int linearizeHere(mjgpPath* p) {
  mjgp_forceInStates(p->s->group);
  if (!mjgp_linearize(p->s)) {
    return 0;
  }
  mju_copy(p->turned, p->s->group->jar, p->s->group->nefc);
  answerGradient(p, &p->begin);
  return invert(p);
}


// back to the path by the shortest way, from a line of this length, and the direction there. Returns 0 if it is not near
static int correct(mjgpPath* p, mjtNum length) {
  mjgpStep* s = p->s;
  mj_markStack(s->d);
  mjtNum *da = mj_stackAllocNum(s->d, (size_t)(s->group->nv + p->n)), *dt = da + s->group->nv;
  int done = 0;
  for (int k = 0; k < mjgpCORRECT && !done; k++) {
    if (k && !linearizeHere(p)) {
      break;
    }
    findError(p, da, dt);
    direct(p);
    mjtNum along = product(p, dt, 0, p->dt, 1) / product(p, p->dt, 1, p->dt, 1);
    mju_addToScl(da, p->da, -along, s->group->nv);
    mju_addToScl(dt, p->dt, -along, p->n);
    mjtNum error = mju_sqrt(product(p, dt, along, dt, along));
    if (k && !(error <= mjgpNEAR + length)) {
      break;
    }
    if (error <= mjgpNEAR + length) {
      p->x -= along;
      moveBy(p, da, dt, 1);
      done = !fitZones(p) && error <= mjgpNEAR + mjgpLESS * length;
    }
  }
  mj_freeStack(s->d);
  return done;
}


// has the path been on these pieces before: all of a combination of pieces is one line, so that it goes in a circle
// then; where contacts turn, it does where it comes to the same x a third time. Combinations are compared by a number that two of them do not share
// but by chance, one in 2^64 (Fowler, Noll, Vo)
static int isCircle(mjgpPath* p, int k) {
  const mjgpGroup* group = p->s->group;
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < group->nefc; i++) {
    hash = (hash ^ (uint64_t)group->state[i]) * 1099511628211u;
  }
  for (int i = 0; i < p->n; i++) {
    hash = (hash ^ (uint64_t)(4 * p->load[i] + p->side[i] + 8)) * 1099511628211u;
  }
  int count = 0;
  for (int i = 0; i < k && i < mjgpVISITED; i++) {
    count +=
        p->visited[i] == hash && (!group->ncone || mju_abs(p->x - p->visited_x[i]) <= mjgpSAME);
  }
  if (count > (group->ncone > 0)) {
    return 1;
  }
  p->visited[k % mjgpVISITED] = hash;
  p->visited_x[k % mjgpVISITED] = p->x;
  return 0;
}


// take up what is behind the end of a line; 0 if there is no linearization
static int takeUp(mjgpPath* p, mjgpEnd end, int which) {
  if (p->s->group->ncone) {
    mjgp_forceInStates(p->s->group);
  }
  if (isJoint(end)) {
    return changeSide(p, which);
  }
  return !end || (end == mjgpEND_TURN && !hasTurned(p)) ||
         relinearize(p, end == mjgpEND_ROW || end == mjgpEND_DRY);
}


// pieces of the joints where they are
static void setPieces(mjgpPath* p) {
  mjgpStep* s = p->s;
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    int piece = mjgi_lawProject(p->trial[i], p->lambda[i], s->g->in.coulomb[joint], ratio(p, i, 1),
                                ratio(p, i, -1));
    p->side[i] = mjgi_pieceDirection(piece);
    p->load[i] = p->lambda[i] >= 0 ? 1 : -1;
  }
}


// a path with elliptic contacts is not straight: to its end from nearby, by Newton steps on the pieces that are there
static int arrive(mjgpPath* p) {
  mjgpStep* s = p->s;
  int nv = s->group->nv, done = 1;
  mj_markStack(s->d);
  mjtNum *da = mj_stackAllocNum(s->d, (size_t)(nv + p->n)), *dt = da + nv, error = INFINITY;
  for (int k = 0; k < mjgpARRIVE && done && s->group->ncone && error > mjgpNEAR; k++) {
    mjgp_evaluate(s);
    setPieces(p);
    done = linearizeHere(p);
    if (done) {
      findError(p, da, dt);
      error = mju_sqrt(product(p, dt, 0, dt, 0));
      moveBy(p, da, dt, 1);
    }
  }
  mj_freeStack(s->d);
  return done;
}


// where a line began
typedef struct mjgpPoint_ {
  mjtNum x;
  mjtNum* a;   // (nv)
  mjtNum* t;   // (n)
  int* piece;  // of rows and joints                                     (nefc + 2 n)
} mjgpPoint;


// follow the path to x = 1; 1 if it arrives
// Long because it is one round of the path: take up, correct, direct, go on, cross
static int follow(mjgpPath* p, int most) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int first = 1, which = -1, back = 0, arrived = 0, nv = group->nv, n = p->n;
  mjgpEnd end = mjgpEND_NONE;
  mj_markStack(s->d);
  mjgpPoint place = {.a = mj_stackAllocNum(s->d, (size_t)(nv + n)),
                     .piece = mj_stackAllocInt(s->d, (size_t)(group->nefc + 2 * n))};
  place.t = place.a + nv;
  mjtNum longest = INFINITY, gone = 0;
  for (int k = 0; k < most && !arrived; k++) {
    if (isCircle(p, k) || !takeUp(p, end, which)) {
      break;
    }
    if (!k || !hasSliding(p)) {
      direct(p);
    } else if (!correct(p, gone)) {
      // back, and less far
      if (!(gone > mjgpLEAST) || ++back > mjgpBACK) {
        break;
      }
      longest = mjgpSHRINK * gone;
      p->x = place.x;
      mju_copy(s->a, place.a, nv);
      mju_copy(s->t, place.t, n);
      memcpy(group->state, place.piece, sizeof(int) * (size_t)group->nefc);
      memcpy(p->side, place.piece + group->nefc, sizeof(int) * (size_t)n);
      memcpy(p->load, place.piece + group->nefc + n, sizeof(int) * (size_t)n);
      mjgp_residual(group, group->jar, s->a);
      evaluateJoints(p);
      end = mjgpEND_TURN;
      if (!linearizeHere(p) || !correct(p, 1)) {
        break;
      }
    }

    // x grows where the determinant has the sign that it had at the start
    first = k ? first : p->sign;
    int sign = first * p->sign;
    place.x = p->x;
    mju_copy(place.a, s->a, nv);
    mju_copy(place.t, s->t, n);
    memcpy(place.piece, group->state, sizeof(int) * (size_t)group->nefc);
    memcpy(place.piece + group->nefc, p->side, sizeof(int) * (size_t)n);
    memcpy(place.piece + group->nefc + n, p->load, sizeof(int) * (size_t)n);

    mjtNum length = lineLength(&end, &which, p, sign);
    mjtNum rate = mju_sqrt(product(p, p->dt, 1, p->dt, 1));
    if (length * rate > longest && hasSliding(p)) {
      length = longest / rate;
      end = mjgpEND_TURN;
    }
    arrived = sign > 0 && p->x + length >= 1;
    length = arrived ? 1 - p->x : length;
    if (!(length < 1e6)) {
      arrived = 0;
      break;
    }
    gone = mju_max(length * rate,
                   mjgpSHRINK * gone);  // a line of no length has the error of those before it
    longest *= 2;
    p->x = arrived ? 1 : p->x + sign * length;
    moveBy(p, p->da, p->dt, sign * length);
    if (!arrived && end != mjgpEND_TURN) {
      cross(p, end, which);
    }
  }
  mj_freeStack(s->d);
  return arrived && arrive(p);
}


static mjtNum* placeResidual(mjgpResidual* residual, mjtNum* number, const mjgpStep* s) {
  residual->G = number;
  residual->answer = residual->G + mjgi_simdEnd(s->group->nv);
  residual->F = residual->answer + s->group->ld;
  residual->free = residual->F + s->n;
  return residual->free + s->n;
}


static void allocate(mjgpPath* p, mjgpStep* s) {
  const mjgpGroup* group = s->group;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv), ld = (size_t)group->ld;
  size_t nefc = (size_t)group->nefc;
  *p = (mjgpPath){.s = s, .n = s->n};
  p->goal = &p->begin;
  size_t size = 14 * n + 3 * nv + 3 * ld + 2 * nefc + 3 * n * n;
  mjtNum* number = mj_stackAllocNum(s->d, size + 2 * mjgpVISITED);
  mju_zero(number, (int)size);
  p->dacc = placeResidual(&p->error, placeResidual(&p->begin, number, s), s);
  p->da = p->dacc + ld;
  p->c = p->da + nv;
  p->unit = p->c + n;
  p->dt = p->unit + n;
  p->trial = p->dt + n;
  p->dtrial = p->trial + n;
  p->lambda = p->dtrial + n;
  p->dlambda = p->lambda + n;
  p->djar = p->dlambda + n;
  p->turned = p->djar + nefc;
  p->K = p->turned + nefc;
  p->inverse = p->K + n * n;
  p->next = p->inverse + n * n;
  p->column = p->next + n * n;
  p->row = p->column + n;
  p->effect = p->row + n;
  p->visited_x = p->effect + n;
  p->visited = (uint64_t*)(p->visited_x + mjgpVISITED);
  p->side = mj_stackAllocInt(s->d, 3 * n + (size_t)group->ncone);
  p->load = p->side + n;
  p->pivot = p->load + n;
  p->cone = p->pivot + n;
  for (int i = 0, k = 0; k < group->ncone; i++) {
    if (group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      p->cone[k] = i;
      i += group->contact[k++]->dim - 1;
    }
  }
}


// from s->a and s->t, linearized there; moving: velocities without friction come with x
static int start(mjgpPath* p, int flg_rest) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  p->x = 0;
  mju_zero(p->begin.free, p->n);
  mju_zero(s->shift, p->n);
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    p->c[i] = mjgp_stepSize(s, i);
    p->unit[i] = 1 / mju_sqrt(p->c[i]);
    if (flg_rest) {
      p->begin.free[i] = mjgp_slip(g, joint, g->in.v[joint] + h * s->acc[i], s->t[i]);
    }
  }
  evaluateJoints(p);
  setPieces(p);
  for (int i = 0; i < p->n; i++) {
    p->side[i] = flg_rest ? 0 : p->side[i];
    p->begin.F[i] = mapOf(p, i);
  }
  mjgp_gradient(s->group, p->begin.G, NULL, s->a, s->t);
  mju_zero(p->begin.G + s->group->nv, mjgi_simdEnd(s->group->nv) - s->group->nv);
  if (!relinearize(p, 0)) {
    return 0;
  }
  p->size = mjMINVAL;
  for (int i = 0; i < p->n; i++) {
    mjtNum right = rightSide(p, i);
    p->size += right * right;
  }
  p->size = mju_sqrt(p->size);
  return 1;
}


int mjgp_pivotOn(mjgpStep* s) {
  mjgpPath path;
  int solved = 0, most = 3 * (s->n + s->group->nefc) / 4;
  if (!mjgp_isPivoting(s)) {
    return 0;
  }
  mj_markStack(s->d);
  allocate(&path, s);
  mjgp_evaluate(s);
  solved = mjgp_linearize(s) && start(&path, 0) && follow(&path, most);
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

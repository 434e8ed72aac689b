#include "coupled/pivoting.h"

#include <math.h>
#include <string.h>

#include "coupled/fallback.h"
#include "coupled/natural_map.h"
#include "coupled/path.h"
#include "coupled/zones.h"
#include "friction/friction.h"
#include "solvers/dense.h"

#define mjgpENDS    40    // most ends of pieces on a path from rest, times rows and joints
#define mjgpFINER   10    // and times this on a fine one
#define mjgpSTARTS  5     // paths from elsewhere
#define mjgpVISITED 1024  // combinations of pieces that are remembered

// tangent of the angle by which a contact that slides may have turned since the linearization; none on a fine path
#define mjgpTURNED 0.5

// difference of x at which a path with contacts that turn is where it was
#define mjgpSAME 1e-10

// lengths of the path by which it may be missed: this, and this share of the line before
#define mjgpNEAR 1e-6
#define mjgpLESS 0.1

// steps back to it; what is left of a line that missed it by more, the shortest of them, and how often that may be
#define mjgpCORRECT 4
#define mjgpSHRINK  0.25
#define mjgpLEAST   1e-4
#define mjgpBACK    60

// of a contact's residual: so near to an end of its zone it may be on either side
#define mjgpBESIDE 1e-6

// steps to the end of a path that is not straight
#define mjgpARRIVE 10


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
        !(mjgp_turn(group->contact[k], p->turned + row, group->jar + row) <
          (p->fine ? 0 : mjgpTURNED))) {
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
  return flg_row && (done || !hasSliding(p)) ? mjgp_changeRow(p) : mjgp_invert(p);
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
    p->error.F[i] = mjgp_mapOf(p, i) - (1 - p->x) * p->begin.F[i];
  }
  answerGradient(p, &p->error);
  p->goal = &p->error;
  mjgp_direct(p);
  p->goal = &p->begin;
  mju_copy(da, p->da, nv);
  mju_copy(dt, p->dt, p->n);
}


static void moveBy(mjgpPath* p, const mjtNum* da, const mjtNum* dt, mjtNum share) {
  mjgpStep* s = p->s;
  mju_addToScl(s->a, da, share, s->group->nv);
  mju_addToScl(s->t, dt, share, p->n);
  mjgp_residual(s->group, s->group->jar, s->a);
  mjgp_evaluateJoints(p);
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
  return mjgp_invert(p);
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
    mjgp_direct(p);
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
// then; where contacts turn, it does where it comes to the same x a third time. Combinations are compared by a number
// that two of them do not share but by chance, one in 2^64 (Fowler, Noll, Vo)
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
  if (mjgp_isJointEnd(end)) {
    return mjgp_changeSide(p, which);
  }
  return !end || (end == mjgpEND_TURN && !hasTurned(p)) ||
         relinearize(p, end == mjgpEND_ROW || end == mjgpEND_DRY);
}


// pieces of the joints where they are
static void setPieces(mjgpPath* p) {
  for (int i = 0; i < p->n; i++) {
    int piece = mjgi_lawProject(p->trial[i], p->lambda[i], mjgp_coulombOf(p, i),
                                mjgp_ratioOf(p, i, 1), mjgp_ratioOf(p, i, -1));
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
      mjgp_direct(p);
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
      mjgp_evaluateJoints(p);
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

    mjtNum length = mjgp_lineLength(&end, &which, p, sign);
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
      mjgp_cross(p, end, which);
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
  residual->load = residual->free + s->n;
  residual->coulomb = residual->load + s->n;
  return residual->coulomb + s->n;
}


static void allocate(mjgpPath* p, mjgpStep* s) {
  const mjgpGroup* group = s->group;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv), ld = (size_t)group->ld;
  size_t nefc = (size_t)group->nefc;
  *p = (mjgpPath){.s = s, .n = s->n};
  p->goal = &p->begin;
  size_t size = 18 * n + 3 * nv + 3 * ld + 2 * nefc + 3 * n * n;
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


// where a path starts
typedef enum mjgpStart_ {
  mjgpSTART_HERE = 0,  // at s->a and s->t
  mjgpSTART_REST,      // at rest: velocities without friction come with x
  mjgpSTART_FAR,       // far from rest: so do motor torque, momentum of rotors and Coulomb friction
} mjgpStart;


// far from rest friction of gears is a matter of speed alone, or, where it grows with itself faster than its bound, holds
// joints whatever it is. There they are given friction that the motor will not overcome: few of them change sides on the way.
// s->a, s->t without friction become those of this start; 0 if that fails
static int goFar(mjgpPath* p) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep, most = 0;
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    mjtNum v = mjgp_slip(g, joint, g->in.v[joint] + h * s->acc[i], s->t[i]) / h;
    most += v * v / p->c[i];
  }
  most = mju_sqrt(most) + mjMINVAL;
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    mjtNum e = g->in.compliance[joint], v = g->in.v[joint] + h * s->acc[i];
    mjtNum gamma = g->in.gamma_u[joint] + g->in.gamma_v[joint];
    mjtNum slope = gamma * g->in.inertia[joint] / h, grows = g->in.gamma_v[joint] + slope * e;
    p->begin.load[i] =
        gamma * mjgp_torqueIn(s, i) + slope * (mjgp_slip(g, joint, v, s->t[i]) + e * s->t[i]);
    p->begin.coulomb[i] = g->in.coulomb[joint];
    int sign = p->begin.load[i] > 0 ? -1 : 1, holds = grows >= 1;

    // friction of the size that stops what moves; speed that belongs to it
    mjtNum t = sign * most * p->unit[i], own = holds ? 0 : slope / (1 - grows) * h * p->c[i];
    s->t[i] = holds ? t : t * own / (1 + own);
    p->begin.free[i] = holds ? 0 : -t * h * p->c[i] / (1 + own);
    p->side[i] = holds ? 0 : sign;
    p->load[i] = -sign;
  }
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    p->begin.free[i] += mjgp_slip(g, joint, g->in.v[joint] + h * s->acc[i], s->t[i]);
  }
  return 1;
}


// from s->a and s->t, linearized there
static int start(mjgpPath* p, mjgpStart kind) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  p->x = 0;
  mju_zero(p->begin.free, 3 * p->n);  // and load, and Coulomb friction
  mju_zero(s->shift, p->n);
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    p->c[i] = mjgp_stepSize(s, i);
    p->unit[i] = 1 / mju_sqrt(p->c[i]);
    if (kind == mjgpSTART_REST) {
      p->begin.free[i] = mjgp_slip(g, joint, g->in.v[joint] + h * s->acc[i], s->t[i]);
    }
  }
  if (kind == mjgpSTART_FAR && !goFar(p)) {
    return 0;
  }
  mjgp_evaluateJoints(p);
  if (kind != mjgpSTART_FAR) {
    setPieces(p);
  }
  for (int i = 0; i < p->n; i++) {
    p->side[i] = kind == mjgpSTART_REST ? 0 : p->side[i];
    p->begin.F[i] = mjgp_mapOf(p, i);
  }
  mjgp_gradient(s->group, p->begin.G, NULL, s->a, s->t);
  mju_zero(p->begin.G + s->group->nv, mjgi_simdEnd(s->group->nv) - s->group->nv);
  if (!relinearize(p, 0)) {
    return 0;
  }
  p->size = mjMINVAL;
  for (int i = 0; i < p->n; i++) {
    mjtNum right = mjgp_rightSide(p, i);
    p->size += right * right;
  }
  p->size = mju_sqrt(p->size);
  return 1;
}


// from friction s->t, from rest or from afar; s->a and s->t at the end
static int followFrom(mjgpPath* path, mjgpStart kind) {
  mjgpStep* s = path->s;
  int most = (path->fine ? mjgpFINER : 1) * mjgpENDS * (s->n + s->group->nefc);
  if (kind != mjgpSTART_HERE) {
    mju_zero(s->t, s->n);
  }
  return mjgp_inner(s, s->t) && start(path, kind) && follow(path, most);
}


// the same where constraints and integrator move in one metric, that of the constraints: there is a solution, near that in
// both where they are near
static int followOneMetric(mjgpPath* path) {
  mjgpStep* s = path->s;
  mjtNum *rows = s->rows, *left = s->left;
  s->rows = NULL;
  s->left = s->right;
  s->factors = 0;
  int arrived = followFrom(path, mjgpSTART_REST);
  s->rows = rows;
  s->left = left;
  s->factors = 0;
  return arrived;
}


int mjgp_followPath(mjgpStep* s) {
  mjgpPath path;
  int solved = 0, n = s->n, nv = s->group->nv;
  if (!mjgp_isPivoting(s)) {
    return 0;
  }
  mj_markStack(s->d);
  allocate(&path, s);
  mjtNum *t = mj_stackAllocNum(s->d, (size_t)(n + nv)), *a = t + n;
  mju_copy(t, s->t, n);
  mju_copy(a, s->a, nv);
  for (path.fine = 0; path.fine <= (s->group->ncone > 0) && !solved; path.fine++) {
    mju_copy(s->a, a, nv);
    solved = (s->rows && followFrom(&path, mjgpSTART_FAR) && mjgp_polish(s)) ||
             (followFrom(&path, mjgpSTART_REST) && mjgp_polish(s));
    if (!solved && s->rows && followOneMetric(&path)) {
      mju_copy(t, s->t, n);
    }

    // in two metrics a path may come back to its start, or lead away for ever, and around cones it may be lost. Then others
    // begin at the friction of one metric, and where one leads nowhere the next at the opposite of that where it stopped
    for (int k = 0; k < mjgpSTARTS && !solved; k++) {
      mju_scl(s->t, k ? s->t : t, k ? -1 : 1, n);
      solved = followFrom(&path, mjgpSTART_HERE) && mjgp_polish(s);
    }
  }
  if (!solved) {
    mju_copy(s->t, t, n);
    mju_copy(s->a, a, nv);
  }
  mj_freeStack(s->d);
  return solved;
}

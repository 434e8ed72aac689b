#include "solver/path.h"

#include <math.h>
#include <string.h>

#include "gear/tolerances.h"
#include "law/law.h"
#include "model/simd.h"
#include "solver/contact.h"
#include "solver/homotopy.h"
#include "solver/zones.h"

// breakpoints: zeros of functions that are positive on a piece
typedef enum mjgpEnd_ {
  mjgpEND_NONE = 0,
  mjgpEND_ROW,    // residual of a row at the edge between open and active
  mjgpEND_DRY,    // the lower one of the two edges of dry friction
  mjgpEND_LOAD,   // the load of a gear changes sign
  mjgpEND_ABOVE,  // stuck: friction at the upper bound; slips: no motion
  mjgpEND_BELOW,  // stuck: friction at the lower bound
  mjgpEND_SHAFT,  // the torque of a shaft leaves its tangent
  mjgpEND_UPPER,  // an elliptic contact opens or closes
  mjgpEND_LOWER,  // an elliptic contact starts or stops sliding
  mjgpEND_TURN,   // no change of zone: a sliding contact has turned
} mjgpEnd;

// a point of the path
typedef struct mjgpPoint_ {
  mjtNum x;
  mjtNum* a;         // (nv)
  mjtNum* t;         // (n)
  int* state;        // (nefc)
  mjgpPiece* piece;  // (n)
  mjgpShaft* shaft;  // (2 n)
} mjgpPoint;

typedef struct mjgpPath_ {
  mjgpNewton* p;
  mjgpStep* s;
  mjgpHomotopy homotopy;
  int n, nv;
  int fine;          // 1: segments are short, so that contacts turn little
  int curved;        // 1: segments are curved, by cones or shafts
  int sign;          // sign of the determinant of the equations
  mjtNum x;          // homotopy parameter, from 0 to 1
  mjtNum size;       // size of da in the metric of the inertia, at the start
  mjgpPiece* line;   // right sides of the direction                                (n)
  int* cone;         // first row of each elliptic contact                          (ncone)
  mjgpPoint place;   // start of the segment
  mjgpShaft behind;  // shaft at the end of a segment, on its next piece
  mjtNum before;     // acceleration of this shaft before the end
  mjtNum* gradient;  // residual, without friction                                  (nv)

  // direction: derivatives by x
  mjtNum* da;    // acceleration                                                     (nv)
  mjtNum* dt;    // friction                                                         (n)
  mjtNum* dacc;  // accelerations of the gears                                       (ld)
  mjtNum* djar;  // constraint rows                                                  (nefc)

  // correction back to the path
  mjtNum* ea;  // (nv)
  mjtNum* et;  // (n)
  mjtNum* w;   // scratch                                                            (nv)
} mjgpPath;


//---------------------------------- state at a point ----------------------------------------------

// Returns 1 if the torque of a shaft is not piecewise linear.
static int isCurved(const mjgpShaft* shaft) {
  int model = shaft->coupling->law->model;
  return model != mjgEXACT && model != mjgJCK;
}


// Compute accelerations of the gears, rows and shafts at s->a and x.
static void locate(mjgpPath* path) {
  mjgpStep* s = path->s;
  mjgp_setInputs(&path->homotopy, path->x);
  mjgp_accelerations(s);
  mjgp_residual(s->group, s->group->jar, s->a);
  for (int i = 0; i < path->n && path->curved; i++) {
    mjgpPiece* piece = s->piece + i;
    if (piece->shaft && !piece->jumps && isCurved(piece->shaft)) {
      mjgpShaft trial = *piece->shaft;
      *piece->shaft = mjgp_moveShaft(&trial, s->acc[i]) <= mjgpFACTORED ? *piece->shaft : trial;
    }
  }
}


// Make the lines of the present pieces; and the gradient, the error of a curved path.
static void linearize(mjgpPath* path) {
  mjgpStep* s = path->s;
  if (path->curved) {
    mjgp_forceInStates(s->group);
    mjgp_gradient(s->group, path->gradient, NULL, s->a, NULL);
    mju_addToScl(path->gradient, path->homotopy.G, path->x - 1, path->nv);
  }
  for (int i = 0; i < path->n; i++) {
    mjgp_linePiece(s->piece + i, s->acc[i], mjgp_taken(s, s->acc, i));
  }
}


static mjtNum loadRate(const mjgpPath* path, int i) {
  const mjgpStep* s = path->s;
  const mjgpPiece* piece = s->piece + i;
  mjtNum u = path->homotopy.end[i].tau - path->homotopy.begin[i].tau -
             piece->inertia * path->dacc[i] - mjgp_taken(s, path->dacc, i);
  return mjgi_lawLoad(piece->gamma_u, piece->gamma_v, u, path->dt[i]);
}


// Returns the shift of the load at which a gear slips, by its brake.
static mjtNum shiftOf(const mjgpPath* path, int i, int s) {
  return s ? path->s->piece[i].bound[s > 0].shift : 0;
}


static void keep(mjgpPath* path) {
  const mjgpNewton* p = path->p;
  const mjgpStep* s = path->s;
  mjgpPoint* place = &path->place;
  place->x = path->x;
  mju_copy(place->a, s->a, path->nv);
  mju_copy(place->t, s->t, path->n);
  memcpy(place->state, s->group->state, sizeof(int) * (size_t)s->group->nefc);
  memcpy(place->piece, s->piece, sizeof(mjgpPiece) * (size_t)path->n);
  for (int k = 0; k < p->nshaft; k++) {
    place->shaft[k] = p->shaft[k];
  }
}


static void goBack(mjgpPath* path) {
  mjgpNewton* p = path->p;
  mjgpStep* s = path->s;
  const mjgpPoint* place = &path->place;
  path->x = place->x;
  mju_copy(s->a, place->a, path->nv);
  mju_copy(s->t, place->t, path->n);
  memcpy(s->group->state, place->state, sizeof(int) * (size_t)s->group->nefc);
  memcpy(s->piece, place->piece, sizeof(mjgpPiece) * (size_t)path->n);
  for (int k = 0; k < p->nshaft; k++) {
    p->shaft[k] = place->shaft[k];
  }
  locate(path);
}


//---------------------------------- the line ------------------------------------------------------

// Returns the inner product of two steps, the metric of lengths on the path.
static mjtNum product(const mjgpPath* path, const mjtNum* da, mjtNum dx, const mjtNum* other,
                      mjtNum other_dx) {
  mjgp_mulInertia(path->s->group, path->w, da);
  return mju_dot(path->w, other, path->nv) / (path->size * path->size) + dx * other_dx;
}


// Factor the equations of the pieces, with the sign of their determinant.
static int factor(mjgpPath* path) {
  const mjgpPiece* piece = path->s->piece;
  linearize(path);
  if (!mjgp_spend(path->s) || !mjgp_updateSystem(&path->p->system, piece)) {
    return 0;
  }

  // the sign for equations that are continuous across pieces
  path->sign = path->p->system.sign;
  for (int i = 0; i < path->n; i++) {
    path->sign = piece[i].held || piece[i].turned ? -path->sign : path->sign;
  }
  return 1;
}


// Compute the direction: da, dt, dacc, djar.
static void direct(mjgpPath* path) {
  mjgpStep* s = path->s;
  mjgpGroup* group = s->group;
  int n = path->n;

  // change of the lines with the inputs; they are linear in them
  mjgp_setInputs(&path->homotopy, path->x + 1);
  for (int i = 0; i < n; i++) {
    mjgpPiece *line = path->line + i, *piece = s->piece + i;
    *line = *piece;
    mjgp_linePiece(line, s->acc[i], mjgp_taken(s, s->acc, i));
    line->t -= piece->t;
    line->target += s->acc[i] - piece->target;
  }
  mjgp_setInputs(&path->homotopy, path->x);
  mjgp_solveSystem(&path->p->system, path->line, path->homotopy.G, 0, path->da, path->dt);
  mjgp_accelerationsOf(s, path->dacc, path->da);
  mjgp_mulJacobian(group, path->djar, path->da);
}


static void move(mjgpPath* path, const mjtNum* da, const mjtNum* dt, mjtNum share) {
  mjgpStep* s = path->s;
  mju_addToScl(s->a, da, share, path->nv);
  mju_addToScl(s->t, dt, share, path->n);
  if (path->curved) {
    locate(path);
    return;
  }
  mjgpGroup* group = s->group;
  mjgp_setInputs(&path->homotopy, path->x);
  mju_addToScl(s->acc, path->dacc, share, path->n + group->nextra);
  mju_addToScl(group->jar, path->djar, share, group->nefc);
}


// Update the zones of contacts that have left theirs. Returns their number.
static int fitZones(mjgpPath* path) {
  mjgpGroup* group = path->s->group;
  int count = 0;
  for (int k = 0; k < group->ncone; k++) {
    int row = path->cone[k], zone = mjgp_zoneOf(group->contact[k], group->jar + row, mjgpCLOSE);
    if (zone >= 0 && zone != group->state[row] &&
        !mjgp_isApex(group->contact[k], group->jar + row, path->djar + row)) {
      for (int j = 0; j < group->contact[k]->dim; j++) {
        group->state[row + j] = zone;
      }
      count++;
    }
  }
  return count;
}


// Correct the point back to the path after a segment of this length, and compute the
// direction. Returns 0 if the error is too large.
static int correct(mjgpPath* path, mjtNum length) {
  for (int k = 0; k < mjgpEXCHANGES; k++) {
    if (k && !factor(path)) {
      return 0;
    }
    mjgp_solveSystem(&path->p->system, path->s->piece, path->gradient, 0, path->ea, path->et);
    mju_subFrom(path->et, path->s->t, path->n);
    direct(path);
    mjtNum along =
        product(path, path->ea, 0, path->da, 1) / product(path, path->da, 1, path->da, 1);
    mju_addToScl(path->ea, path->da, -along, path->nv);
    mju_addToScl(path->et, path->dt, -along, path->n);
    mjtNum error = mju_sqrt(product(path, path->ea, along, path->ea, along));
    if (!(error <= mjgpLAW + length)) {
      return 0;
    }
    path->x -= along;
    move(path, path->ea, path->et, 1);
    if (!fitZones(path) && error <= mjgpLAW + mjgpLEFT * length) {
      return 1;
    }
  }
  return 0;
}


//---------------------------------- its end -------------------------------------------------------

static int isDry(const mjgpGroup* group, int row) {
  return row >= group->ne && row < group->ne + group->nf;
}


// Compute value and slope of a row's breakpoint function. Returns 0 if the row has no
// such breakpoint.
static int rowEnd(mjtNum* value, mjtNum* slope, const mjgpPath* path, mjgpEnd end, int i) {
  const mjgpGroup* group = path->s->group;
  int state = group->state[i], dry = isDry(group, i), acts = state == mjCNSTRSTATE_QUADRATIC;
  int is = end == mjgpEND_ROW ? i >= group->ne && group->type[i] != mjCNSTR_CONTACT_ELLIPTIC &&
                                    !(dry && state == mjCNSTRSTATE_LINEARNEG)
                              : dry && state != mjCNSTRSTATE_LINEARPOS;
  mjtNum edge = dry ? group->R[i] * group->floss[i] : 0;
  int sign = (end == mjgpEND_ROW ? 1 : -1) * (acts ? -1 : 1);
  *value = sign * group->jar[i] - (acts ? -edge : edge);
  *slope = sign * path->djar[i];
  return is;
}


// Returns the sign of the load on the bound that a stuck gear with a brake meets. Each
// bound is the larger of two lines, whose loads change sign at different points; the gear
// meets it after passing both.
static int endingLoad(const mjgpPath* path, mjgpBound bound, int i, int side, int sign) {
  mjtNum load = mjgp_loadAt(path->s, i) + bound.shift, rate = loadRate(path, i);
  mjtNum coulomb = path->homotopy.end[i].coulomb - path->homotopy.begin[i].coulomb;
  int first = load < 0 ? -1 : 1;
  mjtNum value = bound.r * (first * load + bound.c) - side * path->s->t[i];
  mjtNum slope = sign * (bound.r * (first * rate + coulomb) - side * path->dt[i]);
  mjtNum length = slope < 0 ? value / -slope : 0;
  return first * (load + sign * length * rate) < 0 ? -first : first;
}


// Compute value and slope of a gear's breakpoint function. sign: direction along the
// line; along, by: load and rate of the load.
static int gearEnd(mjtNum* value, mjtNum* slope, const mjgpPath* path, mjgpEnd end, int i, int sign,
                   mjtNum along, mjtNum by) {
  const mjgpStep* s = path->s;
  const mjgpPiece* piece = s->piece + i;
  int mode = piece->mode, load = piece->load > 0 ? 1 : -1;
  if (piece->jumps && end != mjgpEND_LOAD) {
    int side = end == mjgpEND_ABOVE ? 1 : 0, up = piece->shaft[1].t > piece->shaft->t ? 1 : -1;
    up = side ? up : -up;
    *value = up * (piece->shaft[side].t - mjgp_taken(s, s->acc, i) - path->s->t[i]);
    *slope = up * (-mjgp_taken(s, path->dacc, i) - path->dt[i]);
    return 1;
  }
  if (piece->shaft) {
    return 0;
  }
  if (end == mjgpEND_LOAD) {
    *value = load * (along + shiftOf(path, i, mode));
    *slope = load * by;
    return mode || shiftOf(path, i, 1) == 0;
  }
  mjtNum h = piece->h, t = path->s->t[i];
  if (mode) {
    *value = mode * mjgp_slipOfPiece(piece, piece->v + h * s->acc[i], t);
    *slope = mode * (path->homotopy.end[i].v - path->homotopy.begin[i].v + h * path->dacc[i] -
                     piece->compliance * path->dt[i]);
    return end == mjgpEND_ABOVE;
  }
  int side = end == mjgpEND_ABOVE ? 1 : -1;
  mjgpBound bound = piece->bound[side > 0];
  load = bound.shift == 0 ? load : endingLoad(path, bound, i, side, sign);
  mjtNum rate = load * by + path->homotopy.end[i].coulomb - path->homotopy.begin[i].coulomb;
  *value = bound.r * (load * (along + bound.shift) + bound.c) - side * t;
  *slope = bound.r * rate - side * path->dt[i];
  return 1;
}


static int boundaryOf(mjgpEnd end) {
  return end == mjgpEND_UPPER ? mjgpBOUNDARY_UPPER : mjgpBOUNDARY_LOWER;
}


// Returns the length to where the torque of a shaft leaves its tangent, at most length.
static mjtNum shaftEnd(mjgpPath* path, int i, int sign, mjtNum length) {
  const mjgpShaft* shaft = path->s->piece[i].shaft;
  mjtNum from = path->s->acc[i], rate = sign * path->dacc[i], low = 0, high = length;
  mjgpShaft trial = *shaft;
  mjtNum off = isCurved(shaft) ? mjgpCLOSE : mjgpSAME;
  if (path->s->piece[i].jumps || rate == 0 || mjgp_moveShaft(&trial, from + length * rate) <= off) {
    return length;
  }

  // shaft->a is on the tangent, even if round-off puts it ahead
  low = mju_clip((shaft->a - from) / rate, 0, length);
  path->behind = trial;
  path->before = from + low * rate;
  for (int k = 0; k < mjgpHALVINGS && low < high; k++) {
    mjtNum half = 0.5 * (low + high);
    if (half == low || half == high) {
      break;
    }
    trial = *shaft;
    if (mjgp_moveShaft(&trial, from + half * rate) <= off) {
      low = half;
      path->before = trial.a;
    } else {
      high = half;
      path->behind = trial;
    }
  }
  return high;
}


// Returns the length of the segment in direction sign, at most length, in x, and its breakpoint.
static mjtNum findEnd(mjgpEnd* end, int* which, mjgpPath* path, int sign, mjtNum length) {
  const mjgpGroup* group = path->s->group;
  *end = mjgpEND_NONE;
  for (int i = -group->nefc; i < path->n; i++) {
    int row = i < 0, k = row ? i + group->nefc : i;
    mjtNum load = row ? 0 : mjgp_loadAt(path->s, k), rate = row ? 0 : loadRate(path, k);
    for (int e = row ? mjgpEND_ROW : mjgpEND_LOAD; e <= (row ? mjgpEND_DRY : mjgpEND_BELOW); e++) {
      mjtNum value, slope;
      int is = row ? rowEnd(&value, &slope, path, (mjgpEnd)e, k)
                   : gearEnd(&value, &slope, path, (mjgpEnd)e, k, sign, load, rate);
      if (is && sign * slope < 0 && value < -length * sign * slope) {
        length = mju_max(0, value / (-sign * slope));
        *end = (mjgpEnd)e;
        *which = k;
      }
    }
  }

  // zones of cones, and the turn of sliding contacts
  for (int k = 0; k < group->ncone; k++) {
    int row = path->cone[k], zone = group->state[row];
    for (int e = mjgpEND_UPPER; e <= mjgpEND_TURN; e++) {
      mjtNum until = INFINITY;
      if (e < mjgpEND_TURN && mjgp_hasBoundary(zone, boundaryOf((mjgpEnd)e))) {
        until = mjgp_boundaryDistance(group->contact[k], zone, boundaryOf((mjgpEnd)e),
                                      group->jar + row, path->djar + row, sign);
      } else if (e == mjgpEND_TURN && zone == mjCNSTRSTATE_CONE) {
        until = mjgp_turnDistance(group->contact[k], group->jar + row, path->djar + row, sign,
                                  path->fine ? (mjgpTURN / mjgpFINER) : mjgpTURN);
      }
      if (until < length) {
        length = until;
        *end = (mjgpEnd)e;
        *which = k;
      }
    }
  }
  for (int i = 0; i < path->n; i++) {
    mjtNum until = path->s->piece[i].shaft ? shaftEnd(path, i, sign, length) : length;
    if (until < length) {
      length = until;
      *end = mjgpEND_SHAFT;
      *which = i;
    }
  }
  return length;
}


// Change to the piece after a breakpoint.
static void cross(mjgpPath* path, mjgpEnd end, int i) {
  mjgpGroup* group = path->s->group;
  int* state = group->state + (end >= mjgpEND_UPPER ? path->cone[i] : i);
  mjgpPiece* piece = path->s->piece + i;  // of ends of gears
  switch (end) {
    case mjgpEND_ROW:
    case mjgpEND_DRY:
      if (*state != mjCNSTRSTATE_QUADRATIC) {
        *state = mjCNSTRSTATE_QUADRATIC;
      } else if (isDry(group, i)) {
        *state = end == mjgpEND_ROW ? mjCNSTRSTATE_LINEARPOS : mjCNSTRSTATE_LINEARNEG;
      } else {
        *state = mjCNSTRSTATE_SATISFIED;
      }
      break;
    case mjgpEND_LOAD:
      piece->load = piece->load > 0 ? -1 : 1;
      break;
    case mjgpEND_SHAFT:
      piece->jumps = mjgp_findJump(piece->shaft, piece->shaft + 1, path->before, path->behind.a);
      if (!piece->jumps) {
        *piece->shaft = path->behind;
      }
      break;
    case mjgpEND_UPPER:
    case mjgpEND_LOWER: {
      int row = path->cone[i];
      int apex = mjgp_isApex(group->contact[i], group->jar + row, path->djar + row);
      int behind = mjgp_zoneBehind(*state, boundaryOf(end), apex);
      for (int j = 0; j < group->contact[i]->dim; j++) {
        state[j] = behind;
      }
      break;
    }
    default:
      if (piece->jumps) {
        mjgp_leaveJump(piece, end == mjgpEND_ABOVE ? 1 : -1);
        break;
      }
      piece->mode = piece->mode ? 0 : end == mjgpEND_ABOVE ? 1 : -1;
      if (shiftOf(path, i, piece->mode) != 0) {
        piece->load = mjgp_loadAt(path->s, i) + shiftOf(path, i, piece->mode) < 0 ? -1 : 1;
      }
  }
}


//---------------------------------- the path ------------------------------------------------------

// Follow the path to x = 1. Returns 1 if it arrives. From a near start it has at most a segment for each
// row and gear. Long because it is one segment of the path: factor, correct, direct, move, cross.
static int follow(mjgpPath* path, mjgpStart kind) {
  int which = -1, back = 0, n = path->n + path->s->group->nefc;
  int near = kind <= mjgpSTART_NEAR;
  int most = near ? n : (path->fine ? mjgpFINER : 1) * mjgpENDS * n;
  mjtNum longest = INFINITY, gone = 0;
  path->x = 0;
  path->p->system.factored = 0;
  locate(path);
  for (int k = 0; k < most; k++) {
    if (!factor(path)) {
      return 0;
    }
    if (!k) {
      path->size = 1;
      direct(path);
      path->size =
          mju_sqrt(product(path, path->da, 0, path->da, 0)) + mjgpFACTORED * path->homotopy.unit;
    } else if (!path->curved) {
      direct(path);
    } else if (!correct(path, gone)) {
      // back, and a shorter segment
      if (!(gone > mjgpSAME) || ++back > mjgpHALVINGS) {
        return 0;
      }
      longest = mjgpGAINED * gone;
      goBack(path);
      if (!factor(path) || !correct(path, 1)) {
        return 0;
      }
    }

    // x grows while the determinant is positive, as it is at rest
    int sign = path->sign;
    if (path->curved) {
      keep(path);
    }
    mjgpEnd end;
    mjtNum left = sign > 0 ? 1 - path->x : mjgpFAR;
    mjtNum length = findEnd(&end, &which, path, sign, left);
    mjtNum rate = path->curved ? mju_sqrt(product(path, path->da, 1, path->da, 1)) : 1;
    if (length * rate > longest && mjgp_hasSliding(path->s->group)) {
      length = longest / rate;
      end = mjgpEND_TURN;
    }
    int arrived = sign > 0 && end == mjgpEND_NONE;
    if (!(length < (near ? 1 : mjgpFAR))) {
      return 0;
    }
    gone = mju_max(length * rate,
                   mjgpGAINED * gone);  // a segment of no length has the error of the last
    longest *= 2;
    path->x = arrived ? 1 : path->x + sign * length;
    if (end == mjgpEND_SHAFT) {
      cross(path, end, which);
    }
    move(path, path->da, path->dt, sign * length);
    if (arrived) {
      return 1;
    }
    if (end != mjgpEND_TURN && end != mjgpEND_SHAFT) {
      cross(path, end, which);
    }
  }
  return 0;
}


static void allocate(mjgpPath* path, mjgpNewton* p) {
  mjgpStep* s = p->s;
  mjData* d = s->d;
  const mjgpGroup* group = s->group;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv), ld = (size_t)group->ld;
  size_t nefc = (size_t)group->nefc;
  *path = (mjgpPath){.p = p, .s = s, .n = s->n, .nv = group->nv};
  size_t size = 5 * nv + 3 * n + ld + nefc;
  mjtNum* number = mj_stackAllocNum(d, size);
  mju_zero(number, (int)size);
  path->gradient = number;
  path->da = path->gradient + nv;
  path->ea = path->da + nv;
  path->w = path->ea + nv;
  path->place.a = path->w + nv;
  path->dt = path->place.a + nv;
  path->et = path->dt + n;
  path->place.t = path->et + n;
  path->dacc = path->place.t + n;
  path->djar = path->dacc + ld;
  path->line = mj_stackAllocByte(d, 2 * sizeof(mjgpPiece) * n, _Alignof(mjgpPiece));
  path->place.piece = path->line + n;
  path->place.shaft = mj_stackAllocByte(d, 2 * sizeof(mjgpShaft) * n, _Alignof(mjgpShaft));
  path->cone =
      mj_stackAllocInt(d, (size_t)group->ncone + nefc + 1);  // an address without rows, too
  path->place.state = path->cone + group->ncone;
  for (int i = 0, k = 0; k < group->ncone; i++) {
    if (group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      path->cone[k] = i;
      i += group->contact[k++]->dim - 1;
    }
  }
  path->curved = group->ncone > 0;
  for (int i = 0; i < s->n; i++) {
    path->curved |= s->piece[i].shaft != NULL;
  }
}


int mjgp_followPath(mjgpNewton* p) {
  mjgpStep* s = p->s;
  mjgpPath memory, *path = &memory;
  int solved = 0, fine = s->group->ncone > 0;
  for (int i = 0; i < s->n; i++) {
    if (mjgp_isBranch(s->piece + i)) {
      return 0;
    }
  }
  mj_markStack(s->d);
  allocate(path, p);
  mjgp_makeHomotopy(&path->homotopy, s);
  for (int k = 0; k < mjgpNSTART << fine && !solved; k++) {
    path->fine = fine && k % 2;
    mjgpStart kind = (mjgpStart)(k >> fine);
    int started = mjgp_startHomotopy(&path->homotopy, kind);
    int arrived = started && follow(path, kind);
    mjgp_setInputs(&path->homotopy, 1);
    if (arrived || (started && kind <= mjgpSTART_NEAR)) {
      mjgp_evaluate(s);
      solved = mjgp_iterate(p, !arrived);
    }
  }
  mj_freeStack(s->d);
  return solved;
}

#include "coupled/continuation.h"

#include <math.h>

#include "solvers/dense.h"

// lengths are in units of the map, in which friction that stops the joints is 1

// steps back to the curve, by Newton, which otherwise does not converge
#define mjgpCORRECT 8

// steps to the end of the curve
#define mjgpARRIVE 20

// distance from the curve that is near enough on the way, far below the length of a step
#define mjgpNEAR 1e-7

// and at its end: rounding
#define mjgpEXACT 1e-12

// where steps do not get shorter any more, this is rounding of an ill-conditioned end
#define mjgpALMOST 1e-9

// so near to the end x is set to 1 exactly
#define mjgpAT_END 1e-3

// a step that long has lost the end
#define mjgpLOST 10

// the curve is lost if shorter steps fail
#define mjgpSHORT 1e-7

// first step
#define mjgpFIRST 0.1

// longest step, times 1 + distance from rest
#define mjgpLONG 1

// of the step before: a Newton step back to the curve that is longer does not converge
#define mjgpCONTRACT 0.7

// least share of a step in its direction, and of its length, else it is another part of the curve
#define mjgpSHARE 0.1

// of a step that failed; one that did not is doubled
#define mjgpSHRINK 0.25

// a curve in n + 1 dimensions: friction in the units of the map, and x
typedef struct mjgpCurve_ {
  mjgpStep* s;
  mjgpMap map;
  int n, ld;        // of K: rows are in lanes, ld numbers apart
  int sign;         // of the determinant that gives the curve its direction
  int most;         // linearizations of s at which to give up
  mjtNum* z;        // point on the curve                          (n+1)
  mjtNum* trial;    // point that may become the next one          (n+1)
  mjtNum* tangent;  // direction of the curve there                (n+1)
  mjtNum* behind;   // direction where a step ended at first        (n+1)
  mjtNum* K;        // equation of a step                          (n+1 x ld)
  mjtNum* step;     // its solution                                (n+1)
  mjtNum* along;    // and the direction in which F stays          (n+1)
  int* pivot;       //                                             (n+1)
} mjgpCurve;


//---------------------------------- one step ------------------------------------------------------

static int evaluate(mjgpCurve* curve, const mjtNum* z) {
  return mjgp_evaluateMap(&curve->map, z, z[curve->n]);
}


// equations of a step: J above and a last row below. The step that cancels F and changes the last row by change
static void setStep(mjgpCurve* curve, const mjtNum* last, mjtNum change) {
  int n = curve->n, ld = curve->ld;
  for (int i = 0; i <= n; i++) {
    mju_copy(curve->K + i * ld, i < n ? curve->map.J + i * (n + 1) : last, n + 1);
    curve->step[i] = i < n ? -curve->map.F[i] : change;
  }
}


// the step along which the last row stays, and the direction in which F stays and the last row grows. Returns the
// sign of the determinant, 0 if it is singular
static int solveStep(mjgpCurve* curve, const mjtNum* last) {
  int n = curve->n;
  setStep(curve, last, 0);
  if (!mjgi_lu(curve->K, curve->step, curve->pivot, n + 1)) {
    return 0;
  }
  mju_zero(curve->along, n);
  curve->along[n] = 1;
  mjgi_luSolve(curve->along, curve->K, curve->pivot, n + 1);
  return mjgi_luSign(curve->K, curve->pivot, n + 1);
}


// direction of the curve at the point that was evaluated, after solveStep
static void direct(mjgpCurve* curve, mjtNum* tangent, int sign) {
  int n = curve->n;
  mjtNum scale = 1 / mju_norm(curve->along, n + 1);
  mju_scl(tangent, curve->along, sign == curve->sign ? scale : -scale, n + 1);
}


//---------------------------------- the curve ------------------------------------------------------

// from trial back to the curve by the shortest way; tangent: roughly its direction, then the exact one.
// Returns the number of steps, 0 if it is not reached
static int correct(mjgpCurve* curve, mjtNum* tangent) {
  int n = curve->n;
  mjtNum *z = curve->trial, last = INFINITY;
  for (int k = 1; k <= mjgpCORRECT; k++) {
    int sign = evaluate(curve, z) ? solveStep(curve, tangent) : 0;
    if (!sign) {
      return 0;
    }
    direct(curve, tangent, sign);
    if (k == 1) {
      mju_copy(curve->behind, tangent, n + 1);
    }
    mjtNum along = mju_dot(curve->step, tangent, n + 1), size = 0;
    for (int i = 0; i <= n; i++) {
      mjtNum step = curve->step[i] - along * tangent[i];
      z[i] += step;
      size += step * step;
    }
    size = mju_sqrt(size);
    if (size <= mjgpNEAR) {
      return k;
    }
    if (!(size < mjgpCONTRACT * last)) {
      return 0;
    }
    last = size;
  }
  return 0;
}


// from trial to a root at x = 1; 1 if it is reached
static int arrive(mjgpCurve* curve) {
  int n = curve->n;
  mjtNum *z = curve->trial, last = INFINITY;
  for (int k = 0; k < mjgpARRIVE; k++) {
    // the last row is x alone, which goes to 1
    if (!evaluate(curve, z)) {
      return 0;
    }
    mju_zero(curve->along, n);
    curve->along[n] = 1;
    setStep(curve, curve->along, 1 - z[n]);
    if (!mjgi_lu(curve->K, curve->step, curve->pivot, n + 1)) {
      return 0;
    }
    mjtNum size = mju_norm(curve->step, n + 1);
    if (size <= mjgpEXACT || (size <= mjgpALMOST && size > 0.1 * last)) {
      return z[n] == 1;
    }
    if (!(size < mjgpLOST)) {
      return 0;
    }
    mju_addTo(z, curve->step, n + 1);
    z[n] = k || size < mjgpAT_END ? 1 : z[n];
    last = size;
  }
  return 0;
}


// one step of length size; 1: done, 0: not on the curve any more
static int advance(mjgpCurve* curve, mjtNum* tangent, mjtNum size) {
  int n = curve->n;
  mju_addScl(curve->trial, curve->z, tangent, size, n + 1);
  if (!correct(curve, tangent)) {
    return 0;
  }

  // forward, and not to some other part of the curve
  mjtNum along = 0, length = 0;
  for (int i = 0; i <= n; i++) {
    mjtNum change = curve->trial[i] - curve->z[i];
    along += tangent[i] * change;
    length += change * change;
  }
  length = mju_sqrt(length);
  return along > mjgpSHARE * length && length < 3 * size && length > mjgpSHARE * size;
}


// from rest to x = 1; next: scratch (n+1). 1 if solved
static int follow(mjgpCurve* curve, mjtNum* next) {
  int n = curve->n;

  // begin in the direction in which x grows
  mju_zero(curve->z, n + 1);
  mju_zero(curve->tangent, n + 1);
  curve->tangent[n] = 1;
  curve->sign = evaluate(curve, curve->z) ? solveStep(curve, curve->tangent) : 0;
  if (!curve->sign) {
    return 0;
  }
  direct(curve, curve->tangent, curve->sign);
  for (mjtNum size = mjgpFIRST; size > mjgpSHORT && curve->s->newton_steps < curve->most;) {
    mju_copy(next, curve->tangent, n + 1);
    mju_zero(curve->behind, n + 1);
    int done = advance(curve, next, size);

    // a piece ends within the step: go the way of the one behind it
    if (!done && !mju_isZero(curve->behind, n + 1)) {
      mju_copy(next, curve->behind, n + 1);
      done = advance(curve, next, size);
    }

    // over the end: back to it
    if (done && curve->trial[n] >= 1) {
      mjtNum share = (1 - curve->z[n]) / (curve->trial[n] - curve->z[n]);
      for (int i = 0; i <= n; i++) {
        curve->trial[i] = curve->z[i] + share * (curve->trial[i] - curve->z[i]);
      }
      if (arrive(curve)) {
        return 1;
      }
      done = 0;
    }
    if (done) {
      mju_copy(curve->z, curve->trial, n + 1);
      mju_copy(curve->tangent, next, n + 1);
    }
    size = done ? mju_min(2 * size, mjgpLONG * (1 + mju_norm(curve->z, n + 1))) : mjgpSHRINK * size;
  }
  return 0;
}


int mjgp_followCurve(mjgpStep* s, int family, int most) {
  int n = s->n, dim = n + 1, ld = mjgi_simdEnd(dim), solved = 0;
  mjgpCurve curve = {.s = s, .n = n, .ld = ld};
  mj_markStack(s->d);
  mjtNum* number = mj_stackAllocNum(s->d, (size_t)(7 * dim + dim * ld));
  mju_zero(number, 7 * dim + dim * ld);
  curve.z = number;
  curve.trial = curve.z + dim;
  curve.tangent = curve.trial + dim;
  mjtNum* next = curve.tangent + dim;
  curve.behind = next + dim;
  curve.K = curve.behind + dim;
  curve.step = curve.K + dim * ld;
  curve.along = curve.step + dim;
  curve.pivot = mj_stackAllocInt(s->d, (size_t)dim);

  // other friction on the way makes another curve, where the first is long or leads nowhere
  static const mjtNum extra[] = {1, 0.1};
  int possible = mjgp_makeMap(&curve.map, s), curves = family == mjgpFAMILY_VELOCITY ? 2 : 1;
  curve.map.family = family;
  for (int k = 0; k < curves && possible && !solved; k++) {
    curve.map.extra = extra[k];
    curve.most = s->newton_steps + most;
    do {
      solved = follow(&curve, next);
    } while (solved && mjgp_releaseMap(&curve.map));
  }
  if (solved) {
    mjgp_acceptMap(&curve.map);
  }
  mju_zero(s->shift, n);
  if (solved) {
    mjgp_addRounding(s);
  }
  mj_freeStack(s->d);
  return solved;
}

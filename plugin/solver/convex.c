#include "solver/convex.h"

#include <float.h>

#include "gear/tolerances.h"
#include "solver/contact.h"


// Returns the step length along s->search that minimizes the cost from s->a, to round-off; 0 if
// the cost does not fall. Overwrites s->next.
static mjtNum searchLine(mjgpStep* s, const mjtNum* t) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  mjgp_mulJacobian(group, s->jar, s->search);

  // slope = linear + x quadratic + slope of the constraint cost
  mjtNum *Ma = s->next, linear, quadratic;
  mjgp_mulInertia(group, Ma, s->a);
  mju_subFrom(Ma, group->force, nv);
  mjgp_addGears(group, Ma, t);
  linear = mju_dot(Ma, s->search, nv);
  mjgp_mulInertia(group, Ma, s->search);
  quadratic = mju_dot(Ma, s->search, nv);

  // bracket from 1 on, then narrow it
  mjgpBracket b = {.high = 1, .at_low = linear + mjgp_slopeAlong(group, group->jar, s->jar, 0)};
  if (!(b.at_low < 0)) {
    return 0;
  }
  mjtNum tolerance = mjgpSAME * mju_abs(b.at_low);
  for (int k = 0;; k++) {
    b.at_high = linear + b.high * quadratic + mjgp_slopeAlong(group, group->jar, s->jar, b.high);
    if (b.at_high >= 0 || k == mjgpHALVINGS) {
      break;
    }
    if (mju_abs(b.at_high) <= tolerance) {
      return b.high;
    }
    b.low = b.high;
    b.at_low = b.at_high;
    b.high *= 2;
  }
  if (b.at_high <= tolerance) {
    return b.high;
  }
  for (int k = 0; k < mjgpHALVINGS; k++) {
    mjtNum x = (b.low * b.at_high - b.high * b.at_low) / (b.at_high - b.at_low);
    mjtNum slope = linear + x * quadratic + mjgp_slopeAlong(group, group->jar, s->jar, x);
    if (mju_abs(slope) <= tolerance || b.high - b.low <= 4 * DBL_EPSILON * b.high) {
      return x;
    }
    mjgp_narrow(&b, x, slope);
  }
  return b.low;
}


int mjgp_inner(mjgpStep* s, const mjtNum* t) {
  mjgpGroup* group = s->group;
  int nv = group->nv;
  for (int k = 0; k < mjgpINNER; k++) {
    mjgp_evaluate(s);
    mjgp_gradient(group, s->gradient, s->rounding, s->a, t);
    if (mjgp_isRoundOff(s->gradient, s->rounding, nv)) {
      return mjgp_linearize(s);
    }
    if (!mjgp_spend(s) || !mjgp_factor(group)) {
      return 0;
    }

    // full step if it keeps the states, else the line search
    mju_copy(s->search, s->gradient, nv);
    mjgp_solveHessian(s, s->search);
    mju_scl(s->search, s->search, -1, nv);
    mjtNum x = searchLine(s, t);
    if (x == 0) {
      return mjgp_linearize(s);
    }
    mju_addToScl(s->a, s->search, x, nv);
  }
  return 0;
}

#include <math.h>

#include "mjgear_paper.h"


static double clamp(double x, double low, double high) {
  return fmin(fmax(low, x), high);
}


// the numbers are the statements of Table 1
int mjg_stepKarnopp(double* position, double* velocity, double* t, const mjgKarnopp* joint,
                    double motor, double load, double h) {
  const mjgKarnopp* j = joint;
  if (!position || !velocity || !j || !(j->eta_opp > 0 && j->eta_opp <= 1) || !(j->eta_aid <= 1) ||
      !(j->fsd >= 1) || !(j->friction >= 0) || !(j->viscous >= 0) || !(j->inertia > 0) ||
      !(j->limit > 0) || !(h > 0)) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(*position) || !isfinite(*velocity) || !isfinite(motor) || !isfinite(load) ||
      !isfinite(h) || !isfinite(j->eta_aid) || !isfinite(j->fsd) || !isfinite(j->friction) ||
      !isfinite(j->viscous) || !isfinite(j->inertia)) {
    return mjgERR_NOT_FINITE;
  }
  double v = *velocity;

  // 01-03: active torque, sliding friction under opposing and under aiding load
  double active = motor - load - j->viscous * v;
  double opposing = j->friction + (1 / j->eta_opp - 1) * fabs(load);
  double aiding = j->friction + (1 - j->eta_aid) * fabs(load);

  // 04-10: friction of a sliding joint is given; friction of a joint at rest holds it, up
  // to a bound that depends on the direction of break-away relative to the load
  double friction;
  if (v != 0) {
    friction = copysign(v * load < 0 ? aiding : opposing, v);
  } else if (load < 0) {
    friction = clamp(active, -j->fsd * opposing, j->fsd * aiding);
  } else {
    friction = clamp(active, -j->fsd * aiding, j->fsd * opposing);
  }

  // 11-14: a velocity that would change its sign becomes zero
  double next = v + h * (active - friction) / j->inertia;
  if (v * next < 0) {
    next = 0;
  }

  // 15-17: ends of travel, which a joint may leave but not pass
  double q = clamp(*position + h * (v + next) / 2, -j->limit, j->limit);
  if (q == -j->limit) {
    next = fmax(0, next);
  }
  if (q == j->limit) {
    next = fmin(next, 0);
  }

  if (!isfinite(q) || !isfinite(next) || !isfinite(friction)) {
    return mjgERR_NOT_FINITE;
  }
  *position = q;
  *velocity = next;
  if (t) {
    *t = friction;
  }
  return mjgSOLVED;
}

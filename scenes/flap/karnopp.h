// Borello's algorithm, the reference of these scenes and of tests.

#ifndef MJGEAR_SCENES_KARNOPP_H_
#define MJGEAR_SCENES_KARNOPP_H_

#include <math.h>

// one joint with friction as in L. Borello and M. D. L. Dalla Vedova, "A dry friction
// model and robust computational algorithm for reversible or irreversible motion
// transmissions", Int. J. of Mechanics and Control 13(2), 2012. It is explicit, a
// Karnopp-type switch, and needs the load torque.
//
// Through mjgProblem the same gear is eta_f = eta_opp, eta_b = eta_aid, static_ratio =
// fsd, coulomb = friction. The two agree where all inertia is on the motor side (M = 0),
// so that the gear transmits the load alone; with coulomb or fsd also gamma_u must be 0,
// because there the friction torque itself does not load the flanks.
// scenes/flap/README.md has the differences.
typedef struct mjgKarnopp_ {
  double eta_opp;   // efficiency under opposing load, in (0, 1]
  double eta_aid;   // under aiding load, <= 1; <= 0: irreversible
  double fsd;       // static to dynamic friction, >= 1
  double friction;  // T_FR0, independent of load, >= 0              N m
  double viscous;   // C_M, >= 0                                     N m/(rad/s)
  double inertia;   // J_M, > 0                                      kg m2
  double limit;     // ends of travel at +-limit, > 0, or INFINITY   rad
} mjgKarnopp;

static inline double mjg_clampKarnopp(double x, double low, double high) { return fmin(fmax(low, x), high); }

// Table 1, one step: changes *position and *velocity, sets *t (nullable) to the friction
// torque
//   motor  torque in the joint's direction       load  torque against it       h  timestep > 0
// Numbers in the body are those of its statements.
static inline void mjg_stepKarnopp(double* position, double* velocity, double* t, const mjgKarnopp* j, double motor,
                                   double load, double h) {
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
    friction = mjg_clampKarnopp(active, -j->fsd * opposing, j->fsd * aiding);
  } else {
    friction = mjg_clampKarnopp(active, -j->fsd * aiding, j->fsd * opposing);
  }

  // 11-14: a velocity that would change its sign becomes zero
  double next = v + h * (active - friction) / j->inertia;
  if (v * next < 0) {
    next = 0;
  }

  // 15-17: ends of travel, which a joint may leave but not pass
  double q = mjg_clampKarnopp(*position + h * (v + next) / 2, -j->limit, j->limit);
  if (q == -j->limit) {
    next = fmax(0, next);
  }
  if (q == j->limit) {
    next = fmin(next, 0);
  }

  *position = q;
  *velocity = next;
  if (t) {
    *t = friction;
  }
}

#endif  // MJGEAR_SCENES_KARNOPP_H_

// The implicit step of a coupling: gap and shaft as a torque over the step's rate, a scalar solve
// against a line, and the rotor with its gear friction in series.

#include <math.h>

#include "backlash/backlash.h"
#include "law/law.h"

// Gauss points of a piece, at this share of half its length from its middle
static const double kGauss = 0.57735026918962576451;

// a piece shorter than this share of its depth: the difference of two powers would lose three digits and more,
// while the Gauss points are exact to more than that
static const double kShort = 1e-3;

// scalar solves: iterations, each third of which at least halves the bracket (where the law is smooth Newton takes
// a few); and change at which Newton ends
enum {
  mjgiITERATIONS = 200
};
static const double kSettled = 1e-15;

// residual of a line, relative to its terms, above which the law has a jump there
static const double kJump = 1e-9;

// solutions of least torque, from below: residual of the torque, and share of its terms below which a load's
// sign is rounding
static const double kExact = 1e-14;

// share by which rounding may lift the torque that holds a rotor over its bound
static const double kHold = 1e-12;

// sinh(x)/x and sin(x)/x are 1 to rounding below this
static const double kFlat = 1e-8;

// depth at which the stiffness of a power law is taken to choose its blend, rad
static const double kDepth = 1e-2;

// squares of what is below this do not overflow
static const double kHuge = 1e150;

// a gap in one step: everything but the rate of p
typedef struct Gap_ {
  const mjgBacklash* law;
  double h;
  double blend;
  double
      eta;  // p+ = p- + h w,  w = eta omega_d+ + (1 - eta) omega_d: the theta of the theta-method
  double omega_d;     // before the step
  double p;           // p-
  double touch;       // angle at which a gap that closes with omega_d touches, of its side
  double yield;       // rate that a unit of torque in the step takes from both sides
  double twist;       // theta_s before the step
  double twist_rate;  // and its rate
  double free_twist;  // theta_s and its rate after a step without torque
  double free_rate;
} Gap;


// parameters that the model reads, of the two with state
static int hasState(const mjgBacklash* law) {
  return law->model == mjgEXACT || law->model == mjgJCK;
}


// models that touch earlier the faster they close
static int hasTouch(const mjgBacklash* law) {
  return law->model == mjgPHASE_PLANE || law->model == mjgRUBBER;
}


static double shaftInertia(const mjgBacklash* law) {
  return law->model == mjgJCK ? law->shaft_inertia : 0;
}


//---------------------------------- torque over rate ----------------------------------------------

// j s'' + c s' + k s = 0 over h, in closed form; j = 0 leaves the rate as it is
static void freeShaft(double* twist, double* rate, double s, double v, double j, double c, double k,
                      double h) {
  if (j == 0) {
    *twist = c > 0 ? s * exp(-k * h / c) : 0;
    *rate = v;
    return;
  }
  double a = c / (2 * j);
  double d = a * a - k / j;
  double r = sqrt(fabs(d));

  // C = exp(-a h) cosh(r h), S = exp(-a h) sinh(r h)/r, or cos and sin
  double C, S;
  if (d >= 0) {
    double slow = exp(-k / j / (a + r) * h);
    double e = expm1(-2 * r * h);
    C = slow * (2 + e) / 2;
    S = r * h > kFlat ? -slow * e / (2 * r) : slow * h;
  } else {
    double e = exp(-a * h);
    C = e * cos(r * h);
    S = r * h > kFlat ? e * sin(r * h) / r : e * h;
  }
  *twist = s * (C + a * S) + v * S;
  *rate = v * (C - a * S) - s * k / j * S;
}


// models with state: an untouched shaft relaxes; where that would leave the gap, the stop holds it
static double stateTorque(double* slope, const Gap* gap, double w) {
  const mjgBacklash* law = gap->law;
  double gap_end = gap->p + gap->h * w - gap->free_twist;
  *slope = 0;
  if (fabs(gap_end) <= law->half_gap && law->half_gap > 0) {
    return 0;
  }

  // twist that the stop enforces, on the side of the gap where the relaxed shaft would be
  double stop = gap_end > 0 ? law->half_gap : -law->half_gap;
  double j = shaftInertia(law);
  double rate = (gap->p - stop - gap->twist) / gap->h + w;
  double torque = j / gap->h * (rate - gap->twist_rate) + law->damping * rate +
                  law->stiffness * (gap->twist + gap->eta * gap->h * rate);

  // the stop can only push; without a gap it holds both ways
  if (law->half_gap > 0 && torque * stop <= 0) {
    return 0;
  }
  *slope = j / gap->h + law->damping + law->stiffness * gap->eta * gap->h;
  return torque;
}


// rate of the twist after a step that ends at a stop, with no more energy than was put in
static double closedRate(const Gap* gap, double T, double twist, double w) {
  double j = shaftInertia(gap->law);
  double k = gap->law->stiffness;
  double rate = (twist - gap->twist) / gap->h;
  double energy = 0.5 * (k * (gap->twist * gap->twist - twist * twist) +
                         j * gap->twist_rate * gap->twist_rate) +
                  gap->h * T * w;
  double limit = j > 0 ? sqrt(fmax(0, 2 * energy / j)) : INFINITY;
  return fmax(-limit, fmin(rate, limit));
}


// Rate at which one side touches, for the laws whose touch depends on it. The mean rate omega of the
// step has lost a part of it already: until the touch, after a share of the step, the rate changes by
// what the step changes it without the torque that follows. Increases with omega, as torque must.
static double touchRate(double* slope, const Gap* gap, double sign, double omega) {
  const mjgBacklash* law = gap->law;
  double before = sign * gap->omega_d;
  *slope = 1;
  if (!hasTouch(law) || !(omega > 0 && before > 0)) {
    return omega;
  }

  // share of the step before the touch; none for a side that has touched
  double after = before + (omega - before) / gap->eta;
  double share = fmax(0, (gap->touch - sign * gap->p) / (gap->h * omega));
  double rate = after;
  if (share < 1) {
    double relaxed = law->stiffness * (law->half_gap - gap->touch);
    double torque = fmax(0, law->damping * omega - relaxed);
    rate = before + share * (after - before + (1 - share) * gap->yield * torque);
    *slope = share * before / (gap->eta * omega);
    if (torque > 0) {
      *slope += gap->yield * share * ((1 - share) * relaxed + share * torque) / omega;
    }
  } else {
    *slope = 1 / gap->eta;
  }

  // torque that rubber builds up over many steps belongs to the mean rate of each
  double band = law->model == mjgRUBBER ? law->rubber : 0;
  double weight = band > 0 ? 1 / (1 + band / (gap->h * before)) : 1;
  *slope = weight * *slope + 1 - weight;
  return weight * rate + (1 - weight) * omega;
}


// mean torque of a side over the angles from a to b, piece by piece with two Gauss points; adds to its derivative
static double integrate(double* slope, const Gap* gap, const mjgBacklash* law, const mjgiSide* side,
                        double a, double b, double omega) {
  // ends of the pieces, ascending
  double lo = fmin(a, b), hi = fmax(a, b);
  double end[mjgiMAXBREAK + 2];
  int n = 0;
  end[n++] = lo;
  for (int i = 0; i < side->nbreak; i++) {
    if (side->breaks[i] > lo && side->breaks[i] < hi) {
      end[n++] = side->breaks[i];
    }
  }
  end[n] = hi;

  double mean = 0;
  for (int i = 0; i < n; i++) {
    double mid = 0.5 * (end[i] + end[i + 1]);
    double half = 0.5 * (end[i + 1] - end[i]);
    double weight = (end[i + 1] - end[i]) / (hi - lo) / 2;
    for (int q = -1; q <= 1; q += 2) {
      double theta = mid + q * half * kGauss;
      double dtheta, domega;
      double time = gap->blend + (1 - gap->blend) * ((theta - a) / (b - a));
      mean += weight * mjgi_sideTorque(&dtheta, &domega, law, side, theta, omega);
      *slope += weight * (dtheta * time * gap->h + domega);
    }
  }
  return mean;
}


// mean of one side's torque (of mjgDAMPED_DEADZONE its spring's) over the angles from p + blend h w to p + h w
// at rate w. Between the breaks it is a parabola, which two Gauss points integrate without error.
static double sideMean(double* slope, const Gap* gap, double sign, double w) {
  mjgBacklash spring = *gap->law;
  const mjgBacklash* law = gap->law;
  if (law->model == mjgDAMPED_DEADZONE) {
    spring.model = mjgDEADZONE;
    law = &spring;
  }
  double a = sign * (gap->p + gap->blend * gap->h * w);
  double b = sign * (gap->p + gap->h * w);
  double omega = sign * w;
  double dtheta, domega;
  *slope = 0;

  // clearly open: no need for the breaks. The onset is never below half_gap - rubber - 2 c/k |w|
  double lead = law->damping / law->stiffness * fabs(w);
  if (fmax(a, b) <= law->half_gap - law->rubber - 2 * lead) {
    return 0;
  }

  mjgiSide side;
  double touch_slope, touch_rate = touchRate(&touch_slope, gap, sign, omega);
  mjgi_sideBreaks(&side, law, omega, touch_rate, touch_slope);
  if (a == b) {
    double torque = mjgi_sideTorque(&dtheta, &domega, law, &side, a, omega);
    *slope = dtheta * gap->h * gap->eta + domega;
    return torque;
  }

  double lo = fmin(a, b), hi = fmax(a, b);
  double mean = integrate(slope, gap, law, &side, a, b, omega);

  // powers that are no parabola: their integral in closed form where that is accurate
  if (law->model == mjgHUNT_CROSSLEY && law->exponent != 1) {
    double x = fmax(lo - law->half_gap, 0);
    double y = hi - law->half_gap;
    if (y > 0 && y - x > kShort * y) {
      double n1 = law->exponent + 1;
      mean = law->stiffness * fmax(0, 1 + 1.5 * law->restitution * omega) *
             (pow(y, n1) - pow(x, n1)) / (n1 * (hi - lo));
    }
  }

  // a jump moves with the rate: later touch, smaller mean
  double onset = side.breaks[0];
  if (side.jump != 0 && onset > lo && onset < hi) {
    double time = gap->blend + (1 - gap->blend) * ((onset - a) / (b - a));
    *slope += side.jump / fabs(omega) * (time - side.onset_rate / gap->h) / (1 - gap->blend);
  }
  return mean;
}


// x beyond the gap, N (25)
static double deadZone(double x, double half_gap) {
  return fmax(0, x - half_gap) + fmin(0, x + half_gap);
}


// mean torque of the step as a function of the rate w: increasing, and continuous but for the touch
// of a model with state
static double gapTorque(double* slope, const Gap* gap, double w) {
  const mjgBacklash* law = gap->law;
  if (hasState(law)) {
    return stateTorque(slope, gap, w);
  }
  double left, right;
  double torque = sideMean(&right, gap, 1, w) - sideMean(&left, gap, -1, w);
  *slope = left + right;

  // a damper that acts outside the gap alone: over all of the way, so that its pull at the edge
  // leaves the torque an increasing function of w
  if (law->model == mjgDAMPED_DEADZONE) {
    double end = deadZone(gap->p + gap->h * w, law->half_gap);
    torque += law->damping / gap->h * (end - deadZone(gap->p, law->half_gap));
    *slope += end != 0 ? law->damping : 0;
  }
  return torque;
}


//---------------------------------- scalar solve --------------------------------------------------

// torque T and rate w with T = gapTorque(w), w = w0 - a T, a >= 0; *slope = dT/dw0. Newton, kept in a
// bracket that bisection shrinks where Newton does not; at a jump the line picks T within it.
static double solveLine(double* w, double* slope, const Gap* gap, double w0, double a) {
  double s;
  *w = w0;
  double torque = gapTorque(&s, gap, w0);
  if (torque == 0 || a == 0) {
    *slope = torque == 0 ? 0 : s;
    return torque;
  }

  double lo = torque > 0 ? w0 - a * torque : w0;
  double hi = torque > 0 ? w0 : w0 - a * torque;
  double f = a * torque;
  double width = hi - lo;
  for (int i = 0; i < mjgiITERATIONS; i++) {
    // Newton step, or the middle
    double next = *w - f / (1 + a * s);
    int bisect = !(next > lo && next < hi) || (i % 3 == 2 && hi - lo > 0.5 * width);
    if (i % 3 == 2) {
      width = hi - lo;
    }
    if (bisect) {
      next = 0.5 * (lo + hi);
    }
    if (next <= lo || next >= hi) {
      break;
    }
    double move = fabs(next - *w);
    *w = next;

    torque = gapTorque(&s, gap, next);
    f = next + a * torque - w0;
    if (f == 0 || (!bisect && move <= kSettled * fabs(next))) {
      break;
    }
    if (f > 0) {
      hi = next;
    } else {
      lo = next;
    }
  }

  // where the gap is the stiffer one the line gives the more accurate torque, and at a jump the
  // only one
  double line = (w0 - *w) / a;
  if (fabs(f) > kJump * (fabs(w0) + a * fabs(torque))) {
    *slope = 1 / a;
    return line;
  }
  *slope = s / (1 + a * s);
  return a * s > 1 && torque != 0 ? line : torque;
}


// the same for a < 0, which a self-locking gear makes: the load brakes the rotor more than it
// drives it. Finds the solution of least torque, reached from T = 0 by Newton from below, or
// reports 0 if there is none.
static int solveJam(double* T, double* w, double* slope, const Gap* gap, double w0, double a) {
  double torque = 0;
  for (int i = 0; i < mjgiITERATIONS / 2; i++) {
    double s;
    *w = w0 - a * torque;
    double excess = gapTorque(&s, gap, *w) - torque;
    if (fabs(excess) <= kExact * fabs(torque) || excess == 0) {
      *T = torque;
      *slope = s / (1 + a * s);
      return 1 + a * s > 0;
    }
    if (1 + a * s <= 0) {
      return 0;
    }
    torque += excess / (1 + a * s);
    if (!(fabs(torque) < INFINITY)) {
      return 0;
    }
  }
  return 0;
}


//---------------------------------- rotor, gear and gap in series ---------------------------------

// what a trial of the rotor's friction gives
typedef struct Trial_ {
  double T;       // shaft torque
  double slope;   // dT/dw0
  double w;       // rate of p
  double t;       // friction torque
  double lambda;  // internal force
} Trial;


// The friction torque is the first t, from 0 towards the torque that would stop the rotor, at
// which the bound r (|lambda| + c) is met. A load of one sign makes t a line in T, so that each
// sign is one scalar solve with a changed slope.
static int slip(Trial* best, const mjgCoupling* coupling, const Gap* gap, int s, double r,
                double w0, double a, double a1) {
  double gu = coupling->gamma_u;
  double gs = coupling->gamma_u + coupling->gamma_v;
  int found = 0;

  for (int load = 1; load >= -1; load -= 2) {
    // on the piece t is a line in T, because lambda = (gamma_u + gamma_v) T + gamma_u t
    double t0, t1, offset;
    double factor = mjgi_lawRow(&offset, mjgi_piece(s, load > 0), coupling->coulomb, r, r);
    if (!mjgi_lawLine(&t1, &t0, factor, offset, gs, -gu)) {
      continue;
    }

    Trial trial;
    double slope = a + gap->eta * a1 * t1;
    double rate = w0 - gap->eta * a1 * t0;
    if (slope >= 0) {
      trial.T = solveLine(&trial.w, &trial.slope, gap, rate, slope);
    } else if (!solveJam(&trial.T, &trial.w, &trial.slope, gap, rate, slope)) {
      continue;
    }
    trial.t = t0 + t1 * trial.T;
    trial.lambda = mjgi_lawLoadOut(gu, coupling->gamma_v, trial.T, trial.t);

    // the load must have the sign that was assumed
    double tiny = kExact * (fabs(gu * trial.t) + fabs(gs * trial.T));
    if (load * trial.lambda < -tiny || s * trial.t < 0) {
      continue;
    }
    if (!found || s * trial.t < s * best->t) {
      *best = trial;
      found = 1;
    }
  }
  return found;
}


// first meeting of torque and bound by bisection in t, for the ill-posed cases that the scalar
// solves do not reach
static void slipBisect(Trial* best, const mjgCoupling* coupling, const Gap* gap, int s, double r,
                       double w0, double a, double a1, double hold) {
  double lo = 0, hi = hold;
  for (int i = 0; i < mjgiITERATIONS / 2; i++) {
    best->t = 0.5 * (lo + hi);
    best->T = solveLine(&best->w, &best->slope, gap, w0 - gap->eta * a1 * best->t, a);
    best->lambda = mjgi_lawLoadOut(coupling->gamma_u, coupling->gamma_v, best->T, best->t);
    if (best->t == lo || best->t == hi) {
      break;
    }
    if (s * best->t < mjgi_lawBound(best->lambda, coupling->coulomb, r)) {
      lo = best->t;
    } else {
      hi = best->t;
    }
  }

  // T moves along the bound, dt = t1 dT
  double t0, t1, offset;
  double factor = mjgi_lawRow(&offset, mjgi_piece(s, best->lambda > 0), coupling->coulomb, r, r);
  if (mjgi_lawLine(&t1, &t0, factor, offset, coupling->gamma_u + coupling->gamma_v,
                   -coupling->gamma_u)) {
    best->slope /= 1 + best->slope * gap->eta * a1 * t1;
  }
}


// the rotor slips, sticks, or turns without friction; vhat is the driven side's velocity at T = 0
// torque and rate for either sign of a: where the line of the joint rises with torque, as integrators that
// move in another metric than constraints can make it, the solution of least torque, or none
static double solveEither(double* w, double* slope, const Gap* gap, double w0, double a) {
  double T;
  if (a >= 0) {
    return solveLine(w, slope, gap, w0, a);
  }
  if (solveJam(&T, w, slope, gap, w0, a)) {
    return T;
  }
  *w = w0;
  *slope = 0;
  return 0;
}


static void resolveRotor(mjgCouplingStep* step, Trial* result, const mjgCoupling* coupling,
                         const Gap* gap, double vhat, double A) {
  double a1 = coupling->h / coupling->inertia;
  double start = coupling->velocity + a1 * coupling->torque;
  double rest = (1 - gap->eta) * coupling->omega_d;
  double w0 = gap->eta * (start - vhat) + rest;
  double a = gap->eta * (a1 + A);
  double gs = coupling->gamma_u + coupling->gamma_v;

  // without friction
  Trial trial = {0};
  trial.T = solveEither(&trial.w, &trial.slope, gap, w0, a);
  trial.lambda = gs * trial.T;
  double velocity = start - a1 * trial.T;
  int s = (velocity > 0) - (velocity < 0);
  step->mode = s;
  step->velocity = velocity;
  *result = trial;
  if (s == 0 || (coupling->gamma_u == 0 && coupling->gamma_v == 0 && coupling->coulomb == 0)) {
    return;
  }

  // with the rotor held: a gap between the driven side and a wall
  Trial held = {0};
  held.T = solveEither(&held.w, &held.slope, gap, -gap->eta * vhat + rest, gap->eta * A);
  held.t = start / a1 - held.T;
  held.lambda = mjgi_lawLoadOut(coupling->gamma_u, coupling->gamma_v, held.T, held.t);

  // slips if the bound is met before the rotor stands. A rotor that leaves rest or reverses must
  // exceed its static bound, and then slips on the sliding one.
  double ratio = mjgi_lawRatio(fmax(1, coupling->static_ratio), coupling->velocity, s);
  for (double r = ratio;; r = 1) {
    if (slip(&trial, coupling, gap, s, r, w0, a, a1) && s * trial.t < s * held.t) {
      *result = trial;
    } else if (s * held.t <= mjgi_lawBound(held.lambda, coupling->coulomb, r) * (1 + kHold)) {
      *result = held;
      step->mode = 0;
    } else {
      slipBisect(result, coupling, gap, s, r, w0, a, a1, held.t);
    }
    if (r == 1 || step->mode == 0) {
      break;
    }
  }

  // a rotor does not reverse through its friction
  step->velocity = step->mode ? start - a1 * (result->t + result->T) : 0;
  if (s * step->velocity <= 0) {
    step->velocity = 0;
    step->mode = 0;
  }
}


//---------------------------------- public --------------------------------------------------------

double mjg_couplingBlend(const mjgBacklash* law, double A, double h) {
  // stiffness that an impact meets
  double k = law->stiffness;
  if (law->model == mjgHUNT_CROSSLEY && law->exponent != 1) {
    k *= law->exponent * pow(kDepth, law->exponent - 1);
  }
  double c = law->model == mjgHUNT_CROSSLEY || law->model == mjgDEADZONE || law->model == mjgSMOOTH
                 ? 0
                 : law->damping;
  double s = A * (c + h * k) / (1 + A * shaftInertia(law) / h);
  return fmin(mjgMAXBLEND, s < kHuge ? s * s / (1 + s * s) : 1);
}


void mjg_couplingRest(double* theta_b, double* omega_s, const mjgBacklash* law, double theta_d,
                      double omega_d) {
  *theta_b = fmax(-law->half_gap, fmin(theta_d, law->half_gap));
  *omega_s = fabs(theta_d) >= law->half_gap ? omega_d : 0;
}


void mjg_couplingResolve(mjgCouplingStep* step, const mjgCoupling* coupling, double vhat,
                         double A) {
  const mjgBacklash* law = coupling->law;
  double h = coupling->h;

  Gap gap = {0};
  gap.law = law;
  gap.h = h;
  gap.blend = coupling->blend;
  gap.eta = 0.5 * (1 + coupling->blend);
  gap.omega_d = coupling->omega_d;
  gap.p = coupling->theta_d - (1 - gap.eta) * h * coupling->omega_d;
  if (hasTouch(law)) {
    gap.touch = mjg_backlashTouch(law, fabs(gap.omega_d));
    gap.yield = A + (coupling->inertia > 0 ? h / coupling->inertia : 0);
  }
  double j = shaftInertia(law);
  if (hasState(law)) {
    gap.twist = gap.p - coupling->theta_b;
    gap.twist_rate = coupling->omega_s;
    freeShaft(&gap.free_twist, &gap.free_rate, gap.twist, gap.twist_rate, j, law->damping,
              law->stiffness, h);
  }

  // torque and rate
  Trial result = {0};
  *step = (mjgCouplingStep){0};
  if (coupling->inertia > 0) {
    resolveRotor(step, &result, coupling, &gap, vhat, A);
    step->dT = -gap.eta * result.slope;
  } else {
    double w0 = gap.eta * vhat + (1 - gap.eta) * gap.omega_d;
    result.T = solveLine(&result.w, &result.slope, &gap, w0, gap.eta * A);
    step->dT = gap.eta * result.slope;
  }
  step->T = result.T;
  step->friction = result.t;
  step->lambda = result.lambda;
  step->omega_d = (result.w - (1 - gap.eta) * gap.omega_d) / gap.eta;

  // state of the gap
  double p = gap.p + h * result.w;
  double b = p - gap.free_twist;
  step->theta_b = fmax(-law->half_gap, fmin(b, law->half_gap));
  if (hasState(law)) {
    step->omega_s = gap.free_rate;
    if (result.T != 0 || fabs(b) > law->half_gap) {
      step->omega_s = closedRate(&gap, result.T, p - step->theta_b, result.w);
    }
  }
  step->energy = mjg_backlashEnergy(law, p, step->theta_b, step->omega_s);
}

// The implicit step of a coupling: rotor, gear and gap in series as one scalar law of the driven side's line.

#include <math.h>

#include "backlash/backlash.h"
#include "backlash/torsion.h"
#include "law/law.h"

// share of its terms below which a load's sign is rounding
static const double kRounding = 1e-14;

// share by which rounding may lift the torque that holds a rotor over its bound
static const double kHold = 1e-12;

// depth at which the stiffness of a power law is taken to choose its blend, rad
static const double kDepth = 1e-2;

// squares of what is below this do not overflow
static const double kHuge = 1e150;

// halvings of an interval: more than a double has bits
enum {
  mjgiBISECTIONS = 100
};

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
static int slip(Trial* best, const mjgCoupling* coupling, const mjgiGap* gap, int s, double r,
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
      trial.T = mjgi_solveGap(&trial.w, &trial.slope, gap, rate, slope);
    } else if (!mjgi_solveJam(&trial.T, &trial.w, &trial.slope, gap, rate, slope)) {
      continue;
    }
    trial.t = t0 + t1 * trial.T;
    trial.lambda = mjgi_lawLoadOut(gu, coupling->gamma_v, trial.T, trial.t);

    // the load must have the sign that was assumed
    double tiny = kRounding * (fabs(gu * trial.t) + fabs(gs * trial.T));
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
static void slipBisect(Trial* best, const mjgCoupling* coupling, const mjgiGap* gap, int s,
                       double r, double w0, double a, double a1, double hold) {
  double lo = 0, hi = hold;
  for (int i = 0; i < mjgiBISECTIONS; i++) {
    best->t = 0.5 * (lo + hi);
    best->T = mjgi_solveGap(&best->w, &best->slope, gap, w0 - gap->eta * a1 * best->t, a);
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
static void resolveRotor(mjgCouplingStep* step, Trial* result, const mjgCoupling* coupling,
                         const mjgiGap* gap, double vhat, double A) {
  double a1 = coupling->h / coupling->inertia;
  double start = coupling->velocity + a1 * coupling->torque;
  double rest = (1 - gap->eta) * coupling->omega_d;
  double w0 = gap->eta * (start - vhat) + rest;
  double a = gap->eta * (a1 + A);
  double gs = coupling->gamma_u + coupling->gamma_v;

  // without friction
  Trial trial = {0};
  trial.T = mjgi_solveGap(&trial.w, &trial.slope, gap, w0, a);
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
  held.T = mjgi_solveGap(&held.w, &held.slope, gap, -gap->eta * vhat + rest, gap->eta * A);
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
  if (!law) {
    return NAN;
  }

  // stiffness that an impact meets
  double k = law->stiffness;
  if (law->model == mjgHUNT_CROSSLEY && law->exponent != 1) {
    k *= law->exponent * pow(kDepth, law->exponent - 1);
  } else if (law->model == mjgTORSION) {
    k = mjgi_torsionStiffness(law);
  }
  double c = law->model == mjgHUNT_CROSSLEY || law->model == mjgDEADZONE || law->model == mjgSMOOTH
                 ? 0
                 : law->damping;
  double s = A * (c + h * k) / (1 + A * mjgi_shaftInertia(law) / h);
  return fmin(mjgMAXBLEND, s < kHuge ? s * s / (1 + s * s) : 1);
}


void mjg_couplingRest(double* theta_b, double* omega_s, const mjgBacklash* law, double theta_d,
                      double omega_d) {
  if (!theta_b || !omega_s || !law) {
    return;
  }
  *theta_b =
      law->model == mjgTORSION ? theta_d : fmax(-law->half_gap, fmin(theta_d, law->half_gap));
  *omega_s = fabs(theta_d) >= law->half_gap ? omega_d : 0;
}


// the rotor on the piece that step has; 0 if it is not on it
static int resolvePiece(mjgCouplingStep* step, Trial* trial, const mjgCoupling* coupling,
                        const mjgiGap* gap, double vhat, double A) {
  double a1 = coupling->h / coupling->inertia;
  double start = coupling->velocity + a1 * coupling->torque;
  double rest = (1 - gap->eta) * coupling->omega_d - gap->eta * vhat;
  double gu = coupling->gamma_u, gs = gu + coupling->gamma_v;
  int s = step->mode, load = step->lambda < 0 ? -1 : 1;

  // held
  if (s == 0) {
    trial->T = mjgi_solveGap(&trial->w, &trial->slope, gap, rest, gap->eta * A);
    trial->t = start / a1 - trial->T;
    trial->lambda = mjgi_lawLoadOut(gu, coupling->gamma_v, trial->T, trial->t);
    step->velocity = 0;
    return fabs(trial->t) <= mjgi_lawBound(trial->lambda, coupling->coulomb, 1);
  }

  // slips: t is a line in T
  double t0 = 0, t1 = 0, offset;
  double factor = mjgi_lawRow(&offset, mjgi_piece(s, load > 0), coupling->coulomb, 1, 1);
  mjgi_lawLine(&t1, &t0, factor, offset, gs, -gu);
  trial->T = mjgi_solveGap(&trial->w, &trial->slope, gap, rest + gap->eta * (start - a1 * t0),
                           gap->eta * (a1 + A + a1 * t1));
  trial->t = t0 + t1 * trial->T;
  trial->lambda = mjgi_lawLoadOut(gu, coupling->gamma_v, trial->T, trial->t);
  step->velocity = start - a1 * (trial->t + trial->T);
  return load * trial->lambda >= 0 && s * trial->t >= 0 && s * step->velocity > 0;
}


// what became of a rotor
static void writeRotor(mjgCouplingStep* step, const Trial* result, const mjgiGap* gap) {
  step->T = result->T;
  step->dT = -gap->eta * result->slope;
  step->friction = result->t;
  step->lambda = result->lambda;
}


void mjgi_resolveAgain(mjgCouplingStep* step, double* w, const mjgCoupling* coupling,
                       const mjgiGap* gap, double vhat, double A) {
  Trial result;
  if (!resolvePiece(step, &result, coupling, gap, vhat, A)) {
    resolveRotor(step, &result, coupling, gap, vhat, A);
  }
  writeRotor(step, &result, gap);
  *w = result.w;
}


void mjg_couplingResolve(mjgCouplingStep* step, const mjgCoupling* coupling, double vhat,
                         double A) {
  if (!step || !coupling || !coupling->law) {
    return;
  }
  const mjgiGap gap = mjgi_makeGap(coupling, A);
  Trial result = {0};
  *step = (mjgCouplingStep){0};
  if (coupling->inertia > 0) {
    resolveRotor(step, &result, coupling, &gap, vhat, A);
    writeRotor(step, &result, &gap);
  } else {
    double w0 = gap.eta * vhat + (1 - gap.eta) * gap.omega_d;
    step->T = result.T = mjgi_solveGap(&result.w, &result.slope, &gap, w0, gap.eta * A);
    step->dT = gap.eta * result.slope;
  }
  mjgi_closeGap(step, &gap, result.T, result.w);
}

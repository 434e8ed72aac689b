// The implicit step of a coupling: rotor, gear and gap in series as one scalar law.

#include <math.h>

#include "backlash/backlash.h"
#include "law/law.h"

// share of its terms below which the sign of a load is round-off
static const double kRounding = 1e-14;

// round-off of the torque that holds a rotor, relative to its bound
static const double kHold = 1e-12;

// depth at which a power law's stiffness chooses its blend, rad
static const double kDepth = 1e-2;

// limit below which squares do not overflow
static const double kHuge = 1e150;

// halvings of an interval: more than the bits of a double
enum {
  mjgiBISECTIONS = 100
};

// a rotor in a step, and the line of its driven side
typedef struct Rotor_ {
  const mjgCoupling* coupling;
  const mjgiGap* gap;
  double move;   // velocity per unit of torque
  double start;  // velocity without friction and shaft
  double rest;   // rate of p if the rotor stands, without the shaft's torque
  double A;      // of the driven side
} Rotor;

// result of a trial friction
typedef struct Trial_ {
  double T;         // shaft torque
  double slope;     // dT/dw0
  double w;         // rate of p
  double t;         // friction torque
  double lambda;    // internal force
  double velocity;  // of the rotor
} Trial;


static Rotor makeRotor(const mjgCoupling* coupling, const mjgiGap* gap, double vhat, double A) {
  double move = coupling->h / coupling->inertia;
  return (Rotor){.coupling = coupling,
                 .gap = gap,
                 .move = move,
                 .start = coupling->velocity + move * coupling->torque,
                 .rest = (1 - gap->eta) * coupling->omega_d - gap->eta * vhat,
                 .A = A};
}


// friction of a slipping rotor as a line in the shaft's torque, t = t0 + t1 T
static int lineOf(double* t1, double* t0, const mjgCoupling* coupling, int piece, double r) {
  double offset, factor = mjgi_lawRow(&offset, piece, coupling->coulomb, r, r);
  return mjgi_lawLine(t1, t0, factor, offset, coupling->gamma_u + coupling->gamma_v,
                      -coupling->gamma_u);
}


// Solve for the rotor held, or slipping at r times its bound. Returns 0 if there is no solution.
static int solvePiece(Trial* trial, const Rotor* rotor, int piece, double r) {
  const mjgCoupling* coupling = rotor->coupling;
  double t0 = 0, t1 = 0, rate = rotor->rest, slope = rotor->gap->eta * rotor->A;
  if (piece != mjgiSTUCK) {
    if (!lineOf(&t1, &t0, coupling, piece, r)) {
      return 0;
    }
    rate += rotor->gap->eta * (rotor->start - rotor->move * t0);
    slope += rotor->gap->eta * rotor->move * (1 + t1);
  }
  if (slope >= 0) {
    trial->T = mjgi_solveGap(&trial->w, &trial->slope, rotor->gap, rate, slope);
  } else if (!mjgi_solveJam(&trial->T, &trial->w, &trial->slope, rotor->gap, rate, slope)) {
    return 0;
  }
  trial->t = piece == mjgiSTUCK ? rotor->start / rotor->move - trial->T : t0 + t1 * trial->T;
  trial->lambda = mjgi_lawLoadOut(coupling->gamma_u, coupling->gamma_v, trial->T, trial->t);
  trial->velocity = piece == mjgiSTUCK ? 0 : rotor->start - rotor->move * (trial->t + trial->T);
  return 1;
}


// Find the first t, from 0 towards the torque that stops the rotor, that meets its bound.
static int slip(Trial* best, const Rotor* rotor, int s, double r) {
  double gu = rotor->coupling->gamma_u, gs = gu + rotor->coupling->gamma_v;
  int found = 0;
  for (int load = 1; load >= -1; load -= 2) {
    Trial trial;
    if (!solvePiece(&trial, rotor, mjgi_piece(s, load > 0), r)) {
      continue;
    }

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


// Find the same by bisection in t, for ill-posed cases that the scalar solves do not reach.
static void slipBisect(Trial* best, const Rotor* rotor, int s, double r, double hold) {
  const mjgCoupling* coupling = rotor->coupling;
  double eta = rotor->gap->eta, lo = 0, hi = hold;
  for (int i = 0; i < mjgiBISECTIONS; i++) {
    best->t = 0.5 * (lo + hi);
    best->T = mjgi_solveGap(&best->w, &best->slope, rotor->gap,
                            rotor->rest + eta * (rotor->start - rotor->move * best->t),
                            eta * (rotor->move + rotor->A));
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
  best->velocity = rotor->start - rotor->move * (best->t + best->T);

  // T moves along the bound, dt = t1 dT
  double t0, t1;
  if (lineOf(&t1, &t0, coupling, mjgi_piece(s, best->lambda > 0), r)) {
    best->slope /= 1 + best->slope * eta * rotor->move * t1;
  }
}


// Solve for a rotor that slips, sticks, or turns without friction. Returns its direction.
static int resolveRotor(Trial* result, const Rotor* rotor) {
  const mjgCoupling* coupling = rotor->coupling;
  double eta = rotor->gap->eta;

  // without friction
  result->T = mjgi_solveGap(&result->w, &result->slope, rotor->gap,
                            rotor->rest + eta * rotor->start, eta * (rotor->move + rotor->A));
  result->t = 0;
  result->lambda = mjgi_lawLoad(coupling->gamma_u, coupling->gamma_v, result->T, 0);
  result->velocity = rotor->start - rotor->move * result->T;
  int s = (result->velocity > 0) - (result->velocity < 0), moves = s;
  if (s == 0 || (coupling->gamma_u == 0 && coupling->gamma_v == 0 && coupling->coulomb == 0)) {
    return s;
  }

  // held rotor: the gap is between the driven side and a wall
  Trial trial, held;
  solvePiece(&held, rotor, mjgiSTUCK, 1);

  // it slips if the bound is met before it stands; a start or reversal must exceed the static bound
  double ratio = mjgi_lawRatio(fmax(1, coupling->static_ratio), coupling->velocity, s);
  for (double r = ratio;; r = 1) {
    if (slip(&trial, rotor, s, r) && s * trial.t < s * held.t) {
      *result = trial;
    } else if (s * held.t <= mjgi_lawBound(held.lambda, coupling->coulomb, r) * (1 + kHold)) {
      *result = held;
      moves = 0;
    } else {
      slipBisect(result, rotor, s, r, held.t);
    }
    if (r == 1 || !moves) {
      break;
    }
  }

  // friction does not reverse a rotor
  if (s * result->velocity <= 0) {
    result->velocity = 0;
    moves = 0;
  }
  return moves;
}


//---------------------------------- public --------------------------------------------------------

double mjg_couplingBlend(const mjgBacklash* law, double A, double h) {
  if (!law) {
    return NAN;
  }

  // stiffness at an impact
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


// Write the torque and the rotor of a step, and the rate of p. flg_again: first try the piece in step.
static void resolve(mjgCouplingStep* step, double* w, const mjgCoupling* coupling,
                    const mjgiGap* gap, double vhat, double A, int flg_again) {
  if (coupling->inertia == 0) {
    double slope, rate = gap->eta * vhat + (1 - gap->eta) * gap->omega_d;
    *step = (mjgCouplingStep){.T = mjgi_solveGap(w, &slope, gap, rate, gap->eta * A)};
    step->dT = gap->eta * slope;
    return;
  }
  Rotor rotor = makeRotor(coupling, gap, vhat, A);
  Trial result;
  int piece = mjgi_piece(step->mode, step->lambda >= 0);
  if (!(flg_again && solvePiece(&result, &rotor, piece, 1) &&
        mjgi_lawNext(piece, result.t, result.velocity, result.lambda, coupling->coulomb, 1, 1) ==
            piece)) {
    step->mode = resolveRotor(&result, &rotor);
  }
  step->T = result.T;
  step->dT = -gap->eta * result.slope;
  step->velocity = result.velocity;
  step->friction = result.t;
  step->lambda = result.lambda;
  *w = result.w;
}


void mjgi_resolveAgain(mjgCouplingStep* step, double* w, const mjgCoupling* coupling,
                       const mjgiGap* gap, double vhat, double A) {
  resolve(step, w, coupling, gap, vhat, A, 1);
}


void mjg_couplingResolve(mjgCouplingStep* step, const mjgCoupling* coupling, double vhat,
                         double A) {
  if (!step || !coupling || !coupling->law) {
    return;
  }
  const mjgiGap gap = mjgi_makeGap(coupling, A);
  double w;
  *step = (mjgCouplingStep){0};
  resolve(step, &w, coupling, &gap, vhat, A, 0);
  mjgi_closeGap(step, &gap, step->T, w);
}

// Gap and shaft in an implicit step: mean torque as a function of the rate, solved against a line.

#include <math.h>

#include "backlash/backlash.h"

// Gauss points of a piece, at this share of half its length from its middle
static const double kGauss = 0.57735026918962576451;

// share of its depth below which Gauss points are more exact than a difference of powers
static const double kShort = 1e-3;

// scalar solves: limit of iterations, of which every third halves the bracket; change at the end
enum {
  mjgiITERATIONS = 200
};
static const double kSettled = 1e-15;

// rad/s; a wider bracket is halved in digits, because Newton needs hundreds of steps
static const double kWide = 1e6;

// residual of a line, relative to its terms, above which the law has a jump there
static const double kJump = 1e-9;

// solutions of least torque, from below: residual of the torque
static const double kExact = 1e-14;

// below this sinh(x)/x and sin(x)/x are 1 up to round-off
static const double kFlat = 1e-8;

static int hasState(const mjgBacklash* law) {
  return law->model == mjgEXACT || law->model == mjgJCK;
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


// models with state: Returns the position in the gap at which a relaxed shaft would end.
static double gapEnd(const mjgiGap* gap, double w) {
  return gap->p + gap->h * w - gap->free_twist;
}


// models with state: an untouched shaft relaxes, and a stop keeps it in the gap
static double stateTorque(double* slope, const mjgiGap* gap, double w) {
  const mjgBacklash* law = gap->law;
  double gap_end = gapEnd(gap, w);
  *slope = 0;
  if (fabs(gap_end) <= law->half_gap && law->half_gap > 0) {
    return 0;
  }

  // twist that the stop enforces, on the side at which the relaxed shaft leaves the gap
  double stop = gap_end > 0 ? law->half_gap : -law->half_gap;
  double j = mjgi_shaftInertia(law);
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


// Returns the rate of the twist after a step that ends at a stop; the step creates no energy.
static double closedRate(const mjgiGap* gap, double T, double twist, double w) {
  double j = mjgi_shaftInertia(gap->law);
  double k = gap->law->stiffness;
  double rate = (twist - gap->twist) / gap->h;
  double energy = 0.5 * (k * (gap->twist * gap->twist - twist * twist) +
                         j * gap->twist_rate * gap->twist_rate) +
                  gap->h * T * w;
  double limit = j > 0 ? sqrt(fmax(0, 2 * energy / j)) : INFINITY;
  return fmax(-limit, fmin(rate, limit));
}


// Returns the rate at which one side touches, for laws whose touch depends on it: the mean rate
// omega includes the torque after the touch. The result increases with omega.
static double touchRate(double* slope, const mjgiGap* gap, double sign, double omega) {
  const mjgBacklash* law = gap->law;
  double before = sign * gap->omega_d;
  *slope = 1;
  if (!mjgi_hasTouch(law) || !(omega > 0 && before > 0)) {
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

  // rubber builds up its torque over many steps: use the mean rate of each step
  double band = law->model == mjgRUBBER ? law->rubber : 0;
  double weight = band > 0 ? 1 / (1 + band / (gap->h * before)) : 1;
  *slope = weight * *slope + 1 - weight;
  return weight * rate + (1 - weight) * omega;
}


// Integrate the torque of a side from a to b, two Gauss points a piece, and add its derivative.
static double integrate(double* slope, const mjgiGap* gap, const mjgBacklash* law,
                        const mjgiSide* side, double a, double b, double omega) {
  double dtheta, domega;
  if (a == b) {
    double torque = mjgi_sideTorque(&dtheta, &domega, law, side, a, omega);
    *slope += dtheta * gap->h * gap->eta + domega;
    return torque;
  }

  // ends of the pieces, ascending
  double lo = fmin(a, b), hi = fmax(a, b);
  double end[mjgiMAXPIECE + 2];
  int n = 0;
  end[n++] = lo;
  for (int i = 0; i < side->npiece; i++) {
    if (side->piece[i].from > lo && side->piece[i].from < hi) {
      end[n++] = side->piece[i].from;
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
      double time = gap->blend + (1 - gap->blend) * ((theta - a) / (b - a));
      mean += weight * mjgi_sideTorque(&dtheta, &domega, law, side, theta, omega);
      *slope += weight * (dtheta * time * gap->h + domega);
    }
  }
  return mean;
}


// The same for powers of the depth, in closed form; unchanged where that is inaccurate.
static void powerMean(double* mean, double* slope, const mjgiGap* gap, double a, double b,
                      double omega) {
  const mjgBacklash* law = gap->law;
  double hi = fmax(a, b) - law->half_gap, lo = fmax(fmin(a, b) - law->half_gap, 0);
  if (!(hi > 0 && hi - lo > kShort * hi)) {
    return;
  }

  // mean of k z^n, and by parts of its derivative times the time at which the step is there
  double n1 = law->exponent + 1, loss = 1.5 * law->restitution;
  double factor = fmax(0, 1 + loss * omega);
  double spring = law->stiffness * (pow(hi, n1) - pow(lo, n1)) / (n1 * fabs(b - a));
  double end = law->stiffness * pow(fmax(0, b - law->half_gap), law->exponent);
  double start = law->stiffness * pow(fmax(0, a - law->half_gap), law->exponent);
  double rise = gap->h / (b - a) * (end - gap->blend * start - (1 - gap->blend) * spring);
  *mean = factor * spring;
  *slope = factor > 0 ? factor * rise + loss * spring : 0;
}


// Returns the mean torque of one side from p + blend h w to p + h w at rate w.
static double sideMean(double* slope, const mjgiGap* gap, const mjgBacklash* law, double sign,
                       double w) {
  double a = sign * (gap->p + gap->blend * gap->h * w);
  double b = sign * (gap->p + gap->h * w);
  double omega = sign * w;
  *slope = 0;

  // clearly open: the onset is never below half_gap - rubber - 2 c/k |w|
  double lead = law->damping / law->stiffness * fabs(w);
  if (fmax(a, b) <= law->half_gap - law->rubber - 2 * lead) {
    return 0;
  }

  mjgiSide side;
  double touch_slope, touch_rate = touchRate(&touch_slope, gap, sign, omega);
  mjgi_makeSide(&side, law, omega, touch_rate, touch_slope);
  double lo = fmin(a, b), hi = fmax(a, b);
  double mean = integrate(slope, gap, law, &side, a, b, omega);

  if (law->model == mjgHUNT_CROSSLEY && law->exponent != 1 && lo < hi) {
    powerMean(&mean, slope, gap, a, b, omega);
  }

  // a jump moves with the rate: later touch, smaller mean
  double onset = side.piece[0].from;
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


// Returns the mean torque of the step at rate w: increasing, continuous but for a touch with state.
static double gapTorque(double* slope, const mjgiGap* gap, double w) {
  const mjgBacklash* law = gap->law;
  if (hasState(law)) {
    return stateTorque(slope, gap, w);
  }
  mjgBacklash spring;
  if (law->model == mjgDAMPED_DEADZONE) {
    spring = *law;
    spring.model = mjgDEADZONE;
    law = &spring;
  }
  double left, right;
  double torque = sideMean(&right, gap, law, 1, w) - sideMean(&left, gap, law, -1, w);
  *slope = left + right;
  if (law->model == mjgTORSION) {
    torque += mjgi_torsionMean(slope, law, gap->slider, gap->p, gap->h, gap->blend, w);
  }

  // a damper that acts only outside the gap: integrate over the whole way, so that the torque
  // increases with w, and subtract the part within the gap
  if (law == &spring) {
    double end = gap->p + gap->h * w, p = gap->p, most = law->half_gap;
    int inside = fabs(end) <= most;
    double within = copysign(most, end) - fmax(-most, fmin(p, most));
    torque +=
        inside ? -law->damping / gap->h * deadZone(p, most) : law->damping * (w - within / gap->h);
    *slope += inside ? 0 : law->damping;
  }
  return torque;
}


//---------------------------------- scalar solve --------------------------------------------------

// models with state: Returns 1 if a shaft at a stop at rate w0 stays there until w.
static int staysAtStop(const mjgiGap* gap, double w0, double w) {
  double end = gapEnd(gap, w);
  return hasState(gap->law) && end * gapEnd(gap, w0) > 0 && fabs(end) > gap->law->half_gap;
}


// Solve T = gapTorque(w), w = w0 - a T, a >= 0; *slope = dT/dw0. At a jump the line picks T.
// Long because Newton, bracket and jump share one loop.
static double solveLine(double* w, double* slope, const mjgiGap* gap, double w0, double a) {
  double s;
  *w = w0;
  double torque = gapTorque(&s, gap, w0);
  if (!(fabs(torque) < INFINITY && a * fabs(torque) < INFINITY)) {
    *slope = NAN;
    return NAN;
  }
  if (torque == 0 || a == 0) {
    *slope = s / (1 + a * s);
    return torque;
  }

  double at_stop = torque / (1 + a * s);
  if (staysAtStop(gap, w0, w0 - a * at_stop)) {
    *w = w0 - a * at_stop;
    *slope = s / (1 + a * s);
    return at_stop;
  }

  double lo = torque > 0 ? w0 - a * torque : w0;
  double hi = torque > 0 ? w0 : w0 - a * torque;
  double f = a * torque;
  double width = hi - lo;
  for (int i = 0; i < mjgiITERATIONS; i++) {
    double next = *w - f / (1 + a * s);
    int wide = hi - lo > kWide;
    int bisect = !(next > lo && next < hi) || (i % 3 == 2 && (wide || hi - lo > 0.5 * width));
    if (i % 3 == 2) {
      width = hi - lo;
    }
    if (bisect) {
      next = wide ? sinh(0.5 * (asinh(lo) + asinh(hi))) : 0.5 * (lo + hi);
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

  // for a stiff gap the line is more accurate than the law; at a jump it alone has the torque
  double line = (w0 - *w) / a;
  if (fabs(f) > kJump * (fabs(w0) + a * fabs(torque))) {
    *slope = 1 / a;
    return line;
  }
  *slope = s / (1 + a * s);
  return a * s > 1 && torque != 0 ? line : torque;
}


int mjgi_solveJam(double* T, double* w, double* slope, const mjgiGap* gap, double w0, double a) {
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


double mjgi_solveGap(double* w, double* slope, const mjgiGap* gap, double w0, double a) {
  double T;
  if (a >= 0) {
    return solveLine(w, slope, gap, w0, a);
  }
  if (mjgi_solveJam(&T, w, slope, gap, w0, a)) {
    return T;
  }
  *w = w0;
  *slope = 0;
  return 0;
}


//---------------------------------- before and after the step -------------------------------------

mjgiGap mjgi_makeGap(const mjgCoupling* coupling, double A) {
  const mjgBacklash* law = coupling->law;
  double h = coupling->h;
  mjgiGap gap = {.law = law, .h = h, .blend = coupling->blend, .omega_d = coupling->omega_d};
  gap.eta = 0.5 * (1 + coupling->blend);
  gap.p = coupling->theta_d - (1 - gap.eta) * h * coupling->omega_d;
  gap.slider = coupling->theta_b;
  if (law->model == mjgTORSION && mjgi_isClutch(law)) {
    gap.origin = gap.slider;
    gap.p -= gap.slider;
    gap.slider = 0;
  }
  if (mjgi_hasTouch(law)) {
    gap.touch = mjg_backlashTouch(law, fabs(gap.omega_d));
    gap.yield = A + (coupling->inertia > 0 ? h / coupling->inertia : 0);
    gap.yield = coupling->yield > 0 ? coupling->yield : gap.yield;
  }
  if (hasState(law)) {
    gap.twist = gap.p - coupling->theta_b;
    gap.twist_rate = coupling->omega_s;
    freeShaft(&gap.free_twist, &gap.free_rate, gap.twist, gap.twist_rate, mjgi_shaftInertia(law),
              law->damping, law->stiffness, h);
  }
  return gap;
}


void mjgi_closeGap(mjgCouplingStep* step, const mjgiGap* gap, double T, double w) {
  const mjgBacklash* law = gap->law;
  double p = gap->p + gap->h * w;
  double b = p - gap->free_twist;
  step->omega_d = (w - (1 - gap->eta) * gap->omega_d) / gap->eta;
  step->theta_b = fmax(-law->half_gap, fmin(b, law->half_gap));
  if (hasState(law)) {
    step->omega_s = gap->free_rate;
    if (T != 0 || fabs(b) > law->half_gap) {
      step->omega_s = closedRate(gap, T, p - step->theta_b, w);
    }
  }
  if (law->model == mjgTORSION) {
    step->theta_b = mjgi_torsionSlider(law, gap->slider, p);
  }
  step->energy = mjg_backlashEnergy(law, p, step->theta_b, step->omega_s);
  step->theta_b += gap->origin;
}

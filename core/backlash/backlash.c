#include "backlash/backlash.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// range of a law's parameters; within it quotients and squares of a step do not overflow
static const double kMost = 1e100, kLeast = 1e-100;


//---------------------------------- parameters ----------------------------------------------------

static const char* const NAMES[mjgNBACKLASH] = {
    "deadzone", "damped_deadzone", "revised_deadzone", "exact",  "phase_plane", "rubber", "smooth",
    "jck",      "hunt_crossley",   "limited_damping",  "torsion"};


const char* mjg_backlashName(int model) {
  return model >= 0 && model < mjgNBACKLASH ? NAMES[model] : NULL;
}


int mjg_backlashModel(const char* name) {
  for (int i = 0; name && i < mjgNBACKLASH; i++) {
    if (!strcmp(name, NAMES[i])) {
      return i;
    }
  }
  return -1;
}


// nonnegative parameters of one model, or (-1) of all models: 0 or in [kLeast, kMost]
#define NUMBER(name, model) \
  { offsetof(mjgBacklash, name), model, #name " must be 0, or from 1e-100 to 1e100" }
static const struct {
  size_t member;
  int model;
  const char* text;
} kNumber[] = {
    NUMBER(half_gap, -1),
    NUMBER(stiffness, -1),
    NUMBER(damping, -1),
    NUMBER(shaft_inertia, -1),
    NUMBER(restitution, -1),
    NUMBER(rubber, -1),
    NUMBER(stiffness_2, mjgTORSION),
    NUMBER(stiffness_3, mjgTORSION),
    NUMBER(torque_1, mjgTORSION),
    NUMBER(torque_2, mjgTORSION),
    NUMBER(hysteresis, mjgTORSION),
    NUMBER(slip_torque, mjgTORSION),
};


const char* mjg_backlashError(const mjgBacklash* law) {
  if (!law) {
    return "no backlash law is given";
  }
  if (law->model < 0 || law->model >= mjgNBACKLASH) {
    return "no such backlash model";
  }

  // comparisons are written so that NaN fails them
  for (size_t i = 0; i < sizeof(kNumber) / sizeof(*kNumber); i++) {
    double x;
    memcpy(&x, (const char*)law + kNumber[i].member, sizeof(x));
    int applies = kNumber[i].model < 0 || kNumber[i].model == law->model;
    if (applies && x != 0 && !(x >= kLeast && x <= kMost)) {
      return kNumber[i].text;
    }
  }
  if (law->stiffness == 0) {
    return "stiffness must be positive";
  }
  if (!(law->rubber >= 0 && law->rubber <= 2 * law->half_gap)) {
    return "rubber must be at least 0 and at most the total gap, 2 half_gap";
  }
  if (law->model == mjgHUNT_CROSSLEY && !(law->exponent >= 1 && law->exponent <= 4)) {
    return "exponent must be at least 1 and at most 4";
  }
  return law->model == mjgTORSION ? mjgi_torsionError(law) : NULL;
}


// touch: below this exponent two terms of the series have 12 digits, more than the equation in r
static const double kShallow = 1e-4;

// relative change at which iterations end: a few round-off errors
static const double kSettled = 1e-15;

// impacts: below this y - ln(1 + y) loses digits, and eight terms of its series do not
static const double kSlow = 1e-2;


//---------------------------------- one side ------------------------------------------------------

// N (19) with x = u (z - 1), u = c omega/k: z - 1 + exp(-z) = r, convex and increasing for z > 0
static double touchExponent(double r) {
  double z = fmin(1 + r, sqrt(2 * r) + r);
  if (z < kShallow) {
    return sqrt(2 * r) + r / 3;
  }
  for (int i = 0; i < 50; i++) {
    double dz = (z + expm1(-z) - r) / -expm1(-z);
    z -= dz;
    if (fabs(dz) <= kSettled * z) {
      break;
    }
  }
  return z;
}


// Compute theta* for omega > 0, its derivative, and the torque just above theta*.
static double touch(double* rate, double* jump, const mjgBacklash* law, double omega) {
  double u = law->damping / law->stiffness * omega;
  if (!(u > 0)) {
    *rate = 0;
    *jump = 0;
    return law->half_gap;
  }
  double z = touchExponent(2 * law->half_gap / u);
  double e = exp(-z);
  *rate =
      z > 0 ? -law->damping / law->stiffness * z * e / -expm1(-z) : -law->damping / law->stiffness;
  *jump = law->damping * omega * -expm1(-z);
  return law->half_gap - u * e;
}


double mjg_backlashTouch(const mjgBacklash* law, double omega_d) {
  double rate, jump;
  return law ? touch(&rate, &jump, law, omega_d) : NAN;
}


// Compute the angle at which a damped shaft closes the gap, its derivative by omega, and the torque
// just above. A shaft that has lost more than the torque of the touch pushes again later.
static double loadingTouch(double* slope, double* jump, const mjgBacklash* law, double omega,
                           double touch_rate, double touch_slope) {
  double lead = law->damping / law->stiffness;
  double zero = law->half_gap - lead * omega;
  double angle = touch(slope, jump, law, touch_rate);
  *slope *= touch_slope;
  if (angle < zero) {
    *slope = -lead;
    *jump = 0;
    return zero;
  }
  if (touch_rate != omega) {
    *jump = law->stiffness * (angle - zero);
  }
  return angle;
}


// Long because it has a case for each model.
void mjgi_makeSide(mjgiSide* side, const mjgBacklash* law, double omega, double touch_rate,
                   double touch_slope) {
  double k = law->stiffness, c = law->damping, gap = law->half_gap, lead = c / k * omega;
  mjgiPiece* p = side->piece;

  // spring and damper, from their onset on
  p[0] = (mjgiPiece){gap - lead, {0, k}, {c}};
  side->npiece = 1;
  side->onset_rate = side->jump = 0;

  switch (law->model) {
    case mjgDEADZONE:
    case mjgEXACT:
    case mjgJCK:
    case mjgHUNT_CROSSLEY:
      p[0] = (mjgiPiece){gap, {0, k}, {0}};
      break;

    case mjgDAMPED_DEADZONE:
      p[0] = (mjgiPiece){gap, {c * omega, k}, {c}};
      break;

    case mjgPHASE_PLANE:
    case mjgRUBBER: {
      double band = law->model == mjgRUBBER ? law->rubber : 0;

      // loading: touch, with the rubber's band around it, N (36), first line
      if (omega > 0) {
        double touched,
            center = loadingTouch(&side->onset_rate, &touched, law, omega, touch_rate, touch_slope);
        p[0] = (mjgiPiece){center, {touched, k}, {c}};
        side->jump = touched;
        if (band > 0) {
          p[0] = (mjgiPiece){center - band / 2,
                             {0, touched / band, k / (2 * band)},
                             {-touched * side->onset_rate / band, c / band}};
          p[1] = (mjgiPiece){center + band / 2, {touched + k * band / 2, k}, {c}};
          side->npiece = 2;
          side->jump = 0;
        }
      }

      // unloading, so slow that the rubber follows, N (36), second line
      else if (band > 0 && band + 2 * lead > 0) {
        double width = band + 2 * lead;
        p[0] = (mjgiPiece){gap - band / 2 - 2 * lead,
                           {0, 0, k / (2 * width)},
                           {0, 2 * c / width, -c / (width * width)}};
        p[1] = (mjgiPiece){gap + band / 2, {k * width / 2, k}, {c}};
        side->npiece = 2;
      }
      break;
    }

    case mjgSMOOTH:
      p[0] = (mjgiPiece){gap, {0, k}, {0}};
      if (law->rubber > 0) {
        p[0] = (mjgiPiece){gap - law->rubber / 2, {0, 0, k / (2 * law->rubber)}, {0}};
        p[1] = (mjgiPiece){gap + law->rubber / 2, {k * law->rubber / 2, k}, {0}};
        side->npiece = 2;
      }
      break;

    case mjgTORSION:
      side->npiece = mjgi_torsionPieces(p, law);
      break;

    case mjgLIMITED_DAMPING:
      if (lead > 0) {
        p[0] = (mjgiPiece){gap, {0, 2 * k}, {0}};
        p[1] = (mjgiPiece){gap + lead, {2 * k * lead, k}, {c}};
        side->npiece = 2;
      }
      break;

    default:
      break;
  }
}


double mjgi_sideTorque(double* dtheta, double* domega, const mjgBacklash* law, const mjgiSide* side,
                       double theta, double omega) {
  const mjgiPiece* p = side->piece;
  *dtheta = 0;
  *domega = 0;
  if (!side->npiece || theta <= p->from) {
    return 0;
  }
  p += side->npiece == 2 && theta >= p[1].from;
  double y = theta - p->from;
  if (law->model == mjgHUNT_CROSSLEY) {
    double a = 1.5 * law->restitution, n = law->exponent, factor = fmax(0, 1 + a * omega);
    double f = law->stiffness * (n == 1 ? y : pow(y, n));
    *dtheta = factor * n * f / y;
    *domega = factor > 0 ? f * a : 0;
    return f * factor;
  }
  *dtheta = p->torque[1] + 2 * p->torque[2] * y;
  *domega = p->rate[0] + y * (p->rate[1] + y * p->rate[2]);
  return p->torque[0] + y * (p->torque[1] + y * p->torque[2]);
}


//---------------------------------- laws ----------------------------------------------------------

double mjg_backlashTorque(double* dT_dtheta, double* dT_domega, const mjgBacklash* law,
                          double theta_d, double omega_d) {
  double torque = 0, dtheta = 0, domega = 0;
  if (!law) {
    return NAN;
  }
  if (law->model == mjgTORSION) {
    domega = law->damping;
    dtheta = mjgi_isClutch(law) ? 0 : law->stiffness;  // a clutch at rest keeps its state
    torque = dtheta * theta_d + domega * omega_d;
  }

  // right side, then the left side as its mirror image
  for (int sign = 1; sign >= -1; sign -= 2) {
    mjgiSide side;
    double by_theta, by_omega;
    mjgi_makeSide(&side, law, sign * omega_d, sign * omega_d, 1);
    torque +=
        sign * mjgi_sideTorque(&by_theta, &by_omega, law, &side, sign * theta_d, sign * omega_d);
    dtheta += by_theta;
    domega += by_omega;
  }
  if (dT_dtheta) {
    *dT_dtheta = dtheta;
  }
  if (dT_domega) {
    *dT_domega = domega;
  }
  return torque;
}


double mjg_gapRate(double* T, const mjgBacklash* law, double theta_d, double omega_d,
                   double theta_b) {
  if (!law) {
    return NAN;
  }
  double k = law->stiffness;
  double c = law->damping;
  double rate = omega_d + k / c * (theta_d - theta_b);

  // a limited integrator
  if (theta_b >= law->half_gap) {
    rate = fmin(0, rate);
  }
  if (theta_b <= -law->half_gap) {
    rate = fmax(0, rate);
  }
  if (law->half_gap == 0) {
    rate = 0;
  }

  // exactly 0 in the gap, despite round-off
  if (T) {
    *T = rate == 0 ? k * (theta_d - theta_b) + c * omega_d : 0;
  }
  return rate;
}


double mjg_backlashEnergy(const mjgBacklash* law, double theta_d, double theta_b, double omega_s) {
  if (!law) {
    return NAN;
  }
  double k = law->stiffness, x = fabs(theta_d);
  if (law->model == mjgEXACT || law->model == mjgJCK) {
    double twist = theta_d - theta_b;
    return 0.5 * (k * twist * twist + mjgi_shaftInertia(law) * omega_s * omega_s);
  }
  if (law->model == mjgHUNT_CROSSLEY) {
    double z = fmax(0, x - law->half_gap);
    return k * pow(z, law->exponent + 1) / (law->exponent + 1);
  }

  // work on the side at rest
  mjgiSide side;
  mjgi_makeSide(&side, law, 0, 0, 1);
  double energy = law->model == mjgTORSION ? mjgi_torsionEnergy(law, theta_d, theta_b) : 0;
  for (int i = 0; i < side.npiece; i++) {
    const mjgiPiece* p = side.piece + i;
    double y = (i + 1 < side.npiece ? fmin(x, p[1].from) : x) - p->from;
    energy += y > 0 ? y * (p->torque[0] + y * (p->torque[1] / 2 + y * p->torque[2] / 3)) : 0;
  }
  return energy;
}


//---------------------------------- conversions ---------------------------------------------------

double mjg_arcmin(double minutes) {
  return minutes * PI / (180 * 60);
}


// y - ln(1 + y) without cancellation for small |y|
static double impactTerm(double y) {
  if (fabs(y) < kSlow) {
    double sum = 0;
    for (int n = 9; n >= 2; n--) {
      sum = (n % 2 ? -1.0 : 1.0) / n + y * sum;
    }
    return y * y * sum;
  }
  return y - log1p(y);
}


// Returns the root below most of impactTerm(y) = impactTerm(-e y), for whichever of e and y is NaN.
static double matchImpact(double e, double y, double most) {
  double lo = 0, hi = most, x = 0.5 * most;
  for (int i = 0; i < 200 && x != lo && x != hi; i++) {
    double share = isnan(e) ? x : e, depth = isnan(y) ? x : y;
    if (impactTerm(depth) > impactTerm(-share * depth)) {
      lo = x;
    } else {
      hi = x;
    }
    x = 0.5 * (lo + hi);
  }
  return x;
}


double mjg_alphaFromRestitution(double e, double v) {
  if (!(e > 0 && e <= 1 && v > 0 && v < INFINITY)) {
    return NAN;
  }
  return e == 1 ? 0 : matchImpact(e, NAN, 1 / e) / (1.5 * v);
}


double mjg_restitutionFromAlpha(double alpha, double v) {
  if (!(alpha >= 0 && alpha < INFINITY && v > 0 && v < INFINITY)) {
    return NAN;
  }
  double y = 1.5 * alpha * v;
  return y == 0 ? 1 : matchImpact(NAN, y, fmin(1, 1 / y));
}

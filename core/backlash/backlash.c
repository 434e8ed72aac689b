#include "backlash/backlash.h"
#include "backlash/torsion.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double PI = 3.14159265358979323846;


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


const char* mjg_backlashError(const mjgBacklash* law) {
  if (!law) {
    return "no backlash law is given";
  }
  if (law->model < 0 || law->model >= mjgNBACKLASH) {
    return "no such backlash model";
  }

  // comparisons are written so that NaN fails them
  if (!(law->half_gap >= 0 && law->half_gap <= mjgiMOST)) {
    return "half_gap must be at most 1e100 and not negative";
  }
  if (!(law->stiffness > 0 && law->stiffness <= mjgiMOST)) {
    return "stiffness must be at most 1e100 and positive";
  }
  if (!(law->damping >= 0 && law->damping <= mjgiMOST)) {
    return "damping must be at most 1e100 and not negative";
  }
  if (!(law->rubber >= 0 && law->rubber <= 2 * law->half_gap)) {
    return "rubber must be at least 0 and at most the total gap, 2 half_gap";
  }
  if (!(law->shaft_inertia >= 0 && law->shaft_inertia <= mjgiMOST)) {
    return "shaft_inertia must be at most 1e100 and not negative";
  }
  if (law->model == mjgHUNT_CROSSLEY && !(law->exponent >= 1 && law->exponent <= 4)) {
    return "exponent must be at least 1 and at most 4";
  }
  if (!(law->restitution >= 0 && law->restitution <= mjgiMOST)) {
    return "restitution must be at most 1e100 and not negative";
  }
  if (law->model == mjgTORSION) {
    return mjgi_torsionError(law);
  }
  return NULL;
}


// touch: below this exponent two terms of its series have 12 digits, more than the equation in r leaves
static const double kShallow = 1e-4;

// relative change at which iterations end, a few rounding errors
static const double kSettled = 1e-15;

// impacts: below this the series of y - ln(1 + y), eight terms, is exact to rounding, and the difference is not
static const double kSlow = 1e-2;


//---------------------------------- one side ------------------------------------------------------

// N (19) with x = u (z - 1), u = c omega/k: z - 1 + exp(-z) = r. The left side is convex and
// increasing for z > 0, and Newton from above cannot leave that range.
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


// theta* for omega > 0, its derivative, and the torque just above it
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


// angle at which a damped shaft closes the gap, its derivative by omega and the torque just above it.
// Where the shaft has lost more than the torque of the touch since, it pushes again later.
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
void mjgi_sideBreaks(mjgiSide* side, const mjgBacklash* law, double omega, double touch_rate,
                     double touch_slope) {
  double gap = law->half_gap;
  double lead = law->damping / law->stiffness * omega;

  side->nbreak = 1;
  side->breaks[0] = gap;
  side->onset_rate = 0;
  side->jump = 0;
  side->touch_torque = 0;

  switch (law->model) {
    case mjgREVISED_DEADZONE:
      side->breaks[0] = gap - lead;
      break;

    case mjgPHASE_PLANE:
    case mjgRUBBER: {
      double band = law->model == mjgRUBBER ? law->rubber : 0;

      // loading: touch, with the rubber's band around it
      if (omega > 0) {
        double center =
            loadingTouch(&side->onset_rate, &side->jump, law, omega, touch_rate, touch_slope);
        side->breaks[0] = center - band / 2;
        if (band > 0) {
          side->nbreak = 2;
          side->breaks[1] = center + band / 2;
          side->touch_torque = side->jump;
          side->jump = 0;
        }
      }

      // unloading, slow enough for the rubber to follow
      else if (band > 0 && band + 2 * lead > 0) {
        side->nbreak = 2;
        side->breaks[0] = gap - band / 2 - 2 * lead;
        side->breaks[1] = gap + band / 2;
      }

      // no rubber, or none that follows: zero torque
      else {
        side->breaks[0] = gap - lead;
      }
      break;
    }

    case mjgSMOOTH:
      if (law->rubber > 0) {
        side->nbreak = 2;
        side->breaks[0] = gap - law->rubber / 2;
        side->breaks[1] = gap + law->rubber / 2;
      }
      break;

    case mjgLIMITED_DAMPING:
      if (lead > 0) {
        side->nbreak = 2;
        side->breaks[1] = gap + lead;
      } else {
        side->breaks[0] = gap - lead;
      }
      break;

    default:
      break;
  }
}


// Long because it has a case for each model.
double mjgi_sideTorque(double* dtheta, double* domega, const mjgBacklash* law, const mjgiSide* side,
                       double theta, double omega) {
  double k = law->stiffness;
  double c = law->damping;
  double z = theta - law->half_gap;
  double y = theta - side->breaks[0];

  *dtheta = 0;
  *domega = 0;
  if (y <= 0) {
    return 0;
  }
  int in_band = side->nbreak == 2 && theta < side->breaks[1];

  switch (law->model) {
    // bands that stiffen with depth y
    case mjgSMOOTH:
      if (in_band) {
        *dtheta = k * y / law->rubber;
        return *dtheta * y / 2;
      }
      *dtheta = k;
      return k * z;

    case mjgRUBBER:
      if (in_band && omega > 0) {
        // N (36), first line
        *dtheta = (k * y + side->touch_torque) / law->rubber;
        *domega = (c * y - side->touch_torque * side->onset_rate) / law->rubber;
        return (k * y / 2 + side->touch_torque) * y / law->rubber;
      }
      if (in_band) {
        // N (36), second line, which is k y^2/(2 width)
        double width = side->breaks[1] - side->breaks[0];
        double r = fmin(y / width, 1);
        *dtheta = k * r;
        *domega = 2 * c * r * (1 - r / 2);
        return k * y * r / 2;
      }
      *dtheta = k;
      *domega = c;
      return fmax(0, k * z + c * omega);

    case mjgHUNT_CROSSLEY: {
      double a = 1.5 * law->restitution;
      double factor = fmax(0, 1 + a * omega);
      double n = law->exponent;
      double f = k * (n == 1 ? z : pow(z, n));
      *dtheta = factor * n * f / z;
      *domega = factor > 0 ? f * a : 0;
      return f * factor;
    }

    case mjgLIMITED_DAMPING:
      if (in_band) {
        *dtheta = 2 * k;
        return 2 * k * z;
      }
      *dtheta = k;
      *domega = c;
      return k * z + c * omega;

    // spring alone
    case mjgDEADZONE:
    case mjgEXACT:
    case mjgJCK:
      *dtheta = k;
      return k * z;

    // spring and damper
    default:
      *dtheta = k;
      *domega = c;
      return k * z + c * omega;
  }
}


//---------------------------------- laws ----------------------------------------------------------

double mjg_backlashTorque(double* dT_dtheta, double* dT_domega, const mjgBacklash* law,
                          double theta_d, double omega_d) {
  double torque = 0, dtheta = 0, domega = 0;
  if (!law) {
    return NAN;
  }
  if (law->model == mjgTORSION) {
    torque = mjgi_torsionSpring(&dtheta, law, theta_d, omega_d);
    domega = law->damping;
  }

  // right side, then the left side as its mirror image
  for (int sign = 1; sign >= -1 && law->model != mjgTORSION; sign -= 2) {
    mjgiSide side;
    double by_theta, by_omega;
    mjgi_sideBreaks(&side, law, sign * omega_d, sign * omega_d, 1);
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

  // exactly 0 in the gap, whatever rounding says
  if (T) {
    *T = rate == 0 ? k * (theta_d - theta_b) + c * omega_d : 0;
  }
  return rate;
}


double mjgi_gapAcceleration(double* T, const mjgBacklash* law, double theta_d, double omega_d,
                            double alpha_d, double theta_b, double omega_b) {
  double k = law->stiffness;
  double c = law->damping;
  double j = law->shaft_inertia;

  // right side of A (22), limited where the gap is closed
  double drive = alpha_d + c / j * omega_d + k / j * (theta_d - theta_b);
  if (theta_b >= law->half_gap) {
    drive = fmin(0, drive);
  }
  if (theta_b <= -law->half_gap) {
    drive = fmax(0, drive);
  }
  if (law->half_gap == 0) {
    drive = 0;
  }
  double alpha_b = drive - c / j * omega_b;
  if (T) {
    *T = drive == 0 ? j * alpha_d + c * omega_d + k * (theta_d - theta_b) : 0;
  }
  return alpha_b;
}


double mjg_backlashEnergy(const mjgBacklash* law, double theta_d, double theta_b, double omega_s) {
  if (!law) {
    return NAN;
  }
  double k = law->stiffness;
  if (law->model == mjgTORSION) {
    return mjgi_torsionEnergy(law, theta_d, theta_b);
  }
  if (law->model == mjgEXACT || law->model == mjgJCK) {
    double twist = theta_d - theta_b;
    double j = law->model == mjgJCK ? law->shaft_inertia : 0;
    return 0.5 * (k * twist * twist + j * omega_s * omega_s);
  }

  double z = fabs(theta_d) - law->half_gap;
  if (law->rubber > 0 && (law->model == mjgRUBBER || law->model == mjgSMOOTH)) {
    double beta = law->rubber;
    double y = z + beta / 2;
    if (y <= 0) {
      return 0;
    }
    return y < beta ? k * y * y * y / (6 * beta) : k * (z * z / 2 + beta * beta / 24);
  }
  if (z <= 0) {
    return 0;
  }
  if (law->model == mjgHUNT_CROSSLEY) {
    return k * pow(z, law->exponent + 1) / (law->exponent + 1);
  }
  return 0.5 * k * z * z;
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


double mjg_alphaFromRestitution(double e, double v) {
  if (!(e > 0 && e <= 1 && v > 0 && v < INFINITY)) {
    return NAN;
  }
  if (e == 1) {
    return 0;
  }

  // kinetic energy in equals kinetic energy out at y = 0; beyond it, in this measure, the term of
  // the way in grows more slowly. e y < 1 bounds y.
  double lo = 0, hi = 1 / e;
  for (int i = 0; i < 200 && hi - lo > kSettled / 10 * hi; i++) {
    double y = 0.5 * (lo + hi);
    if (y == lo || y == hi) {
      break;
    }
    if (impactTerm(y) > impactTerm(-e * y)) {
      lo = y;
    } else {
      hi = y;
    }
  }
  return 0.5 * (lo + hi) / (1.5 * v);
}


double mjg_restitutionFromAlpha(double alpha, double v) {
  if (!(alpha >= 0 && alpha < INFINITY && v > 0 && v < INFINITY)) {
    return NAN;
  }
  double y = 1.5 * alpha * v;
  if (y == 0) {
    return 1;
  }

  // impactTerm(-x) grows from 0 to infinity on [0, 1)
  double lo = 0, hi = fmin(y, 1);
  double in = impactTerm(y);
  for (int i = 0; i < 200; i++) {
    double x = 0.5 * (lo + hi);
    if (x == lo || x == hi) {
      break;
    }
    if (impactTerm(-x) < in) {
      lo = x;
    } else {
      hi = x;
    }
  }
  return 0.5 * (lo + hi) / y;
}

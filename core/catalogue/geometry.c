#include "catalogue/geometry.h"

#include <math.h>

static const double kPi = 3.14159265358979323846;

// most pairs of teeth in contact at once, far more than any gear has
static const double kMostPairs = 1000;


// Store two results if both are finite.
static int store(double* first, double* second, double a, double b) {
  if (!isfinite(a) || !isfinite(b)) {
    return mjgERR_NOT_FINITE;
  }
  *first = a;
  *second = b;
  return mjgSOLVED;
}


//---------------------------------- screws --------------------------------------------------------

int mjg_screw(double* gamma_u, double* gamma_v, double lead_angle, double pressure_angle,
              double mu) {
  if (!gamma_u || !gamma_v || !(lead_angle > 0 && lead_angle < kPi / 2) ||
      !(pressure_angle >= 0 && pressure_angle < kPi / 2) || !(mu >= 0 && isfinite(mu))) {
    return mjgERR_ARGUMENT;
  }
  double slope = tan(lead_angle);
  double flank = mu / cos(pressure_angle);
  return store(gamma_u, gamma_v, flank * slope, flank / slope);
}


int mjgi_screwFromCoefficients(double* lead_angle, double* mu, double gamma_u, double gamma_v,
                               double pressure_angle) {
  if (!(gamma_u > 0 && isfinite(gamma_u)) || !(gamma_v > 0 && isfinite(gamma_v)) ||
      !(pressure_angle >= 0 && pressure_angle < kPi / 2)) {
    return mjgERR_ARGUMENT;
  }
  *lead_angle = atan(sqrt(gamma_u / gamma_v));
  *mu = sqrt(gamma_u) * sqrt(gamma_v) * cos(pressure_angle);
  return mjgSOLVED;
}


//---------------------------------- spur gears ----------------------------------------------------

static int validSpur(const mjgSpur* spur) {
  return spur->radius_in > 0 && isfinite(spur->radius_in) && spur->radius_out > 0 &&
         isfinite(spur->radius_out) && spur->pressure_angle > 0 && spur->pressure_angle < kPi / 2 &&
         spur->mu >= 0 && isfinite(spur->mu) && spur->approach >= 0 && spur->recess >= 0 &&
         spur->approach + spur->recess > 0 && isfinite(spur->approach + spur->recess) &&
         spur->pitch >= 0 && isfinite(spur->pitch) &&
         (spur->pitch == 0 || spur->approach + spur->recess <= kMostPairs * spur->pitch);
}


void mjgi_spurAt(double* gamma_u, double* gamma_v, const mjgSpur* spur, double xi, double s) {
  double lever = fabs(xi) / cos(spur->pressure_angle);
  double slope = s * tan(spur->pressure_angle);
  *gamma_u = spur->mu * (lever / spur->radius_out - slope);
  *gamma_v = spur->mu * (lever / spur->radius_in + slope);
}


int mjgi_spurMean(double* gamma_u, double* gamma_v, const mjgSpur* spur) {
  if (!validSpur(spur)) {
    return mjgERR_ARGUMENT;
  }

  // the means of |xi| and of sgn(xi)
  double path = spur->approach + spur->recess;
  double distance = (spur->approach * spur->approach + spur->recess * spur->recess) / (2 * path);
  double sign = (spur->recess - spur->approach) / path;
  double u, v;
  mjgi_spurAt(&u, &v, spur, distance, sign);
  return store(gamma_u, gamma_v, u, v);
}


int mjgi_spurMesh(double* gamma_u, double* gamma_v, const mjgSpur* spur, double angle) {
  if (!validSpur(spur) || !isfinite(angle)) {
    return mjgERR_ARGUMENT;
  }

  // contact moves along the line of action as the base circle turns: sum over all pairs in contact
  double path = spur->approach + spur->recess;
  double pitch = spur->pitch > 0 ? spur->pitch : path;
  double xi = fmod(spur->radius_out * cos(spur->pressure_angle) * angle + spur->approach, pitch);
  xi -= spur->approach - (xi < 0 ? pitch : 0);

  double sum_u = 0, sum_v = 0;
  int pairs = 0;
  for (; xi <= spur->recess || pairs == 0; xi += pitch) {
    double u, v;
    mjgi_spurAt(&u, &v, spur, xi, (xi > 0) - (xi < 0));
    sum_u += u;
    sum_v += v;
    pairs++;
  }
  return store(gamma_u, gamma_v, sum_u / pairs, sum_v / pairs);
}


int mjgi_spurPath(mjgSpur* spur, double addendum_in, double addendum_out) {
  if (!(addendum_in > 0 && isfinite(addendum_in)) ||
      !(addendum_out > 0 && isfinite(addendum_out)) || !(spur->radius_in > 0) ||
      !(spur->radius_out > 0) || !(spur->pressure_angle > 0 && spur->pressure_angle < kPi / 2)) {
    return mjgERR_ARGUMENT;
  }

  // distance at which a tip circle cuts the line of action, from where it touches the base circle
  double c = cos(spur->pressure_angle);
  double s = sin(spur->pressure_angle);
  double tip_in = spur->radius_in + addendum_in;
  double tip_out = spur->radius_out + addendum_out;
  double reach_in = sqrt(tip_in * tip_in - spur->radius_in * spur->radius_in * c * c);
  double reach_out = sqrt(tip_out * tip_out - spur->radius_out * spur->radius_out * c * c);

  // contact ends at the tip of the input gear and begins at the tip of the output gear
  double recess = reach_in - spur->radius_in * s;
  double approach = reach_out - spur->radius_out * s;
  if (approach > spur->radius_in * s || recess > spur->radius_out * s) {
    return mjgERR_ARGUMENT;
  }
  return store(&spur->approach, &spur->recess, approach, recess);
}

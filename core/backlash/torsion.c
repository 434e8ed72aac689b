#include "backlash/torsion.h"

#include <math.h>
#include <stddef.h>

//---------------------------------- parameters ----------------------------------------------------

const char* mjgi_torsionError(const mjgBacklash* law) {
  const mjgBacklash* l = law;
  if (l->half_gap != 0) {
    return "torsion has no gap; set half_gap to 0";
  }
  if ((l->stiffness_2 > 0) != (l->torque_1 > 0)) {
    return "stiffness_2 counts above torque_1; give both or neither";
  }
  if ((l->stiffness_3 > 0) != (l->torque_2 > 0)) {
    return "stiffness_3 counts above torque_2; give both or neither";
  }
  if (l->stiffness_3 > 0 && !(l->stiffness_2 > 0 && l->torque_2 > l->torque_1)) {
    return "torque_2 must be above torque_1, between which stiffness_2 counts";
  }
  if (l->freewheel != 0 && fabs(l->freewheel) != 1) {
    return "freewheel must be 1, where the motor drives forward only, -1, backward only, or 0";
  }
  if (mjgi_isClutch(l) && (l->stiffness_2 > 0 || l->hysteresis > 0 || l->damping > 0)) {
    return "a clutch has one stiffness; leave out stiffness_2, hysteresis and damping, or "
           "slip_torque and freewheel";
  }
  return NULL;
}


static double stiffest(const mjgBacklash* law) {
  return fmax(law->stiffness, fmax(law->stiffness_2, law->stiffness_3));
}


double mjgi_torsionStiffness(const mjgBacklash* law) {
  return stiffest(law) * (law->hysteresis > 0 ? 2 : 1);
}


//---------------------------------- spring --------------------------------------------------------

int mjgi_torsionPieces(mjgiPiece* piece, const mjgBacklash* law) {
  double k = law->stiffness, k2 = law->stiffness_2, k3 = law->stiffness_3;
  if (!(k2 > 0)) {
    return 0;
  }
  double second = law->torque_1 / k;
  piece[0] = (mjgiPiece){second, {0, k2 - k}, {0}};
  if (!(k3 > 0)) {
    return 1;
  }
  double width = (law->torque_2 - law->torque_1) / k2;
  piece[1] = (mjgiPiece){second + width, {(k2 - k) * width, k3 - k}, {0}};
  return 2;
}


//---------------------------------- slider --------------------------------------------------------

// Set the torques at which the slider moves, low < 0 and high > 0; a clutch may have 0 or infinity.
// Friction yields with the largest stiffness (an assumption), up to half the hysteresis angle.
static void findLimits(double* low, double* high, const mjgBacklash* law) {
  double most = 0.5 * law->stiffness * law->hysteresis;
  if (mjgi_isClutch(law)) {
    most = law->slip_torque > 0 ? law->slip_torque : INFINITY;
  }
  *low = law->freewheel > 0 ? 0 : -most;
  *high = law->freewheel < 0 ? 0 : most;
}


static double clip(double x, double low, double high) {
  return fmax(low, fmin(x, high));
}


// Returns the mean torque of the slider from a to b; at a limit it is exactly that limit.
static double sliderMean(double* slope, const mjgBacklash* law, double theta_b, double a, double b,
                         double h, double blend) {
  double low, high, k = stiffest(law), lo = fmin(a, b), hi = fmax(a, b), mean = 0;
  findLimits(&low, &high, law);
  if (!(hi > lo)) {
    double yields = k * (b - theta_b);
    *slope += yields > low && yields < high ? k * h * 0.5 * (1 + blend) : 0;
    return clip(yields, low, high);
  }
  double start = clip(theta_b + low / k, lo, hi), end = clip(theta_b + high / k, lo, hi);
  if (end > start) {
    double middle = 0.5 * (start + end), share = (end - start) / (hi - lo);
    mean = share * k * (middle - theta_b);
    *slope += share * k * h * (blend + (1 - blend) * ((middle - a) / (b - a)));
  }
  mean += start > lo ? (start - lo) / (hi - lo) * low : 0;
  mean += hi > end ? (hi - end) / (hi - lo) * high : 0;
  return clip(mean, low, high);
}


double mjgi_torsionMean(double* slope, const mjgBacklash* law, double theta_b, double p, double h,
                        double blend, double w) {
  double a = p + blend * h * w, b = p + h * w, torque = law->damping * w;
  *slope += law->damping;
  if (!mjgi_isClutch(law)) {
    torque += 0.5 * law->stiffness * (a + b);
    *slope += 0.5 * law->stiffness * h * (1 + blend);
  }
  if (law->hysteresis > 0 || mjgi_isClutch(law)) {
    torque += sliderMean(slope, law, theta_b, a, b, h, blend);
  }
  return torque;
}


double mjgi_torsionEnergy(const mjgBacklash* law, double theta, double theta_b) {
  double yields = theta - theta_b, k = mjgi_isClutch(law) ? law->stiffness : stiffest(law);
  double spring = mjgi_isClutch(law) ? 0 : law->stiffness * theta * theta;
  return 0.5 * (spring + (law->hysteresis > 0 || mjgi_isClutch(law) ? k * yields * yields : 0));
}


double mjgi_torsionSlider(const mjgBacklash* law, double theta_b, double p) {
  double low, high, k = stiffest(law);
  findLimits(&low, &high, law);
  return clip(theta_b, p - high / k, p - low / k);
}

#include "backlash/torsion.h"

#include <math.h>
#include <stddef.h>

// angles at which the torque over the angle bends: two on either side of the spring, two of the friction
#define mjgiMAXBEND 6


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


// stiffest range of the spring
static double stiffest(const mjgBacklash* law) {
  return fmax(law->stiffness, fmax(law->stiffness_2, law->stiffness_3));
}


// The friction: after a turn it yields with the stiffness of the stiffest range, which is an assumption, to the
// torque that leaves an angle of half the hysteresis without load
static double frictionTorque(const mjgBacklash* law) {
  return 0.5 * law->stiffness * law->hysteresis;
}


// torques at which the slider goes along, from low < 0 to high > 0; of a clutch one may be 0, or infinite
static void findLimits(double* low, double* high, const mjgBacklash* law) {
  double most = law->slip_torque > 0 ? law->slip_torque : INFINITY;
  int clutch = mjgi_isClutch(law);
  *low = clutch ? (law->freewheel > 0 ? 0 : -most) : -frictionTorque(law);
  *high = clutch ? (law->freewheel < 0 ? 0 : most) : frictionTorque(law);
}


double mjgi_torsionStiffness(const mjgBacklash* law) {
  return stiffest(law) * (law->hysteresis > 0 ? 2 : 1);
}


//---------------------------------- spring --------------------------------------------------------

// angle from which the second and the third stiffness count, infinite if there is none
static double second(const mjgBacklash* law) {
  return law->stiffness_2 > 0 ? law->torque_1 / law->stiffness : INFINITY;
}


static double third(const mjgBacklash* law) {
  return law->stiffness_3 > 0 ? second(law) + (law->torque_2 - law->torque_1) / law->stiffness_2
                              : INFINITY;
}


double mjgi_torsionSpring(double* slope, const mjgBacklash* law, double theta, double omega) {
  double x = fabs(theta), torque;
  if (mjgi_isClutch(law)) {
    return *slope = 0;  // at rest a clutch is as it was left
  }
  if (x <= second(law)) {
    *slope = law->stiffness;
    torque = law->stiffness * x;
  } else if (x <= third(law)) {
    *slope = law->stiffness_2;
    torque = law->torque_1 + law->stiffness_2 * (x - second(law));
  } else {
    *slope = law->stiffness_3;
    torque = law->torque_2 + law->stiffness_3 * (x - third(law));
  }
  return copysign(torque, theta) + law->damping * omega;
}


double mjgi_torsionEnergy(const mjgBacklash* law, double theta, double theta_b) {
  double x = fabs(theta), a = fmin(x, second(law)), b = fmin(x, third(law)) - a;
  if (mjgi_isClutch(law)) {
    return 0.5 * law->stiffness * (theta - theta_b) * (theta - theta_b);
  }
  double energy = 0.5 * law->stiffness * a * a;
  if (b > 0) {
    energy += b * (law->torque_1 + 0.5 * law->stiffness_2 * b);
  }
  if (x > third(law)) {
    double c = x - third(law);
    energy += c * (law->torque_2 + 0.5 * law->stiffness_3 * c);
  }
  double yields = theta - theta_b;
  return law->hysteresis > 0 ? energy + 0.5 * stiffest(law) * yields * yields : energy;
}


//---------------------------------- step ----------------------------------------------------------

// spring and friction at an angle on the way of this step; way and slider go in one direction, so that this is a
// function of the angle
static double torqueAt(double* slope, const mjgBacklash* law, double theta_b, double theta) {
  double torque = mjgi_torsionSpring(slope, law, theta, 0);
  if (law->hysteresis > 0 || mjgi_isClutch(law)) {
    double low, high, yields = stiffest(law) * (theta - theta_b);
    findLimits(&low, &high, law);
    *slope += yields > low && yields < high ? stiffest(law) : 0;
    torque += fmax(low, fmin(yields, high));
  }
  return torque;
}


double mjgi_torsionMean(double* slope, const mjgBacklash* law, double theta_b, double p, double h,
                        double blend, double w) {
  double a = p + blend * h * w, b = p + h * w, lo = fmin(a, b), hi = fmax(a, b), mean = 0, s;
  if (!(hi > lo)) {
    double torque = torqueAt(&s, law, theta_b, b);
    *slope = s * h * 0.5 * (1 + blend) + law->damping;
    return torque + law->damping * w;
  }

  // between the bends the torque is a line: its mean is that of the ends of each piece
  double bend[mjgiMAXBEND + 2], low, high;
  findLimits(&low, &high, law);
  low /= stiffest(law);
  high /= stiffest(law);
  const double angle[mjgiMAXBEND] = {-third(law), -second(law),  second(law),
                                     third(law),  theta_b + low, theta_b + high};
  int n = 0;
  bend[n++] = lo;
  for (int i = 0; i < mjgiMAXBEND; i++) {
    if (angle[i] > lo && angle[i] < hi) {
      int k = n++;
      for (; k > 1 && bend[k - 1] > angle[i]; k--) {
        bend[k] = bend[k - 1];
      }
      bend[k] = angle[i];
    }
  }
  bend[n] = hi;
  *slope = law->damping;
  for (int i = 0; i < n; i++) {
    double middle = 0.5 * (bend[i] + bend[i + 1]), share = (bend[i + 1] - bend[i]) / (hi - lo);
    mean += share * torqueAt(&s, law, theta_b, middle);

    // the later an angle is reached, the more it moves with w
    double time = blend + (1 - blend) * ((middle - a) / (b - a));
    *slope += share * s * h * time;
  }
  return mean + law->damping * w;
}


double mjgi_torsionSlider(const mjgBacklash* law, double theta_b, double p) {
  double low, high, k = stiffest(law);
  findLimits(&low, &high, law);
  return fmax(p - high / k, fmin(theta_b, p - low / k));
}

// The integral of the torque of mjgTORSION over the angle, range by range, for tests.

#ifndef MJGEAR_TESTS_TORSION_AREA_H_
#define MJGEAR_TESTS_TORSION_AREA_H_

#include <math.h>

#include "mjgear_backlash.h"

// integral from 0 to theta, with the slider of friction at rest
static inline double torsionArea(const mjgBacklash* l, double slider, double theta) {
  double a = fabs(theta), one = l->torque_1 > 0 ? l->torque_1 / l->stiffness : INFINITY;
  double two = l->torque_2 > 0 ? one + (l->torque_2 - l->torque_1) / l->stiffness_2 : INFINITY;
  double sum = 0.5 * l->stiffness * pow(fmin(a, one), 2);
  if (a > one) {
    double b = fmin(a, two) - one;
    sum += l->torque_1 * b + 0.5 * l->stiffness_2 * b * b;
  }
  if (a > two) {
    sum += l->torque_2 * (a - two) + 0.5 * l->stiffness_3 * (a - two) * (a - two);
  }
  if (l->hysteresis > 0) {
    double k = fmax(l->stiffness, fmax(l->stiffness_2, l->stiffness_3)), x = fabs(theta - slider);
    double limit = 0.5 * l->stiffness * l->hysteresis, reach = limit / k;
    sum += x < reach ? 0.5 * k * x * x : limit * (x - 0.5 * reach);
  }
  return sum;
}

#endif  // MJGEAR_TESTS_TORSION_AREA_H_

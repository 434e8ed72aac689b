#include <math.h>

#include "mjgear.h"


double mjg_preslidingCompliance(double stiffness, double h) {
  if (!(stiffness >= 0 && h > 0 && h < INFINITY)) {
    return NAN;
  }
  return stiffness > 0 && stiffness < INFINITY ? 1 / (stiffness * h) : 0;
}


void mjg_addPresliding(double* v, double* A, double compliance, double t_last) {
  if (v && A) {
    *v += compliance * t_last;
    *A += compliance;
  }
}


double mjg_preslidingVelocity(double slip, double t, double compliance, double t_last) {
  return slip + compliance * (t - t_last);
}


double mjg_preslidingSlip(double velocity, double t, double compliance, double t_last) {
  return velocity - compliance * (t - t_last);
}

#include "catalogue/geometry.h"

#include <math.h>

// turns of the output per turn of the motor below which the output stands, up to round-off
static const double kStands = 1e-12;


// central gears
enum {
  SUN,
  RING,
  OUT
};


// Compute the external torques on the central gears for a torque of the driving side. The power of
// each gear has a factor on its way to the planets; speeds are relative to the carrier.
static void torques(double T[3], const double speed[3], const double factor[3], int has_out,
                    int forward, double given) {
  double a = factor[SUN] * speed[SUN], b = factor[RING] * speed[RING], c = factor[OUT] * speed[OUT];
  if (!has_out) {
    T[SUN] = forward ? given : -given / (1 - a / b);
    T[RING] = -a / b * T[SUN];
    T[OUT] = 0;
  } else {
    T[SUN] = forward ? given : (b - c) / (a - b) * given;
    T[OUT] = forward ? (a - b) / (b - c) * given : given;
    T[RING] = -T[SUN] - T[OUT];
  }
}


// Returns the torque of the driven side: tries directions of power flow in each mesh, first that
// without losses; NAN if none is consistent.
static double drivenTorque(const double speed[3], int has_out, double efficiency, int forward,
                           double given) {
  const double lossless[3] = {1, 1, 1};
  double T[3];
  torques(T, speed, lossless, has_out, forward, given);
  int start = 0;
  for (int k = 0; k < 3; k++) {
    start |= (T[k] * speed[k] > 0) << k;
  }
  static const int change[] = {0, 1, 2, 4, 3, 5, 6, 7};
  for (int i = 0; i < 8; i++) {
    int inward = start ^ change[i], consistent = 1;
    double factor[3];
    for (int k = 0; k < 3; k++) {
      factor[k] = (inward >> k) & 1 ? efficiency : 1 / efficiency;
    }
    torques(T, speed, factor, has_out, forward, given);
    for (int k = 0; k < 2 + has_out; k++) {
      double power = T[k] * speed[k];
      consistent &= (inward >> k) & 1 ? power >= 0 : power <= 0;
    }
    if (consistent) {
      return !forward ? T[SUN] : has_out ? T[OUT] : -T[SUN] - T[RING];
    }
  }
  return NAN;
}


int mjgi_planetary(double* ratio, double* eta_f, double* eta_b, const mjgiPlanetary* gears) {
  const mjgiPlanetary* g = gears;
  if (!(g->sun > 0 && isfinite(g->sun)) || !(g->planet > 0 && isfinite(g->planet)) ||
      !(g->ring > 0 && isfinite(g->ring)) || !(g->planet_out >= 0 && isfinite(g->planet_out)) ||
      !(g->ring_out >= 0 && isfinite(g->ring_out)) || !(g->efficiency > 0 && g->efficiency <= 1)) {
    return mjgERR_ARGUMENT;
  }
  int has_out = g->ring_out > 0;
  double second = g->planet_out > 0 ? g->planet_out : g->planet;

  // relative to the carrier, per turn of the planets: Willis
  double speed[3] = {-g->planet / g->sun, (has_out ? g->planet : second) / g->ring,
                     has_out ? second / g->ring_out : 0};

  // the ring stands: the carrier turns with minus the ring's relative speed
  double carrier = -speed[RING];
  double motor = speed[SUN] + carrier;
  double output = has_out ? speed[OUT] + carrier : carrier;
  if (fabs(output) < kStands * fabs(motor) || motor == 0) {
    return mjgERR_ARGUMENT;
  }

  // output power over motor power as the motor drives, and the reverse as the load drives
  double driven = drivenTorque(speed, has_out, g->efficiency, 1, motor > 0 ? 1 : -1);
  double forward = -driven * output / fabs(motor);
  driven = drivenTorque(speed, has_out, g->efficiency, 0, output > 0 ? 1 : -1);
  double backward = -driven * motor / fabs(output);
  if (!isfinite(forward) || !isfinite(backward) || !isfinite(motor / output)) {
    return mjgERR_ARGUMENT;
  }
  *ratio = motor / output;
  *eta_f = forward;
  *eta_b = backward;
  return mjgSOLVED;
}

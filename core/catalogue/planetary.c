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


// Returns the torque of the driven side: tries directions of power flow in each mesh, first that
// without losses; NAN if none is consistent. The power of each gear has a factor on its way to the
// planets; speeds are relative to the carrier.
static double drivenTorque(const double speed[3], int has_out, double efficiency, int forward,
                           double given) {
  static const int change[] = {0, 1, 2, 4, 3, 5, 6, 7};
  int start = 0;
  for (int i = -1; i < 8; i++) {
    int inward = i < 0 ? 0 : start ^ change[i], consistent = i >= 0;
    double passes = i < 0 ? 1 : efficiency, x[3];
    for (int k = 0; k < 3; k++) {
      x[k] = ((inward >> k) & 1 ? passes : 1 / passes) * speed[k];
    }

    // torques with which the planets balance; the last one is the output's, carrier or ring
    const double T[3] = {x[RING] - x[OUT], x[OUT] - x[SUN], x[SUN] - x[RING]};
    double scale = given / T[forward ? SUN : OUT];
    for (int k = 0; k < 2 + has_out; k++) {
      double power = scale * T[k] * speed[k];
      start |= i < 0 && power > 0 ? 1 << k : 0;
      consistent &= (inward >> k) & 1 ? power >= 0 : power <= 0;
    }
    if (consistent) {
      return scale * T[forward ? OUT : SUN];
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

// The flap follows ramps under load: figures 11 to 15.

#include "servo.h"

#define LOAD      74500.0  // of figures 11 to 13, N m
#define HALF_LOAD 37243.0  // of figures 14 and 15, N m
#define SLOPE     0.5      // of all ramps, deg/s

enum { REVERSIBLE, IRREVERSIBLE, STATIC, TRIANGLE, TRIANGLE_LOCKED };

// the target is 1 in the cases that follow a triangle
static const mjgCase rampCase[] = {
    {mjgFLAP_CASE("figure11-reversible", 0.9090909090909091, 0.9, 1.2, 0.1, 0, 0)},
    {mjgFLAP_CASE("figure12-irreversible", 0.45454545454545453, -0.2, 1.2, 0.1, 0, 0)},
    {mjgFLAP_CASE("figure13-statically-irreversible", 0.7142857142857143, 0.6, 2.5, 0.1, 0, 0)},
    {mjgFLAP_CASE("figure14-reversible", 0.9090909090909091, 0.9, 1.2, 0, 1, 0)},
    {mjgFLAP_CASE("figure15-irreversible", 0.45454545454545453, -0.2, 1.2, 0, 1, 0)},
};

// up and down between 0 and 0.2 deg in 0.4 s each, and 0.05 deg ahead in the direction of motion
static double triangle(double time) {
  double phase = fmod(time - 0.1 + 1e-9, 0.8);
  return phase < 0.4 ? SLOPE * phase + 0.05 : SLOPE * (0.8 - phase) - 0.05;
}

static void schedule(mjgFlapInput* input, double time, const mjgCase* variant) {
  double command, load;
  if (mjgFLAP_TARGET(variant) > 0) {
    command = mjg_reached(time, 0.1) ? triangle(time) : 0;
    load = mjg_reached(time, 0.1) ? HALF_LOAD : 0;
  } else {
    command = 0.1 - SLOPE * fmax(time - 0.07, 0);
    load = mjg_within(time, 0.02, 0.2) ? LOAD : 0;
  }
  *input = (mjgFlapInput){command * mjgFLAP_DEGREE, load, mjgFLAP_FULL};
}

mjgFLAP_CALLBACKS

// position error at which the flap starts to move downward after the ramp has begun, deg
static double breakawayError(const mjgTrajectory* run) {
  for (double time = 0.0705; time < 0.2; time += 0.0005) {
    if (mjg_at(run, "v_flap", time) < -1e-6) {
      return mjg_at(run, "error", time - 0.0005);
    }
  }
  return NAN;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // the load step moves only the reversible flap
  double moved[3];
  for (int i = 0; i < 3; i++) {
    moved[i] = mjg_lowest(&run[i], "position", 0.02, 0.0695) - 0.1;
  }
  mjg_claim(claims, moved[REVERSIBLE] < -0.001 && moved[IRREVERSIBLE] == 0 && moved[STATIC] == 0,
            "the load moves only the reversible flap before the ramp begins: %.4f, %g, %g deg", moved[REVERSIBLE],
            moved[IRREVERSIBLE], moved[STATIC]);

  // error at break-away: positive, the servo brakes, or negative, it drives
  double start[3], steady[3], unloaded[3];
  for (int i = 0; i < 3; i++) {
    start[i] = breakawayError(&run[i]);
    steady[i] = mjg_flapMeanError(&run[i], 0.16, 0.2);
    unloaded[i] = mjg_flapMeanError(&run[i], 0.3, 0.5);
  }
  mjg_claim(
      claims, start[REVERSIBLE] > 0 && steady[REVERSIBLE] > 0,
      "figure 11: reversible, the servo brakes the aiding load: error %+.5f deg at break-away, %+.5f deg in the ramp",
      start[REVERSIBLE], steady[REVERSIBLE]);
  mjg_claim(claims, start[IRREVERSIBLE] < 0 && steady[IRREVERSIBLE] < 0,
            "figure 12: irreversible, the servo must drive: error %+.5f deg at break-away, %+.5f deg in the ramp",
            start[IRREVERSIBLE], steady[IRREVERSIBLE]);
  mjg_claim(
      claims, start[STATIC] < 0 && steady[STATIC] > 0,
      "figure 13: irreversible at rest and reversible in motion: error %+.5f deg at break-away, %+.5f deg in the ramp",
      start[STATIC], steady[STATIC]);
  mjg_claim(claims, unloaded[0] < 0 && unloaded[1] < 0 && unloaded[2] < 0,
            "without load the error has the sign of the ramp's slope in all three: %+.5f, %+.5f, %+.5f", unloaded[0],
            unloaded[1], unloaded[2]);

  // triangle: distance of the flap behind its command at the end of each ramp
  double up = mjg_flapMeanError(&run[TRIANGLE], 0.4, 0.5), down = -mjg_flapMeanError(&run[TRIANGLE], 0.8, 0.9);
  double up_locked = mjg_flapMeanError(&run[TRIANGLE_LOCKED], 0.4, 0.5);
  double down_locked = -mjg_flapMeanError(&run[TRIANGLE_LOCKED], 0.8, 0.9);
  mjg_claim(claims, down < 0, "figure 14: the aiding load makes the reversible flap lead its command by %.5f deg",
            -down);
  mjg_claim(claims, down_locked > 0, "figure 15: the irreversible flap lags under an aiding load too, by %.5f deg",
            down_locked);
  mjg_claim(claims, up > 0 && up < up_locked && down < down_locked,
            "the reversible flap is less behind than the irreversible one: %.5f to %.5f deg opposing, %.5f to %.5f deg "
            "aiding",
            up, up_locked, down, down_locked);

  // the paper's own algorithm
  mjg_flapClaimTable(claims, run, 5, schedule);
}

mjgSCENE(FlapRamp, "flap-ramp", "flap/flap.xml", 1.7,
         "The flap follows a ramp under load. In one direction friction helps the load, and in the other it helps the "
         "motor.",
         mjgFLAP_SCENE, .moment = 0.5, mjgCASES(rampCase), mjgFLAP_COMPARED, .claims = claims);

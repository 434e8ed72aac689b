// A flexible coupling with rubber in its gap on a 60 kW drive: Nordin, Galic', Gutman 1997, section 4,
// (42), Fig. 6. The drive turns at its reference speed under a PI controller "with very low bandwidth", whose
// gains the paper does not print: 0.01 Hz here.

#include "../helpers.h"
#include "gap.h"

#define BASE    380.0    // nominal torque T_base, N m
#define PRELOAD (-0.06)  // m
#define DISTURB 0.05     // a_dist
#define STEADY  6.0      // s
#define SPEED   150.6    // omega_ref, rad/s
#define GAIN    0.1      // of the controller, N m/(rad/s)
#define RESET   0.02     // of its integral, N m/rad

#define FREQUENCY parameter[0]

#define COUPLING "shaft.backlash=rubber; shaft.half_gap=0.05; shaft.damping=3; shaft.rubber=0.05"

static const mjgCase couplingCase[] = {
    {"9.5Hz", COUPLING, {9.5}},
    {"6Hz", COUPLING, {6}},
};

// The integral of the speed error is an angle. The controller starts where it holds the load.
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  if (d->time == 0) {
    d->qvel[0] = SPEED;
    mj_forward(m, d);
  }
  double f = variant->FREQUENCY, angle = d->time > 0 ? d->sensordata[mjgSENSOR_ROTOR_ANGLE] : 0;
  double speed = d->time > 0 ? d->sensordata[mjgSENSOR_ROTOR_VELOCITY] : SPEED;
  double control = GAIN * (SPEED - speed) + RESET * (SPEED * d->time - angle) - PRELOAD * BASE;
  d->ctrl[0] = control + DISTURB * BASE * sin(2 * mjPI * f * d->time);
  d->qfrc_applied[0] = PRELOAD * BASE;
  d->userdata[0] = control;
}

// number of times that the torque meets a condition again in the steady state
static int touches(const mjgTrajectory* t, int (*is)(double)) {
  return mjg_events(t, "shaft_torque_out", STEADY, INFINITY, is).n;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double end = 8;
  const mjgTrajectory *fast = &run[0], *slow = &run[1];
  int right = touches(fast, mjg_isPositive), left = touches(fast, mjg_isNegative);
  int periods = (int)(9.5 * (end - STEADY));
  mjg_claim(claims, abs(right - periods) <= 1 && abs(left - periods) <= 1,
            "at 9.5 Hz the shaft bounces between right and left contact: %d and %d touches in %d periods", right, left,
            periods);
  mjg_claim(claims, touches(slow, mjg_isPositive) == 0 && touches(slow, mjg_isNegative) == 0,
            "at 6 Hz it stays in right contact, on its rubber: torque %.1f to %.1f N m",
            mjg_lowest(slow, "shaft_torque_out", STEADY, end), mjg_highest(slow, "shaft_torque_out", STEADY, end));
  double ratio = mjg_swing(fast, "shaft_rotor_velocity", STEADY, end) / mjg_swing(fast, "v_load", STEADY, end);
  for (int i = 0; i < 2; i++) {
    double most = mjg_highest(&run[i], "control", STEADY, end) / BASE;
    double least = mjg_lowest(&run[i], "control", STEADY, end) / BASE;
    double speed = mjg_at(&run[i], "v_load", end - 0.01);
    mjg_claim(claims, most < 0.07 && least > 0.05 && fabs(speed / SPEED - 1) < 0.01,
              "%s: the slow controller gives %.4f to %.4f of the nominal torque, all but -m = 0.06, at %.1f rad/s",
              run[i].variant->name, least, most, speed);
  }
  mjg_claim(claims, ratio > 5, "the motor swings %.1f times as far as the heavy load", ratio);
}

mjgSCENE(Coupling, "coupling", "backlash/two_mass.xml", 8,
         "A flexible coupling bounces between the two sides of its gap (Nordin, Fig. 6).", mjgCASES(couplingCase),
         .input = input, .column = "theta_d omega_d control=userdata:0", .measure = mjg_measureGap, .claims = claims);

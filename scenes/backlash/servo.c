// A position servo with play behind its rotor. With the encoder on the load, harmonic balance predicts a
// limit cycle: with theta_d = A sin(w t) the dead zone is a spring N(A) = k (1 - 2/pi (asin r +
// r sqrt(1 - r^2))), r = half_gap/A, and the loop
//
//     (M s^2 + b s) m s^2 + N ((M + m) s^2 + (b + kv) s + kp) = 0
//
// has the root s = i w for w^2 = N (b + kv)/(b m) and N = kp/(c (m - M kv/b)), c = (b + kv)/(b m). With
// the encoder on the motor all parts are passive: no limit cycle.

#include "../helpers.h"
#include "gap.h"

#define ROTOR     0.05  // m, kg m2
#define LOAD      0.5   // M, kg m2
#define VISCOUS   1.0   // b, N m/(rad/s)
#define KP        50.0  // N m/rad
#define KV        0.05  // N m/(rad/s)
#define STIFFNESS 500.0
#define HALF_GAP  0.01

#define DAMPED "servo.damping=60; position:servo.kv=8"

static const mjgCase servoCase[] = {
    {"encoder=joint"},
    {"encoder=motor", "servo.encoder=motor"},
    {"damped-exact", "servo.backlash=exact; " DAMPED},
    {"damped-phase_plane", "servo.backlash=phase_plane; " DAMPED},
    {"damped-deadzone", "servo.backlash=damped_deadzone; " DAMPED},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) { d->ctrl[0] = 0.05; }

// amplitude at which the dead zone is a spring of stiffness N
static double amplitude(double N) {
  double lo = HALF_GAP, hi = 1000 * HALF_GAP;
  for (int i = 0; i < 100; i++) {
    double A = 0.5 * (lo + hi), r = HALF_GAP / A;
    if (STIFFNESS * (1 - 2 / mjPI * (asin(r) + r * sqrt(1 - r * r))) < N) {
      lo = A;
    } else {
      hi = A;
    }
  }
  return 0.5 * (lo + hi);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double c = (VISCOUS + KV) / (VISCOUS * ROTOR);
  double N = KP / (c * (ROTOR - LOAD * KV / VISCOUS)), w = sqrt(N * c), A = amplitude(N);

  // the last cycles
  const mjgTrajectory* t = &run[0];
  double from = 12, to = 15;
  mjgEvents up = mjg_events(t, "theta_d", from, to, mjg_isPositive);
  double measured = 2 * mjPI * (up.n - 1) / (up.last - up.first);
  double swing = 0.5 * mjg_swing(t, "theta_d", from, to);
  mjg_claim(claims, fabs(swing / A - 1) < 0.1,
            "encoder on the joint: limit cycle of %.4f rad in the gap, %.4f by harmonic balance", swing, A);
  mjg_claim(claims, fabs(measured / w - 1) < 0.1, "at %.1f rad/s, %.1f by harmonic balance", measured, w);

  // Nordin, section 5: a damped shaft in its gap cycles where the dead zone model (26) predicts rest
  double cycle[3];
  for (int i = 0; i < 3; i++) {
    const mjgTrajectory* damped = &run[2 + i];
    cycle[i] = mjg_swing(damped, "q_load", from, to);
  }
  mjg_claim(claims, cycle[0] > 1e-3 && cycle[1] > 1e-3 && cycle[2] < 1e-6,
            "with a damped shaft the exact model cycles by %.5f rad, the phase plane model by %.5f, the dead zone "
            "model (26) predicts rest: %.1g",
            cycle[0], cycle[1], cycle[2]);
  double rest = mjg_highest(&run[1], "servo_rotor_velocity", from, to);
  double angle = mjg_at(&run[1], "servo_rotor_angle", 14);
  mjg_claim(claims, fabs(rest) < 1e-2 && fabs(angle - 0.05) < 1e-3,
            "encoder on the motor: it comes to rest, the rotor at %.5f rad of 0.05", angle);
}

mjgSCENE(GapServo, "gap_servo", "backlash/servo.xml", 15,
         "A servo moves a joint with play. It comes to rest or swings in a limit cycle, depending on the side that its "
         "encoder measures.",
         mjgCASES(servoCase), .input = input, .column = "theta_d omega_d", .measure = mjg_measureGap, .claims = claims);

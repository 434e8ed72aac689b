#include "../helpers.h"

#define OFF  0.2  // the motor is off, the brake begins to close
#define MORE 1.5  // more load
#define LESS 1.8  // and no more
#define END  4.0

#define ROTOR   20.0                     // inertia of the motor, kg
#define MASS    10.0                     // of the lift and its load
#define WEIGHT  98.1                     // N
#define EXTRA   150.0                    // N
#define SLIDING 95.0                     // the brake's, N
#define CLOSING 0.1                      // s
#define BACK    ((1 - 0.2) / (1 + 0.1))  // efficiency of the gear when the load drives

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  int off = mjg_reached(d->time, OFF);
  d->ctrl[0] = off ? 0 : WEIGHT;
  d->ctrl[1] = !off;  // opens it
  d->qfrc_applied[0] = mjg_within(d->time, MORE, LESS) ? -EXTRA : 0;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // the load drives rotor and brake through the teeth: (M + m/eta) v' = -W + B/eta
  double inertia = MASS + ROTOR / BACK, brake = SLIDING / BACK, closed = CLOSING;
  double speed = (WEIGHT * closed - brake * closed / 2) / inertia;
  double fall = (WEIGHT * closed * closed / 2 - brake * closed * closed / 6) / inertia;
  fall += speed * speed * inertia / (2 * (brake - WEIGHT));
  double fell = mjg_at(run, "q_lift", OFF) - mjg_at(run, "q_lift", MORE);
  mjg_claim(claims, fabs(fell - fall) < 0.01 * fall,
            "the brake closes in %g s: the lift falls by %.2f mm, by the closed form %.2f mm", CLOSING, 1e3 * fell,
            1e3 * fall);
  double rate = mjg_size(run, "v_lift", 1.2, MORE);
  mjg_claim(claims, rate == 0, "closed it holds lift and box: largest velocity %g m/s, exactly 0", rate);
  double slip = (WEIGHT + EXTRA - brake) / inertia * (LESS - MORE), slid = -mjg_at(run, "v_lift", LESS);
  mjg_claim(claims, fabs(slid - slip) < 0.01 * slip,
            "with %g N more it slips: %.4f m/s after %g s, by the closed form %.4f m/s", EXTRA, slid, LESS - MORE,
            slip);
  rate = mjg_size(run, "v_lift", END - 0.1, END);
  mjg_claim(claims, rate == 0, "and it comes to rest again: largest velocity %g m/s, exactly 0", rate);
}

mjgSCENE(
    Brake, "brake", "drive/brake.xml", END,
    "The motor of a lift fails and its brake closes. It holds the lift with a box on it, and slips above its torque.",
    .moment = 0.25, .input = input, .claims = claims, .nsolved = 1);

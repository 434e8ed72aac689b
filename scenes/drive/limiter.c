#include "../helpers.h"

#define FULL 1.5  // the motor has its full force
#define OFF  1.8  // and is reversed
#define END  2.0

#define FORCE 60.0  // of the motor, N
#define SLIP  25.0  // of the clutch, N
#define CLOSE 1.0   // closing force, N
#define MASS  0.5   // of motor and of finger, kg

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double share = fmin(1, fmax(0, d->time - 0.5));
  d->ctrl[0] = mjg_reached(d->time, OFF) ? -FORCE : CLOSE + share * (FORCE - CLOSE);
}

static void measure(double* value, const mjModel* m, const mjData* d) { value[1] = d->qvel[0] - d->qvel[1]; }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // motor and finger move as one until the motor has more force than the clutch carries
  double before = 0.5 + (SLIP - CLOSE) / (FORCE - CLOSE) - 0.02;
  double slip = mjg_size(run, "slip", 0.5, before);
  mjg_claim(claims, slip <= 1e-12,
            "behind the impact and below %g N motor and finger are one: they part with %.2g m/s at most", SLIP, slip);
  double half = mjg_at(run, "grip", 0.7), motor = CLOSE + 0.2 * (FORCE - CLOSE);
  mjg_claim(claims, fabs(half - motor) < 1e-2 * motor, "and the grip is the motor's force: %.3f N of %.3f N", half,
            motor);
  double most = mjg_highest(run, "grip", before + 0.1, OFF), least = mjg_lowest(run, "grip", before + 0.1, OFF);
  mjg_claim(claims, fabs(most - SLIP) < 1e-5 * SLIP && fabs(least - SLIP) < 1e-5 * SLIP,
            "above the grip is what the clutch carries: from %.6f to %.6f N, while the motor has up to %g N", least,
            most, FORCE);
  double from = FULL + 0.01, to = OFF - 0.01, expected = (FORCE - SLIP) / MASS;
  double rate = (mjg_at(run, "slip", to) - mjg_at(run, "slip", from)) / (to - from);
  mjg_claim(claims, fabs(rate - expected) < 1e-6 * expected,
            "the motor runs away with %.4f m/s2, by the closed form %.4f", rate, expected);
}

mjgSCENE(Limiter, "limiter", "drive/limiter.xml", END,
         "A slip clutch between motor and finger limits the grip, whatever the motor does.", .moment = 0.8,
         .input = input, .column = "grip=contact: slip", .measure = measure, .claims = claims, .nsolved = 1);

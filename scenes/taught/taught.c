#include "../helpers.h"

#define NATIVE parameter[0]  // friction that MuJoCo gives the joints, N m

#define ROUND 4.0  // one round of the motion, s
#define BEGIN 2.0  // errors count from then on
#define END   10.0

// gears without friction, and without play
#define SMOOTH "servos.gamma_u=0; servos.gamma_v=0; servos.coulomb=0"
#define TIGHT  "servos.half_gap=0"

static const mjgCase taughtCase[] = {
    {"friction-and-play", NULL, {0}},
    {"friction", TIGHT, {0}},
    {"play", SMOOTH, {0}},
    {"frictionloss", SMOOTH "; " TIGHT, {0.02}},
    {"ideal", SMOOTH "; " TIGHT, {0}},
};

// constant friction belongs to the motor, like the gear's; the model's rotor has none,
// because the joint has it
static void configure(mjModel* m, const mjgCase* variant) { mjg_setLoss(m, variant->NATIVE, 0); }

// the motion: base and elbow swing, the elbow twice as fast, and shoulder and wrist along with it
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double phase = 2 * mjPI * d->time / ROUND, rise = fmin(1, d->time);
  for (int i = 0; i < m->nu; i++) {
    d->ctrl[i] = m->key_ctrl[i];
  }
  d->ctrl[0] += rise * 0.30 * sin(phase);
  d->ctrl[1] += rise * 0.10 * sin(2 * phase);
  d->ctrl[2] -= rise * 0.16 * sin(2 * phase);
  d->ctrl[3] += rise * 0.06 * sin(2 * phase);
}

// distance of the tips of two runs: largest and mean
static void distance(double* largest, double* mean, const mjgTrajectory* a, const mjgTrajectory* b) {
  int time = mjg_column(a, "time"), x = mjg_column(a, "tip_x"), n = 0;
  *largest = *mean = 0;
  for (int i = 0; i < a->nrow && i < b->nrow; i++) {
    const double *p = mjg_row(a, i), *q = mjg_row(b, i);
    if (p[time] >= BEGIN) {
      double e = hypot(hypot(p[x] - q[x], p[x + 1] - q[x + 1]), p[x + 2] - q[x + 2]);
      *largest = fmax(*largest, e);
      *mean += e;
      n++;
    }
  }
  *mean /= n;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double largest[4], mean[4];
  for (int i = 0; i < 4; i++) {
    distance(&largest[i], &mean[i], &run[i], &run[4]);
  }
  mjg_claim(claims, largest[1] > 1e-3,
            "friction moves the tip off the motion with ideal joints by %.1f mm in the mean, %.1f mm at most",
            1e3 * mean[1], 1e3 * largest[1]);
  mjg_claim(claims, largest[2] > 2e-4 && largest[2] < 4 * 0.0044 * 0.35,
            "play of half a degree in each joint: %.1f mm in the mean, %.1f mm at most", 1e3 * mean[2],
            1e3 * largest[2]);
  mjg_claim(claims, mean[0] > mean[2] && fabs(mean[0] - mean[1]) > 0.05 * mean[1],
            "both: %.1f mm in the mean, %.1f mm at most: the two do not add up", 1e3 * mean[0], 1e3 * largest[0]);
  mjg_claim(claims, fabs(mean[3] - mean[1]) > 0.05 * mean[1],
            "MuJoCo's frictionloss of %g N m: %.1f mm in the mean, %.1f mm at most; it knows neither load nor play",
            run[3].variant->NATIVE, 1e3 * mean[3], 1e3 * largest[3]);
}

mjgSCENE(Taught, "taught", "taught/taught.xml", END,
         "A hobby arm repeats a motion. Friction and play of its servos move its tip by millimetres.", .moment = 0.62,
         .beside = "play,ideal", .joint = "elbow", mjgCASES(taughtCase), .configure = configure, .input = input,
         .column = "tip_x=site:tip.x tip_y=site:tip.y tip_z=site:tip.z", .claims = claims, .nsolved = 1);

#include "../helpers.h"
#include "mjgear_backlash.h"

#define PUSH      5.0  // N m, on every joint
#define STIFFNESS 1e5

#define TOTAL parameter[0]  // total play, minutes of arc

static const mjgCase lostCase[] = {
    {"1arcmin", "arm.half_gap=1.45444104332861e-4", {1}},
    {"10arcmin", "arm.half_gap=1.45444104332861e-3", {10}},
    {"1degree", "arm.half_gap=8.72664625997165e-3", {60}},
};

// all joints one way, then the other
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double push = !mjg_reached(d->time, 2) ? PUSH : -PUSH;
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_applied[i] = push;
  }
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // axis and place of each joint of the stretched arm, and the tip
  static const double axis[6][3] = {{0, 0, 1}, {0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  static const double place[6] = {0, 0, 0.45, 0.65, 0.85, 0.95};
  static const double tip[3] = {1, 0.1, 0};
  static const char* const q[] = {"q_j1", "q_j2", "q_j3", "q_j4", "q_j5", "q_j6"};
  static const char* const x[] = {"tip_0", "tip_1", "tip_2"};

  for (int i = 0; i < 3; i++) {
    // each joint turns by its play and twice the twist of its shaft
    const mjgTrajectory* t = &run[i];
    double play = mjg_arcmin(run[i].variant->TOTAL) + 2 * PUSH / STIFFNESS, worst = 0;
    double shift[3] = {0}, error = 0, size = 0;
    for (int j = 0; j < 6; j++) {
      double turn = mjg_at(t, q[j], 1.99) - mjg_at(t, q[j], 3.99);
      worst = fmax(worst, fabs(turn - play) / play);
      double arm[3] = {tip[0] - place[j], tip[1], tip[2]};
      for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        shift[k] += play * (axis[j][a] * arm[b] - axis[j][b] * arm[a]);
      }
    }
    for (int k = 0; k < 3; k++) {
      double moved = mjg_at(t, x[k], 1.99) - mjg_at(t, x[k], 3.99);
      error += (moved - shift[k]) * (moved - shift[k]);
      size += shift[k] * shift[k];
    }
    mjg_claim(claims, worst < 1e-3, "%s: each joint loses %.3f arcmin, its play and its twist, to %.1e",
              run[i].variant->name, play / mjg_arcmin(1), worst);
    mjg_claim(claims, error < 1e-4 * size, "%s: the tip loses %.4f mm, as geometry says to %.2f %%",
              run[i].variant->name, 1e3 * sqrt(size), 100 * sqrt(error / size));
  }
}

mjgSCENE(LostMotion, "lost_motion", "backlash/lost_motion.xml", 4,
         "An arm of six joints has play. The tip loses as much motion as the geometry of the arm says.",
         mjgCASES(lostCase), .input = input, .claims = claims);

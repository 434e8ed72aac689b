#include "../helpers.h"

#define START 0.15  // rad
#define PUSH  40.0  // of the motor, N m
#define PULL  20.0
#define KEPT  147.5  // by the gear without its motor, N m

#define IDEAL "gear.gamma_u=0; gear.gamma_v=0; joint:rod.frictionloss="

static const mjgCase constantCase[] = {{"gear"}, {"frictionloss=15", IDEAL "15"}, {"frictionloss=150", IDEAL "150"}};

enum { GEAR, SMALL, LARGE };

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_reached(d->time, 1.4) ? PULL : mjg_reached(d->time, 0.9) ? 0 : -PUSH;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double kept[3], end[3];
  for (int i = 0; i < 3; i++) {
    kept[i] = mjg_at(&run[i], "spring", 1.39);
    end[i] = mjg_at(&run[i], "q_rod", 2);
  }
  mjg_claim(claims, fabs(kept[GEAR] - KEPT) < 0.1 && end[GEAR] > 0,
            "the gear is moved by %g N m, holds %.1f N m without its motor and is pulled off by %g N m", PUSH,
            kept[GEAR], PULL);
  mjg_claim(claims, kept[SMALL] < 16 && end[SMALL] > 0,
            "constant friction of 15 N m, which %g N m overcome, holds %.1f N m, not %g", PULL, kept[SMALL], KEPT);
  double moved = START - mjg_lowest(&run[LARGE], "q_rod", 0, 2);
  mjg_claim(claims, kept[LARGE] == 0 && moved < 0.5 * START,
            "constant friction of 150 N m, which would hold them, keeps the motor from reaching the spring: it creeps "
            "%.4f of %g rad",
            moved, START);
}

mjgSCENE(RodConstant, "rod-constant", "rod/rod.xml", 2,
         "Constant friction in place of the gear of the rod. A small constant does not hold the spring, and a large "
         "one keeps the motor from reaching it (Kikuuwe, 6.1).",
         .beside = "all", mjgCASES(constantCase), .input = input, .column = "spring=spring:0", .claims = claims);

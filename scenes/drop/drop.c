#include "../helpers.h"

static const mjgCase dropCase[] = {
    {"h=0.5ms", "option.timestep=0.0005"},
    {"h=1ms", "option.timestep=0.001"},
    {"h=2ms", "option.timestep=0.002"},
    {"h=5ms", "option.timestep=0.005"},
};
#define NCASE mjgCOUNT(dropCase)

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < NCASE; i++) {
    const mjgTrajectory* t = &run[i];
    double turn = mjg_swing(t, "q_link", 0, 1.5);
    double force = mjg_highest(t, "force", 0, 1.5);
    mjg_claim(claims, turn <= 1e-9 && force > 20,
              "%s: the ball hits with %.0f N and turns the link by %.2g rad, at most 1e-9", run[i].variant->name, force,
              turn);
  }
}

mjgSCENE(Drop, "drop", "drop/drop.xml", 1.5, "A ball drops on a link that a gear holds without its motor.",
         .moment = 0.3, mjgCASES(dropCase), .column = "height=body:ball.z force=contact:", .claims = claims,
         .nsolved = NCASE);

// An impact on a link that a gear holds.

#include "../helpers.h"

#define STEP parameter[0]

static const mjgCase dropCase[] = {
    {"h=0.5ms", NULL, {0.0005}},
    {"h=1ms", NULL, {0.001}},
    {"h=2ms", NULL, {0.002}},
    {"h=5ms", NULL, {0.005}},
};
#define NCASE (int)(sizeof dropCase / sizeof *dropCase)


static void configure(mjModel* m, const mjgCase* variant) {
  m->opt.timestep = variant->STEP;
}


// height of the ball above the link, and the force between them
static void measure(double* value, const mjModel* m, const mjData* d) {
  int ball = mj_name2id(m, mjOBJ_BODY, "ball");
  value[0] = d->xpos[3 * ball + 2];
  value[1] = mjg_contact(m, d, NULL, NULL);
}


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


mjgSCENE(Drop, "drop", "drop/drop.xml", 1.5, "a ball falls on a link that a gear holds without its motor",
         "A ball drops on a link that a gear holds without its motor.", .moment = 0.3, mjgCASES(dropCase),
         .configure = configure, .column = "height force", .measure = measure, .claims = claims, .nsolved = NCASE);

#include "../helpers.h"

#define SETTLED 2.0  // it stands
#define PUSH    3.0  // a push at the chest, for 0.2 s
#define FORCE   250  // N
#define END     6.0

static const mjgCase humanoidCase[] = {
    {"locking", "legs.gamma_v=1.1", {0}},
    {"yielding", "legs.gamma_v=0.4", {0}},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  mjtNum* wrench = d->xfrc_applied + 6 * mj_name2id(m, mjOBJ_BODY, "trunk");
  wrench[0] = mjg_within(d->time, PUSH, PUSH + 0.2) ? FORCE : 0;
}

// contacts with the floor or of limbs with each other
static void measure(double* value, const mjModel* m, const mjData* d) { value[1] = d->ncon; }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // it stands
  const mjgTrajectory* t = &run[0];
  double fastest = mjg_largestSize(t, "v_*_[hka]*", SETTLED, PUSH - 0.01);
  double head = mjg_at(t, "head", PUSH);
  double sway = mjg_swing(t, "head", SETTLED, PUSH);
  mjg_claim(
      claims, head > 1.6 && sway < 1e-4 && fastest == 0,
      "locking: it stands without motors, head at %.3f m within %.2g m, legs exactly still: largest speed %g rad/s",
      head, sway, fastest);

  // it falls
  double end = mjg_at(t, "head", END), contacts = mjg_highest(t, "contacts", PUSH, END);
  mjg_claim(claims, end < 0.4 && contacts > 4, "pushed with %d N for 0.2 s it falls: head at %.2f m, up to %g contacts",
            FORCE, end, contacts);

  // backdrivable legs
  head = mjg_at(&run[1], "head", PUSH);
  mjg_claim(claims, head < 1, "yielding: it sinks down by itself, head at %.2f m before any push", head);
}

mjgSCENE(Humanoid, "humanoid", "humanoid/humanoid.xml", END,
         "Two humanoids have no power. Self-locking legs stand until they are pushed over, and the others sink down.",
         .moment = 0.3, .beside = "yielding", .joint = "left_knee", mjgCASES(humanoidCase), .input = input,
         .column = "head=geom:head.z contacts", .measure = measure, .claims = claims, .nsolved = 2);

#include "../helpers.h"

#define BACK 1.0  // pedalling backwards
#define ON   2.0  // and forwards again
#define END  3.0

#define PEDALS   6.0   // N m
#define BRAKING  1.0   // N m
#define DRAG     0.05  // of the freewheel, N m
#define WHEEL    0.12  // kg m2
#define SPROCKET 0.02

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_within(d->time, BACK, ON) ? -BRAKING : PEDALS;
}

static void measure(double* value, const mjModel* m, const mjData* d) { value[0] = d->qvel[1] - d->qvel[0]; }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // together, apart, and together again when the sprocket is as fast
  double together = PEDALS / (WHEEL + SPROCKET), speed = together * BACK;
  double behind = ((BRAKING - DRAG) / SPROCKET - DRAG / WHEEL) * (ON - BACK);
  double wheel = speed - DRAG / WHEEL * (ON - BACK), sprocket = wheel - behind;
  double caught = behind / ((PEDALS + DRAG) / SPROCKET + DRAG / WHEEL);
  double end = wheel - DRAG / WHEEL * caught + together * (END - ON - caught);
  mjg_claim(claims, fabs(mjg_at(run, "v_wheel", BACK) - speed) < 1e-9 * speed,
            "the pedals drive sprocket and wheel as one: %.4f rad/s, by the closed form %.4f",
            mjg_at(run, "v_wheel", BACK), speed);
  mjg_claim(claims,
            fabs(mjg_at(run, "v_wheel", ON) - wheel) < 1e-9 * speed &&
                fabs(mjg_at(run, "v_sprocket", ON) - sprocket) < 1e-9 * speed,
            "pedals backwards: the wheel coasts with %.4f rad/s, by the closed form %.4f, the sprocket turns with %.4f",
            mjg_at(run, "v_wheel", ON), wheel, mjg_at(run, "v_sprocket", ON));
  mjg_claim(claims, fabs(mjg_at(run, "v_wheel", END) - end) < 1e-3 * speed,
            "the sprocket catches up after %.3f s, and both have %.4f rad/s, by the closed form %.4f", caught,
            mjg_at(run, "v_wheel", END), end);
  double ahead = mjg_highest(run, "ahead", 0, END);
  mjg_claim(claims, ahead <= 1e-12 * speed, "the sprocket is never ahead of the wheel: by %.2g rad/s at most", ahead);
}

mjgSCENE(Hub, "hub", "drive/hub.xml", END, "The pedals drive a wheel through a freewheel, stop, and catch up with it.",
         .moment = 0.5, .input = input, .column = "ahead", .measure = measure, .claims = claims, .nsolved = 1);

#include "../helpers.h"

#define NATIVE parameter[0]  // friction that MuJoCo gives the screws, N

#define NLEG  6
#define MOVE  0.5  // the platform begins to move
#define THERE 3.5  // and stops, tilted
#define OFF   4.0  // the motors are switched off
#define STILL 4.5
#define END   9.0

static const mjgCase stewartCase[] = {
    {"lead-screws", NULL, {0}},
    {"frictionloss", "screws.mu=0", {60}},
    {"none", "screws.mu=0", {0}},
};

static void configure(mjModel* m, const mjgCase* variant) {
  mjg_makeMotors(m);
  mjg_setLoss(m, variant->NATIVE, 0);
}

// lengths of the legs in a pose, less their lengths at zero: the platform turned by roll
// and pitch and lifted
static void legs(double* length, const mjModel* m, double roll, double pitch, double lift) {
  mjtNum quat[4], about_x[4] = {cos(roll / 2), sin(roll / 2), 0, 0};
  const mjtNum about_y[4] = {cos(pitch / 2), 0, sin(pitch / 2), 0};
  mju_mulQuat(quat, about_y, about_x);
  const mjtNum* home = m->body_pos + 3 * mj_name2id(m, mjOBJ_BODY, "platform");
  for (int i = 0; i < NLEG; i++) {
    char name[16];
    snprintf(name, sizeof name, "ball_%d", i + 1);
    const mjtNum* ball = m->site_pos + 3 * mj_name2id(m, mjOBJ_SITE, name);
    snprintf(name, sizeof name, "leg_%d", i + 1);
    const mjtNum* foot = m->body_pos + 3 * mj_name2id(m, mjOBJ_BODY, name);
    mjtNum at[3], straight[3], turned[3];
    mju_rotVecQuat(at, ball, quat);
    for (int k = 0; k < 3; k++) {
      turned[k] = home[k] + at[k] + (k == 2 ? lift : 0) - foot[k];
      straight[k] = home[k] + ball[k] - foot[k];
    }
    length[i] = mju_norm3(turned) - mju_norm3(straight);
  }
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double time = d->time, goal[NLEG];
  double blend = mjg_ease(fmin(1, fmax(0, (time - MOVE) / (THERE - MOVE))));
  legs(goal, m, 0.2 * sin(2.5 * mjPI * blend), 0.12 * sin(1.5 * mjPI * blend), 0.02 * blend);
  for (int i = 0; i < NLEG; i++) {
    d->ctrl[i] = mjg_reached(time, OFF) ? 0 : mjg_servo(m, d, i, goal[i]);
  }
}

// tilt of the platform, and the gap of the loops
static void measure(double* value, const mjModel* m, const mjData* d) {
  int platform = mj_name2id(m, mjOBJ_BODY, "platform");
  value[1] = acos(fmin(1, d->xmat[9 * platform + 8]));
  value[2] = 0;
  for (int i = 0; i < m->neq; i++) {
    value[2] = fmax(value[2], mju_dist3(d->site_xpos + 3 * m->eq_obj1id[i], d->site_xpos + 3 * m->eq_obj2id[i]));
  }
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double moved[3], sunk[3];
  for (int i = 0; i < 3; i++) {
    const mjgTrajectory* t = &run[i];
    moved[i] = mjg_largestSwing(t, "q_screw_?", STILL, END);
    sunk[i] = mjg_at(t, "height", OFF) - mjg_at(t, "height", END);
  }
  const mjgTrajectory* t = &run[0];
  double tilt = mjg_highest(t, "tilt", MOVE, THERE), gape = mjg_highest(t, "gape", 0, END);
  mjg_claim(claims, tilt > 0.15, "its motors move the platform: it tilts by up to %.3f rad", tilt);
  mjg_claim(claims, gape < 1e-4, "six loops stay closed: they gape by %.2g mm at most", 1e3 * gape);
  mjg_claim(claims, moved[0] == 0 && fabs(sunk[0]) < 1e-4,
            "motors off, the screws move by %g m in %g s, and the platform with 10 kg on it by %.2g mm", moved[0],
            END - STILL, 1e3 * fabs(sunk[0]));
  mjg_claim(claims, moved[1] > 1e-5,
            "frictionloss of %g N at each screw, of which the load needs some 30: they creep by %.2f mm",
            run[1].variant->NATIVE, 1e3 * moved[1]);
  mjg_claim(claims, sunk[2] > 0.02, "none: the platform sinks by %.0f mm", 1e3 * sunk[2]);
}

mjgSCENE(
    Stewart, "stewart", "stewart/stewart.xml", END,
    "A Stewart platform has six lead screws in six closed loops. It moves with its motors, and it stands without them.",
    .moment = 0.75, .beside = "all", .joint = "screw_4", mjgCASES(stewartCase), .configure = configure, .input = input,
    .column = "height=body:platform.z tilt gape", .measure = measure, .claims = claims, .nsolved = 1);

#include "../helpers.h"
#include "configuration/sensors.h"

#define COMPENSATE parameter[0]  // 1: the motor compensates friction

#define FRICTION 0.4  // of the bearings while they turn, N m
#define STATIC   1.4  // times as much at rest

#define RATE   7.292115e-5        // of the stars, rad/s
#define ARCSEC (mjPI / 648000.0)  // rad
#define BEGIN  10.0               // errors count from then on: the play is taken up
#define END    40.0

#define SMOOTH "mount.mu=0; mount.coulomb=0; mount.half_gap=0"

static const mjgCase trackingCase[] = {
    {"friction", NULL, {0}},
    {"compensated", NULL, {1}},
    {"frictionloss", SMOOTH "; joint:ra.frictionloss=0.4", {0}},
    {"none", SMOOTH, {0}},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  // the servos' encoders are on the motors
  d->ctrl[0] = m->key_ctrl[0] + RATE * d->time;
  d->ctrl[1] = m->key_ctrl[1];

  // as the law has it: more while the rotor stands than while it moves
  int sensor = m->sensor_adr[mj_name2id(m, mjOBJ_SENSOR, "gear_ra")];
  double speed = d->sensordata[sensor + mjgSENSOR_ROTOR_VELOCITY];
  d->ctrl[2] = variant->COMPENSATE > 0 ? FRICTION * (speed > 0.1 * RATE ? 1 : STATIC) : 0;
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = (d->qpos[0] - m->key_qpos[0] - RATE * d->time) / ARCSEC;
}

static int rests(double velocity) { return fabs(velocity) < 0.05 * RATE; }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double wander[4], rest[4];
  for (int i = 0; i < 4; i++) {
    const mjgTrajectory* t = &run[i];
    wander[i] = mjg_swing(t, "error", BEGIN, END);
    rest[i] = mjg_share(t, "v_ra", BEGIN, INFINITY, rests);
  }
  mjg_claim(claims, rest[0] > 0.3 && wander[0] > 5,
            "friction: the axis stands still for %.0f %% of the time and jumps; the star wanders by %.1f\"",
            100 * rest[0], wander[0]);
  mjg_claim(claims, rest[1] < 0.05 && wander[1] < 0.2 * wander[0],
            "compensated: it stands still for %.0f %% of the time; the star wanders by %.2f\"", 100 * rest[1],
            wander[1]);
  mjg_claim(claims, wander[2] < 0.5 * wander[0],
            "MuJoCo's frictionloss of 0.4 N m creeps along and shows nothing of it: %.2f\", and none %.2f\"", wander[2],
            wander[3]);
}

mjgSCENE(Tracking, "tracking", "tracking/tracking.xml", END,
         "A telescope follows the stars at 15 arc seconds a second. Its worm sticks and slips, unless the motor "
         "compensates friction.",
         .moment = 0.8, .beside = "compensated,frictionloss", .joint = "ra", mjgCASES(trackingCase), .input = input,
         .column = "error", .measure = measure, .claims = claims, .nsolved = 2);

#include "../helpers.h"

#define BOUND parameter[1]  // of it, N m

#define LIFT 2.0  // the motors are switched on
#define OFF  2.4  // and off again
#define REST 3.5  // by then both arms have come to rest
#define END  4.0

// torque for a load
#define HELD   1e-2  // rad that an arm may sink without its motor
#define LIFTED 0.05  // of the angle by which the motor lifts it

// as two_loads.xml has them
#define ETA      0.447  // the motor drives the load
#define ARMATURE 0.02
#define STEPS    20000  // of the integration beside the engine's

typedef struct Load_ {
  const char* joint;
  double torque;   // of the motor while it lifts, N m
  double weight;   // torque of gravity at angle 0, N m
  double inertia;  // of the link about the joint, kg m2
} Load;

static const Load kLoad[] = {
    {"empty", 20, 9.81 * 2.5 * 0.3, 0.08 + 2.5 * 0.3 * 0.3},
    {"loaded", 100, 9.81 * (2.5 * 0.3 + 5 * 0.6), 0.08 + 2.5 * 0.3 * 0.3 + 0.02 + 5 * 0.6 * 0.6},
};
#define NLOAD mjgCOUNT(kLoad)

#define IDEAL "gear.eta_forward=1; gear.eta_backward=1"

// 11 and 55 N m are the worm's losses while the motor lifts the empty and the loaded arm, 40 hold
// the load
static const mjgCase loadsCase[] = {
    {"gear", NULL, {mjgRIVAL_NONE}},
    {"frictionloss=11", IDEAL, {mjgRIVAL_SOLREF, 11}},
    {"frictionloss=25", IDEAL, {mjgRIVAL_SOLREF, 25}},
    {"frictionloss=40", IDEAL, {mjgRIVAL_SOLREF, 40}},
    {"frictionloss=55", IDEAL, {mjgRIVAL_SOLREF, 55}},
#if mjgHAS_YIELD
    {"springyield=11", IDEAL, {mjgRIVAL_YIELD, 11}},
    {"springyield=40", IDEAL, {mjgRIVAL_YIELD, 40}},
    {"springyield-damped=40", IDEAL, {mjgRIVAL_YIELD_DAMPED, 40}},
#endif
};
#define NCASE mjgCOUNT(loadsCase)

static void configure(mjModel* m, const mjgCase* variant) {
  for (int i = 0; i < NLOAD; i++) {
    mjg_setRival(m, i, mjgRIVAL(variant), variant->BOUND);
  }
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  for (int i = 0; i < NLOAD; i++) {
    d->ctrl[i] = mjg_within(d->time, LIFT, OFF) ? kLoad[i].torque : 0;
  }
}

// Angle at which an arm stops after the motor has lifted it through the worm: x = eta_f u drives
// the link, u = tau - m a, so (M + eta_f m) a = eta_f tau - G cos(q) while it rises, by the
// midpoint rule.
static double liftedAngle(const Load* load) {
  double h = OFF / STEPS, q = 0, v = 0, time = 0, inertia = load->inertia + ETA * ARMATURE;
  while (v >= 0) {
    double drive = time < OFF - LIFT ? ETA * load->torque : 0;
    double half = (drive - load->weight * cos(q)) / inertia;
    double middle = v + 0.5 * h * half;
    double a = (drive - load->weight * cos(q + 0.5 * h * v)) / inertia;
    q += h * middle;
    v += h * a;
    time += h;
  }
  return q;
}

// results of a run with one of the loads
typedef struct Result_ {
  double sunk;  // before the motor lifts it, rad
  double angle;
  double wanted;
  int holds;
  int lifts;
} Result;

static Result judge(const mjgTrajectory* run, const Load* load) {
  char q[mjgMAXNAME];
  snprintf(q, sizeof q, "q_%s", load->joint);
  Result r = {
      .sunk = fmax(0, -mjg_lowest(run, q, 0, LIFT)), .angle = mjg_at(run, q, REST), .wanted = liftedAngle(load)};
  r.holds = r.sunk <= HELD;
  r.lifts = fabs(r.angle - r.wanted) <= LIFTED * r.wanted;
  return r;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < NLOAD; i++) {
    Result r = judge(&run[0], &kLoad[i]);
    char v[mjgMAXNAME];
    snprintf(v, sizeof v, "v_%s", kLoad[i].joint);
    double rest = mjg_size(&run[0], v, REST, END);
    mjg_claim(claims, r.sunk == 0 && rest == 0 && fabs(r.angle - r.wanted) < 0.01 * r.wanted,
              "gear, %s: sinks by %g rad without its motor; %g N m lift it by %.4f rad, the law integrated says %.4f; "
              "it stands again at %g rad/s",
              kLoad[i].joint, r.sunk, kLoad[i].torque, r.angle, r.wanted, rest);
  }

  // the motor must be able to move the empty arm, and friction to hold the loaded one
  double most = kLoad[0].torque - kLoad[0].weight, least = kLoad[1].weight;
  mjg_claim(
      claims, most < least,
      "no constant does both: %g N m lift the empty arm against less than %.1f N m, holding the load takes %.1f N m",
      kLoad[0].torque, most, least);
  for (int i = 1; i < NCASE; i++) {
    Result empty = judge(&run[i], &kLoad[0]), loaded = judge(&run[i], &kLoad[1]);
    mjg_claim(claims, !(empty.holds && empty.lifts && loaded.holds && loaded.lifts),
              "%s N m: empty sinks by %.1e rad, is lifted to %.3f rad of %.3f; loaded sinks by %.1e rad, is lifted to "
              "%.3f rad of %.3f",
              run[i].variant->name, empty.sunk, empty.angle, empty.wanted, loaded.sunk, loaded.angle, loaded.wanted);
  }
}

mjgSCENE(TwoLoads, "two-loads", "two_loads/two_loads.xml", END,
         "A worm holds the same arm empty and with 5 kg, and lets the motor lift it in both cases. A constant either "
         "drops the load, or keeps the motor from moving the empty arm.",
         .moment = 0.99, .beside = "frictionloss=11,frictionloss=40,springyield=40", .joint = "empty",
         mjgCASES(loadsCase), .specify = mjg_reserveRival, .configure = configure, .input = input, .claims = claims,
         .nsolved = 1);

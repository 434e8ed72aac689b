// Computed-torque control through gears: an arm carries a load along a slow path. The same
// controller demands the same acceleration in all cases. Its torques come from inverse dynamics
// with gears, without gears, and with a constant for each joint's friction.

#include "../helpers.h"
#include "../load.h"
#include "mjgear_plugin.h"

#define NJOINT 3
#define PERIOD 12.0  // s
#define BEGIN  2.0   // errors count from then on
#define END    26.0
#define STIFF  200.0  // of the error, 1/s2
#define DAMPED 28.0   // of its rate, 1/s

#define COMPENSATION parameter[0]

enum { NONE, CONSTANT, GEARS };

static const mjgCase feedforwardCase[] = {
    {"compensated", NULL, {GEARS}},
    {"uncompensated", NULL, {NONE}},
    {"constant", NULL, {CONSTANT}},
};

// lengths of the arm, and its path: position, velocity and acceleration of each joint
static const double kUpper = 0.42, kFore = 0.4;
static const double kMiddle[NJOINT] = {0, -0.7, 1.1};
static const double kAmplitude[NJOINT] = {0.3, -0.2, -0.25};

static void path(double* q, double* v, double* a, double time) {
  double w = 2 * mjPI / PERIOD, x = fmin(time / BEGIN, 1), ramp = mjg_ease(x);
  double rate = x < 1 ? 30 * x * x * (1 - x) * (1 - x) / BEGIN : 0;
  double bend = x < 1 ? 60 * x * (1 - x) * (1 - 2 * x) / (BEGIN * BEGIN) : 0;
  for (int i = 0; i < NJOINT; i++) {
    double start = i * mjPI / 2, phase = w * time + start, zero = kAmplitude[i] * sin(start);
    double s = kAmplitude[i] * sin(phase) - zero, c = w * kAmplitude[i] * cos(phase);
    double n = -w * w * kAmplitude[i] * sin(phase);
    q[i] = kMiddle[i] + ramp * s;
    v[i] = rate * s + ramp * c;
    a[i] = bend * s + 2 * rate * c + ramp * n;
  }
}

// place of the load
static void tip(double* x, const double* q) {
  double reach = kUpper * cos(q[1]) + kFore * cos(q[1] + q[2]);
  x[0] = reach * cos(q[0]);
  x[1] = reach * sin(q[0]);
  x[2] = 0.4 - kUpper * sin(q[1]) - kFore * sin(q[1] + q[2]);
}

// the smallest torques of a motion with its gears
static void solveGears(mjtNum* torque, const mjModel* m, mjData* d, const mjtNum* acc) {
  double low[NJOINT], high[NJOINT];
  int motion[NJOINT];
  __typeof__(mjg_inverse)* inverse;
  if (mjg_findFunction(&inverse, "mjg_inverse") || inverse(low, high, motion, m, d, acc, NULL, NULL, 0) < 0) {
    mju_error("feedforward: the plugin gives no torques");
  }
  for (int i = 0; i < NJOINT; i++) {
    torque[i] = fmax(low[i], fmin(high[i], 0));
    if (motion[i] == mjgMOTION_HELD) {
      torque[i] = acc[i] > 0 ? high[i] : low[i];  // breakaway torque
    }
  }
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double q[NJOINT], v[NJOINT], a[NJOINT];
  mjtNum acc[NJOINT];
  path(q, v, a, d->time);
  for (int i = 0; i < NJOINT; i++) {
    acc[i] = a[i] + STIFF * (q[i] - d->qpos[i]) + DAMPED * (v[i] - d->qvel[i]);
  }
  if (variant->COMPENSATION == GEARS) {
    solveGears(d->ctrl, m, d, acc);
    return;
  }

  // torque of the engine's inverse dynamics, and the friction in the middle of the path
  static const double friction[NJOINT] = {2, 40, 20};
  mjtNum bias[NJOINT];
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_makeM(m, d);
  mj_comVel(m, d);
  mj_rne(m, d, 0, bias);
  mj_mulM(m, d, d->ctrl, acc);
  for (int i = 0; i < NJOINT; i++) {
    double s = variant->COMPENSATION == CONSTANT ? (v[i] > 0) - (v[i] < 0) : 0;
    d->ctrl[i] += bias[i] + m->dof_damping[i] * d->qvel[i] + s * friction[i];
  }
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  double q[NJOINT], v[NJOINT], a[NJOINT], goal[3], now[3];
  path(q, v, a, d->time);
  tip(goal, q);
  tip(now, d->qpos);
  value[0] = 1e3 * sqrt((now[0] - goal[0]) * (now[0] - goal[0]) + (now[1] - goal[1]) * (now[1] - goal[1]) +
                        (now[2] - goal[2]) * (now[2] - goal[2]));
  value[1] = hypot(goal[0], goal[1]);
  value[2] = goal[2];
  value[3] = hypot(now[0], now[1]);
  value[4] = now[2];
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double error[3], still[3];
  for (int i = 0; i < 3; i++) {
    error[i] = mjg_highest(&run[i], "error", BEGIN, END);
    still[i] = mjg_share(&run[i], "v_shoulder", BEGIN, INFINITY, mjg_isZero);
  }
  mjg_claim(claims, error[0] < 0.5 && still[0] < 0.02,
            "with its gears compensated the load of 5 kg follows its path within %.2f mm, and the shoulder stands "
            "still for %.1f %% of the time",
            error[0], 100 * still[0]);
  mjg_claim(claims, error[1] > 10 && still[1] > 0.2,
            "without, the same controller is off by %.0f mm, and the shoulder stands still for %.0f %% of the time",
            error[1], 100 * still[1]);
  mjg_claim(claims, error[2] > 5 * error[0], "with a constant for each joint's friction it is off by %.1f mm",
            error[2]);
}

mjgSCENE(Feedforward, "feedforward", "feedforward/feedforward.xml", END,
         "An arm carries 5 kg along a slow path, with the motor torques that its worm gears need, with those without "
         "gears, and with a constant for friction.",
         .beside = "uncompensated,constant", .joint = "shoulder", mjgCASES(feedforwardCase), .input = input,
         .column = "error goal_x goal_z tip_x tip_z", .measure = measure, .claims = claims, .nsolved = 1);

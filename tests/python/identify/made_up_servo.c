// The loops of made_up_servo.py, which explains them: invented servos, by equations (1) to (51) of the paper alone. Nothing here is the core's.

#include <math.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct Servo_ {
  double torque_constant, armature, offset, delay, coulomb, viscous, gamma_u, gamma_v,
      motor_viscous;
  // relative change of friction in 1/s and over the angle, torque over the angle, periods a turn of both, constant torque
  double drift, eccentric, cogging, periods, bias;
  double start;                       // time at which the log begins, s
  double sticky;                      // relative gain of friction at rest
  double sticky_speed;                // that halves the gain, rad/s
  double squared;                     // friction at 1 N m of load, which grows with its square, N m
  double eccentric_too, periods_too;  // a second change of friction over the angle
  double
      heating;  // part of friction that goes with heat, which 1 N m of the motor makes in a second
  double inertia, gravity, gain;  // parameters of the load and of the controller
} Servo;


// acceleration under a motor torque at an angle and a time
static double accelerate(const Servo* s, double q, double v, double motor, double t, double heat) {
  double m = s->armature, M = s->inertia, gv = s->gamma_v, gs = s->gamma_u + gv;
  double turn = sin(s->periods * q);
  double warm = (1 + s->drift * t) * exp(-s->heating * heat);
  double sticky = s->sticky_speed > 0 ? s->sticky * exp2(-fabs(v) / s->sticky_speed) : 0;
  double load = s->gravity * sin(q + s->offset) + s->cogging * turn + s->bias;
  double c = s->coulomb * warm *
             (1 + s->eccentric * turn + s->eccentric_too * sin(s->periods_too * q) + sticky);
  motor -= s->motor_viscous * v;
  double net = motor - load - s->viscous * warm * v;
  double d = v != 0 ? copysign(1, v) : net != 0 ? copysign(1, net) : 0;

  // at rest it stays if friction suffices
  if (v == 0 && fabs(net) <= fabs(gs * motor - gv * net) + c + s->squared * load * load) {
    return 0;
  }

  // sliding with either sign g of the internal force: t = d (g lam + c), lam = gs (motor - m a) - gv t,
  // (m + M) a = net - t, eliminated for a; the friction of the load's square is that of the round before
  double result = 0, fixed = c;
  for (int round = 0; round < (s->squared > 0 ? 8 : 1); round++) {
    double torque = load + M * result;
    c = fixed + s->squared * torque * torque;
    for (double g = 1; g >= -1; g -= 2) {
      double k = 1 + gv * d * g, slope = d * g * gs / k;
      double a = (net - slope * motor + d * g * gv * d * c / k - d * c) / (m + M - slope * m);
      double lam = (gs * (motor - m * a) - gv * d * c) / k;
      if (lam * g >= 0) {
        result = a;
        break;
      }
    }
  }

  // a joint at rest accelerates in the direction of the net torque or not at all
  return v == 0 && result * d < 0 ? 0 : result;
}


// goal at time t, and for how long it has been given
static double told(double* since, const Servo* s, const double* goal, double sample, double t) {
  double late = fmax(floor((t - s->delay) / sample + 1e-9), 0);
  *since = t - s->delay - late * sample;
  return goal[(int)late];
}


// position at each of n samples, by Heun's method; goal: at each sample, n + 1 of them
EXPORT void madeUpSimulate(double* position, const Servo* s, const double* goal, int n, int steps,
                           double sample, double step) {
  double q = 0, v = 0, heat = 0, since;
  for (int k = 0; k < n; k++) {
    position[k] = q;
    for (int i = 0; i < steps; i++) {
      // the mean over the step, so that a delay need not be a multiple of it
      double t = k * sample + i * step, before = told(&since, s, goal, sample, t);
      double after = told(&since, s, goal, sample, t + step);
      double now = before + fmin(fmax(since / step, 0), 1) * (after - before);
      double gain = s->torque_constant * s->gain;
      double a1 = accelerate(s, q, v, gain * (now - q), s->start + t, heat);
      double v1 = v + step * a1, next = q + step * v;
      v1 = v * v1 < 0 ? 0 : v1;
      double a2 = accelerate(s, next, v1, gain * (now - next), s->start + t + step, heat);
      double v2 = v == 0 && a1 == 0 ? 0 : v + step / 2 * (a1 + a2);
      v2 = v * v2 < 0 ? 0 : v2;
      heat += step * pow(gain * (now - q), 2);
      q += step / 2 * (v + v2);
      v = v2;
    }
  }
}


// numbers of a rotor, a gear, a gap with a damped shaft that never pulls, and a pendulum
typedef struct Gap_ {
  double inertia, gravity, rotor, half_gap, stiffness, damping, gamma_u, gamma_v, coulomb;
  double stribeck_friction, stribeck_velocity;
} Gap;


// angles of link and rotor at each of n samples, under the motor's torque of each; semi-implicit Euler
EXPORT void madeUpGap(double* link, double* ahead, const Gap* s, const double* torque, int n,
                      int steps, double step) {
  double q = 0, v = 0, w = 0, d = 0, gs = s->gamma_u + s->gamma_v;
  for (int k = 0; k < n; k++) {
    link[k] = q;
    ahead[k] = q + d;
    for (int i = 0; i < steps; i++) {
      double depth = fabs(d) - s->half_gap, side = copysign(1, d), shaft = 0;
      if (depth > 0) {
        shaft = side * fmax(s->stiffness * depth + s->damping * side * (w - v), 0);
      }

      // the gear loads its teeth with u = t + shaft: lam = gs (t + T) - gv t = gu t + gs T
      double free = w + step * (torque[k] - shaft) / s->rotor, t = 0;
      double ratio = w / s->stribeck_velocity;
      double c = s->coulomb + s->stribeck_friction * exp(-ratio * ratio);
      double direction = (free > 0) - (free < 0);
      for (double g = 1; g >= -1; g -= 2) {
        double one = direction * (g * gs * shaft + c) / (1 - direction * g * s->gamma_u);
        double lam = s->gamma_u * one + gs * shaft;
        t = lam * g >= 0 ? one : t;
      }
      double slowed = free - step * t / s->rotor;
      w = slowed * direction <= 0 ? 0 : slowed;
      v += step * (shaft - s->gravity * sin(q)) / s->inertia;
      q += step * v;
      d += step * (w - v);
    }
  }
}

// Two masses in free space with a gap between them, stepped as an engine does, for tests of the implicit step.

#ifndef MJGEAR_TESTS_PAIR_H_
#define MJGEAR_TESTS_PAIR_H_

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear.h"
#include "mjgear_backlash.h"
#include "reference_backlash.h"

// two masses in free space, stepped as an engine does: velocities, then angles
typedef struct Pair_ {
  mjgCoupling coupling;
  double load, load_angle, load_velocity, rotor_angle;
  mjgCouplingStep last;
} Pair;


static inline Pair makePair(const mjgBacklash* law, double motor, double load, double h) {
  Pair pair = {0};
  pair.coupling.law = law;
  pair.coupling.h = h;
  pair.coupling.blend = mjg_couplingBlend(law, h * (1 / motor + 1 / load), h);
  pair.coupling.inertia = motor;
  pair.coupling.static_ratio = 1;
  pair.load = load;
  return pair;
}


static inline void prepare(Pair* pair) {
  mjgCoupling* c = &pair->coupling;
  c->theta_d = pair->rotor_angle - pair->load_angle;
  c->omega_d = c->velocity - pair->load_velocity;
}


static inline void rest(Pair* pair) {
  mjgCoupling* c = &pair->coupling;
  prepare(pair);
  mjg_couplingRest(&c->theta_b, &c->omega_s, c->law, c->theta_d, c->omega_d);
}


static inline void step(Pair* pair, double motor_torque, double load_torque) {
  mjgCoupling* c = &pair->coupling;
  double A = c->h / pair->load;
  prepare(pair);
  c->torque = motor_torque;
  double vhat = pair->load_velocity + A * load_torque;
  mjg_couplingResolve(&pair->last, c, vhat, A);
  c->velocity = pair->last.velocity;
  c->theta_b = pair->last.theta_b;
  c->omega_s = pair->last.omega_s;
  pair->load_velocity = vhat + A * pair->last.T;
  pair->rotor_angle += c->h * c->velocity;
  pair->load_angle += c->h * pair->load_velocity;
}


static inline double kinetic(const Pair* pair) {
  double w = pair->coupling.velocity, v = pair->load_velocity;
  return 0.5 * (pair->coupling.inertia * w * w + pair->load * v * v);
}


static inline double uniform(double lo, double hi) {
  return lo + (hi - lo) * rand() / RAND_MAX;
}


static inline double decades(double lo, double hi) {
  return pow(10, uniform(lo, hi));
}


static inline mjgBacklash nordin(int model) {
  mjgBacklash law = {0};
  law.model = model;
  law.half_gap = 0.0025;
  law.stiffness = model == mjgHUNT_CROSSLEY ? 20 * 5895 : 5895;
  law.damping = 58.95;
  law.rubber = 0.002;
  law.shaft_inertia = 0.05;
  law.exponent = 1.5;
  law.restitution = 2;
  if (model == mjgTORSION) {
    law.half_gap = law.rubber = 0;
    law.stiffness_2 = 8000;
    law.stiffness_3 = 12000;
    law.torque_1 = 10;
    law.torque_2 = 25;
    law.hysteresis = 1e-3;
  }
  return law;
}


static inline mjgBacklash randomLaw(int model) {
  mjgBacklash law = {0};
  law.model = model;
  law.half_gap = rand() % 8 ? decades(-5, -1) : 0;
  law.stiffness = decades(0, 6);
  law.damping = rand() % 4 ? decades(-3, 4) : 0;
  law.rubber = rand() % 4 ? uniform(0, 2) * law.half_gap : 0;
  law.shaft_inertia = rand() % 4 ? decades(-5, 0) : 0;
  law.exponent = uniform(1, 3);
  law.restitution = decades(-3, 2);
  if (model == mjgTORSION) {
    law.half_gap = law.rubber = 0;
    law.hysteresis = rand() % 4 ? decades(-5, -1) : 0;
    law.torque_1 = rand() % 4 ? law.stiffness * decades(-5, -1) : 0;
    law.stiffness_2 = law.torque_1 > 0 ? law.stiffness * decades(-1, 1) : 0;
    law.torque_2 = law.torque_1 > 0 && rand() % 4 ? law.torque_1 * uniform(1.1, 3) : 0;
    law.stiffness_3 = law.torque_2 > 0 ? law.stiffness * decades(-1, 1) : 0;
  }
  assert_null(mjg_backlashError(&law));
  return law;
}


static inline double swing(double time) {
  return 25 * sin(2 * 3.14159265358979 * 4 * time);
}


// largest error of theta_d over half a second, relative to its largest value
static inline double motionError(const mjgBacklash* law, const double friction[3], double h) {
  refSystem system = {*law, 0.4, 5.6, friction[0], friction[1], friction[2], swing, NULL};
  refState s = {0};
  ref_start(&s, &system);
  Pair pair = makePair(law, system.motor, system.load, h);
  pair.coupling.gamma_u = friction[0];
  pair.coupling.gamma_v = friction[1];
  pair.coupling.coulomb = friction[2];
  rest(&pair);

  double error = 0, scale = 0;
  int n = (int)(0.5 / h + 0.5);
  for (int i = 0; i < n; i++) {
    step(&pair, swing(i * h), 0);
    ref_advance(&s, &system, (i + 1) * h, 2e-5);
    double theta = s.y[0] - s.y[2];
    error = fmax(error, fabs(pair.rotor_angle - pair.load_angle - theta));
    scale = fmax(scale, fabs(theta));
  }
  assert_true(s.touches >= 2);
  return error / scale;
}

#endif  // MJGEAR_TESTS_PAIR_H_

// The implicit step of a coupling: against fine references, energy, stability, limits.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear.h"
#include "mjgear_backlash.h"
#include "reference_backlash.h"


// two masses in free space, stepped as an engine does: velocities, then angles
typedef struct Pair_ {
  mjgCoupling coupling;
  double load, load_angle, load_velocity, rotor_angle;
  mjgCouplingStep last;
} Pair;


static Pair makePair(const mjgBacklash* law, double motor, double load, double h) {
  Pair pair = {0};
  pair.coupling.law = law;
  pair.coupling.h = h;
  pair.coupling.blend = mjg_couplingBlend(law, h * (1 / motor + 1 / load), h);
  pair.coupling.inertia = motor;
  pair.coupling.static_ratio = 1;
  pair.load = load;
  return pair;
}


static void prepare(Pair* pair) {
  mjgCoupling* c = &pair->coupling;
  c->theta_d = pair->rotor_angle - pair->load_angle;
  c->omega_d = c->velocity - pair->load_velocity;
}


static void rest(Pair* pair) {
  mjgCoupling* c = &pair->coupling;
  prepare(pair);
  mjg_couplingRest(&c->theta_b, &c->omega_s, c->law, c->theta_d, c->omega_d);
}


static void step(Pair* pair, double motor_torque, double load_torque) {
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


static double kinetic(const Pair* pair) {
  double w = pair->coupling.velocity, v = pair->load_velocity;
  return 0.5 * (pair->coupling.inertia * w * w + pair->load * v * v);
}


static double uniform(double lo, double hi) {
  return lo + (hi - lo) * rand() / RAND_MAX;
}


static double decades(double lo, double hi) {
  return pow(10, uniform(lo, hi));
}


static mjgBacklash nordin(int model) {
  mjgBacklash law = {0};
  law.model = model;
  law.half_gap = 0.0025;
  law.stiffness = model == mjgHUNT_CROSSLEY ? 20 * 5895 : 5895;
  law.damping = 58.95;
  law.rubber = 0.002;
  law.shaft_inertia = 0.05;
  law.exponent = 1.5;
  law.restitution = 2;
  return law;
}


static mjgBacklash randomLaw(int model) {
  mjgBacklash law = {0};
  law.model = model;
  law.half_gap = rand() % 8 ? decades(-5, -1) : 0;
  law.stiffness = decades(0, 6);
  law.damping = rand() % 4 ? decades(-3, 4) : 0;
  law.rubber = rand() % 4 ? uniform(0, 2) * law.half_gap : 0;
  law.shaft_inertia = rand() % 4 ? decades(-5, 0) : 0;
  law.exponent = uniform(1, 3);
  law.restitution = decades(-3, 2);
  assert_null(mjg_backlashError(&law));
  return law;
}


//---------------------------------- accuracy ------------------------------------------------------

static double swing(double time) {
  return 25 * sin(2 * 3.14159265358979 * 4 * time);
}


// largest error of theta_d over half a second, relative to its largest value
static double motionError(const mjgBacklash* law, const double friction[3], double h) {
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


// two-mass system of N 2.4 under a torque that swings it from side to side: within 1 % at 1 ms, and
// at least first order from there to 1/8 ms
static void converges(void** state) {
  (void)state;
  const double none[3] = {0, 0, 0};
  for (int model = 0; model < mjgNBACKLASH; model++) {
    mjgBacklash law = nordin(model);
    double coarse = motionError(&law, none, 1e-3);
    double fine = motionError(&law, none, 1.25e-4);
    print_message("  %-17s 1 ms %.3f %%  1/8 ms %.4f %%  order %.2f\n", mjg_backlashName(model),
                  100 * coarse, 100 * fine, log2(coarse / fine) / 3);
    assert_true(coarse <= 0.01);
    assert_true(fine <= coarse / 5);
  }
}


// the same with gear friction between motor and gap, backdrivable and not. A rotor that reverses within
// a step does so on the friction of its end: where in a step that happens makes the error scatter, so
// that the order is that of the largest of three errors.
static void convergesWithFriction(void** state) {
  (void)state;
  const double gears[2][3] = {{0.2, 0.3, 0}, {0.1, 1.2, 0.2}};
  const int steps[3] = {500, 570, 650};
  for (int gear = 0; gear < 2; gear++) {
    for (int model = 0; model < mjgNBACKLASH; model++) {
      mjgBacklash law = nordin(model);
      double first = 0, coarse = 0, fine = 0;
      for (int i = 0; i < 3; i++) {
        double error = motionError(&law, gears[gear], 0.5 / steps[i]);
        first = i ? first : error;
        coarse = fmax(coarse, error);
        fine = fmax(fine, motionError(&law, gears[gear], 0.5 / (8 * steps[i])));
      }
      print_message("  %-17s gamma %.1f %.1f  1 ms %.3f %%  largest %.3f %%, at 1/8 %.4f %%\n",
                    mjg_backlashName(model), gears[gear][0], gears[gear][1], 100 * first,
                    100 * coarse, 100 * fine);
      assert_true(first <= (model == mjgDAMPED_DEADZONE ? 0.015 : 0.01));
      assert_true(fine <= coarse / 5);
    }
  }
}


//---------------------------------- solve ---------------------------------------------------------

// the result satisfies motion, friction law and the law of the gap's sign, and the derivative is
// that of the torque
static void solvesItsLine(void** state) {
  (void)state;
  srand(7);
  int slopes = 0;
  for (int run = 0; run < 20000; run++) {
    mjgBacklash law = randomLaw(run % mjgNBACKLASH);
    double m = decades(-4, 1), M = decades(-4, 1), h = decades(-4, -2);
    int rotor = run / 10 % 2;
    mjgCoupling c = {0};
    c.law = &law;
    c.h = h;
    c.blend = mjg_couplingBlend(&law, h * (1 / m + 1 / M), h);
    c.theta_d = uniform(-2, 2) * fmax(law.half_gap, 1e-4);
    c.velocity = uniform(-2, 2);
    double v = uniform(-2, 2);
    c.omega_d = c.velocity - v;
    mjg_couplingRest(&c.theta_b, &c.omega_s, &law, c.theta_d, c.omega_d);
    c.torque = uniform(-1, 1) * m / h;
    if (rotor) {
      c.inertia = m;
      c.gamma_u = uniform(0, 0.9);
      c.gamma_v = uniform(0, 1);
      c.coulomb = rand() % 2 ? uniform(0, 1) * m / h : 0;
      c.static_ratio = uniform(1, 2);
    }
    double A = rotor ? h / M : h * (1 / m + 1 / M);
    double vhat = rotor ? v : c.omega_d;
    mjgCouplingStep s, up, down;
    mjg_couplingResolve(&s, &c, vhat, A);
    double scale = fabs(vhat) + fabs(c.velocity) + fabs(c.omega_d) + h / m * fabs(c.torque) + 1;

    if (rotor) {
      // motion of both sides
      double w = c.velocity + h / m * (c.torque - s.friction - s.T);
      double size = scale + h / m * (fabs(s.friction) + fabs(s.T)) + A * fabs(s.T);
      assert_true(fabs(w - s.velocity) <= 1e-12 * size);
      assert_true(fabs(s.velocity - (vhat + A * s.T) - s.omega_d) <= 1e-9 * size);

      // friction law
      double lambda = (c.gamma_u + c.gamma_v) * (s.friction + s.T) - c.gamma_v * s.friction;
      double bound = fabs(lambda) + c.coulomb;
      double tiny = 1e-9 * (bound + fabs(s.T));
      assert_true(fabs(lambda - s.lambda) <= tiny);
      if (s.mode) {
        assert_true(s.mode * s.velocity > 0);
        assert_true(fabs(s.friction - s.mode * bound) <= tiny);
      } else {
        assert_true(s.velocity == 0);
        assert_true(fabs(s.friction) <= c.static_ratio * (bound + tiny));
      }
    } else {
      assert_true(fabs(vhat - A * s.T - s.omega_d) <= 1e-9 * (scale + A * fabs(s.T)));
    }
    assert_true(fabs(s.theta_b) <= law.half_gap);

    // slope, where both sides agree that there is one
    double e = 1e-6 * scale;
    mjg_couplingResolve(&up, &c, vhat + e, A);
    mjg_couplingResolve(&down, &c, vhat - e, A);
    double tolerance = 1e-4 * (1 / A + fabs(s.T) / scale);
    double right = (up.T - s.T) / e, left = (s.T - down.T) / e;
    if (fabs(right - left) < tolerance && up.mode == s.mode && down.mode == s.mode) {
      assert_true(fabs(s.dT - 0.5 * (right + left)) <= 20 * tolerance);
      slopes++;
    }

    // of a line's slope at most, where the gear does not brake more than its load drives
    if (fmax(c.gamma_u, c.gamma_v) * c.static_ratio < 1) {
      double part = (rotor ? -A : A) * s.dT;
      assert_true(part >= 0 && part <= 1 + 1e-12);
    }
  }
  assert_true(slopes > 10000);
}


// without outer work the energy of both sides and of the shaft never grows, in any step, for any
// model, stiffness, inertia and timestep
static void energy(void** state) {
  (void)state;
  srand(1);
  for (int run = 0; run < 4000; run++) {
    mjgBacklash law = randomLaw(run % mjgNBACKLASH);
    Pair pair = makePair(&law, decades(-4, 1), decades(-4, 1), decades(-4, -2));
    pair.coupling.velocity = uniform(-1, 1) * decades(-3, 1);
    pair.load_velocity = uniform(-1, 1) * decades(-3, 1);
    pair.rotor_angle = uniform(-1.5, 1.5) * law.half_gap;
    rest(&pair);

    const mjgCoupling* c = &pair.coupling;
    double p = c->theta_d - 0.5 * (1 - c->blend) * c->h * c->omega_d;
    double start = kinetic(&pair) + mjg_backlashEnergy(&law, p, c->theta_b, c->omega_s);
    double last = start;
    for (int i = 0; i < 200; i++) {
      step(&pair, 0, 0);
      double now = kinetic(&pair) + pair.last.energy;
      if (!(now <= last + 2e-11 * start)) {
        print_error("%s: run %d step %d: %.17g after %.17g of %.17g\n", mjg_backlashName(law.model),
                    run, i, now, last, start);
        fail();
      }
      last = now;
    }
  }
}


// With gear friction the coupling gives no more than it holds, T over the way of p, and friction takes
// power. The energy of both sides and shaft falls in every step in which the rotor neither stops nor
// reverses. In one in which it does, it has moved on at its old speed for a part of the step: that
// gains ((1 - blend) h T)^2/(8 m) at most, which vanishes with h^2.
static void energyWithFriction(void** state) {
  (void)state;
  srand(2);
  int gains = 0;
  double nearest = 0;
  for (int run = 0; run < 4000; run++) {
    mjgBacklash law = randomLaw(run % mjgNBACKLASH);
    Pair pair = makePair(&law, decades(-4, 1), decades(-4, 1), decades(-4, -2));
    mjgCoupling* c = &pair.coupling;
    c->gamma_u = uniform(0, 0.9);
    c->gamma_v = uniform(0, 3);
    c->coulomb = rand() % 2 ? decades(-4, 0) : 0;
    c->velocity = uniform(-1, 1) * decades(-2, 1);
    pair.load_velocity = uniform(-1, 1) * decades(-2, 1);
    rest(&pair);
    double eta = 0.5 * (1 + c->blend);
    double stored = mjg_backlashEnergy(&law, c->theta_d - (1 - eta) * c->h * c->omega_d, c->theta_b,
                                       c->omega_s);
    double start = kinetic(&pair) + stored;
    double last = start;
    for (int i = 0; i < 200; i++) {
      double rotor = c->velocity;
      double before = rotor - pair.load_velocity;
      step(&pair, 0, 0);
      double work = c->h * pair.last.T * (eta * pair.last.omega_d + (1 - eta) * before);
      assert_true(pair.last.energy - stored <= work + 2e-11 * start);
      assert_true(pair.last.friction * c->velocity >= 0);
      stored = pair.last.energy;

      double now = kinetic(&pair) + stored;
      double part = (1 - c->blend) * c->h * pair.last.T;
      double most = rotor * c->velocity <= 0 && rotor != 0 ? part * part / (8 * c->inertia) : 0;
      if (!(now - last <= most + 2e-11 * start)) {
        print_error("%s: run %d step %d: %.17g after %.17g of %.17g, at most %g\n",
                    mjg_backlashName(law.model), run, i, now, last, start, most);
        fail();
      }
      if (now - last > 1e-6 * start) {
        gains++;
        nearest = fmax(nearest, (now - last) / most);
      }
      last = now;
    }
  }

  // the bound is reached: no smaller one holds
  assert_true(gains > 0 && nearest > 0.9);
}


// Friction that does not depend on the load: the energy and half a step of the friction's power at the
// rotor's speed never grow together, in any step, so no number of reversals adds up.
static void energyWithCoulomb(void** state) {
  (void)state;
  srand(3);
  for (int run = 0; run < 4000; run++) {
    mjgBacklash law = randomLaw(run % mjgNBACKLASH);
    Pair pair = makePair(&law, decades(-4, 1), decades(-4, 1), decades(-4, -2));
    mjgCoupling* c = &pair.coupling;
    c->coulomb = decades(-4, 2);
    c->velocity = uniform(-1, 1) * decades(-2, 1);
    pair.load_velocity = uniform(-1, 1) * decades(-2, 1);
    rest(&pair);
    double p = c->theta_d - 0.5 * (1 - c->blend) * c->h * c->omega_d;
    double start = kinetic(&pair) + mjg_backlashEnergy(&law, p, c->theta_b, c->omega_s) +
                   0.5 * c->h * c->coulomb * fabs(c->velocity);
    double last = start;
    for (int i = 0; i < 200; i++) {
      step(&pair, 0, 0);
      double now = kinetic(&pair) + pair.last.energy + 0.5 * c->h * c->coulomb * fabs(c->velocity);
      assert_true(now <= last + 2e-11 * start);
      last = now;
    }
  }
}


// k to 1e6 N m/rad on a 1e-4 kg m2 rotor: from an impact to rest against a motor torque
static void stable(void** state) {
  (void)state;
  const double steps[] = {5e-4, 1e-3, 2e-3, 5e-3};
  for (int model = 0; model < mjgNBACKLASH; model++) {
    for (double k = 1e2; k < 2e6; k *= 10) {
      for (double m = 1e-4; m < 2; m *= 10) {
        for (int i = 0; i < 4; i++) {
          mjgBacklash law = nordin(model);
          law.stiffness = k;
          law.damping = 2 * 0.3 * sqrt(k * (m + (model == mjgJCK ? law.shaft_inertia : 0)));
          law.exponent = 1;
          Pair pair = makePair(&law, m, 1e9, steps[i]);
          pair.coupling.velocity = 1;
          rest(&pair);
          int n = (int)(400 * sqrt(m / k) / steps[i]) + 3000;
          for (int s = 0; s < n; s++) {
            step(&pair, 1, 0);
            double theta = pair.rotor_angle - pair.load_angle;
            assert_true(theta < law.half_gap + 2 / k + 2 * sqrt(m / k) + 2 * steps[i]);
          }

          // at rest against the stop, but for the laws that do not damp small vibrations, which
          // keep the energy of the start, of the way through the gap and of one step at most
          double rest_velocity = fabs(pair.coupling.velocity);
          if (model == mjgDEADZONE || model == mjgSMOOTH || model == mjgHUNT_CROSSLEY) {
            assert_true(rest_velocity <
                        sqrt(1 + 2 * (2 * law.half_gap + 2 / k) / m) + steps[i] / m);
          } else {
            assert_true(rest_velocity < 1e-3);
          }
        }
      }
    }
  }
}


//---------------------------------- limits --------------------------------------------------------

// no gap and a stiff shaft: the rigid joint with gear friction, (44)
static void rigidJoint(void** state) {
  (void)state;
  const double h = 1e-3, m = 0.2, M = 1.3, gu = 0.2, gv = 0.6;
  for (int model = 0; model < mjgNBACKLASH; model++) {
    if (model == mjgHUNT_CROSSLEY) {
      continue;
    }
    mjgBacklash law = nordin(model);
    law.half_gap = law.rubber = law.shaft_inertia = 0;
    law.stiffness = 1e9;
    law.damping = 1e4;
    Pair pair = makePair(&law, m, M, h);
    pair.coupling.gamma_u = gu;
    pair.coupling.gamma_v = gv;
    rest(&pair);
    double v = 0;
    for (int i = 0; i < 1000; i++) {
      // drives, is driven, holds
      double motor = i < 300 ? 2 : i < 600 ? 0 : -0.5;
      double load = i < 300 ? -0.5 : i < 600 ? -0.7 : 0.55;
      assert_int_equal(mjg_stepScalar(&v, NULL, v, motor, -load, gu, gv, m, M, h), mjgSOLVED);
      step(&pair, motor, load);
      assert_true(fabs(pair.load_velocity - v) < 2e-4);
    }
  }
}


// a huge gap leaves the link free, exactly
static void hugeGap(void** state) {
  (void)state;
  for (int model = 0; model < mjgNBACKLASH; model++) {
    mjgBacklash law = nordin(model);
    law.half_gap = 1e6;
    Pair pair = makePair(&law, 0.1, 1, 1e-3);
    rest(&pair);
    double v = 0;
    for (int i = 0; i < 1000; i++) {
      step(&pair, 1, 0.3);
      v += 1e-3 * 0.3;
      assert_true(pair.last.T == 0);
      assert_true(pair.load_velocity == v);
    }
  }
}


// jck without inertia is exact, to the bit; with a small one it is close
static void inerterLimit(void** state) {
  (void)state;
  mjgBacklash exact = nordin(mjgEXACT), jck = nordin(mjgJCK), small = nordin(mjgJCK);
  jck.shaft_inertia = 0;
  small.shaft_inertia = 1e-6;
  Pair a = makePair(&exact, 0.4, 5.6, 1e-3);
  Pair b = makePair(&jck, 0.4, 5.6, 1e-3);
  Pair c = makePair(&small, 0.4, 5.6, 1e-3);
  rest(&a);
  rest(&b);
  rest(&c);
  for (int i = 0; i < 500; i++) {
    step(&a, swing(i * 1e-3), 0);
    step(&b, swing(i * 1e-3), 0);
    step(&c, swing(i * 1e-3), 0);
    assert_true(a.rotor_angle == b.rotor_angle && a.load_velocity == b.load_velocity);
    assert_true(fabs(a.rotor_angle - c.rotor_angle) < 1e-6);
  }
}


// as c -> 0 exact, phase plane and the dead zones take the same path, and rubber with beta -> 0
// that of the phase plane
static void dampingLimit(void** state) {
  (void)state;
  const int models[] = {mjgDAMPED_DEADZONE, mjgREVISED_DEADZONE, mjgPHASE_PLANE, mjgEXACT,
                        mjgLIMITED_DAMPING};
  for (int n = 0; n < 5; n++) {
    double h = 1e-4;
    mjgBacklash dead = nordin(mjgDEADZONE), other = nordin(models[n]);
    other.damping = 1e-7;
    Pair a = makePair(&dead, 0.4, 5.6, h);
    Pair b = makePair(&other, 0.4, 5.6, h);
    rest(&a);
    rest(&b);
    for (int i = 0; i < 1000; i++) {
      step(&a, swing(i * h), 0);
      step(&b, swing(i * h), 0);
      assert_true(fabs(a.rotor_angle - b.rotor_angle) < (models[n] == mjgEXACT ? 1e-5 : 1e-9));
    }
  }
  mjgBacklash phase = nordin(mjgPHASE_PLANE), rubber = nordin(mjgRUBBER);
  rubber.rubber = 1e-9;
  Pair a = makePair(&phase, 0.4, 5.6, 1e-3);
  Pair b = makePair(&rubber, 0.4, 5.6, 1e-3);
  rest(&a);
  rest(&b);
  for (int i = 0; i < 500; i++) {
    step(&a, swing(i * 1e-3), 0);
    step(&b, swing(i * 1e-3), 0);
    assert_true(fabs(a.rotor_angle - b.rotor_angle) < 1e-6);
  }
}


// a link behind a gap on a gear that cannot be backdriven rattles in the gap and not beyond: the
// rotor stands exactly still
static void rattles(void** state) {
  (void)state;
  for (int model = 0; model < mjgNBACKLASH; model++) {
    mjgBacklash law = nordin(model);
    law.exponent = 1;
    Pair pair = makePair(&law, 0.05, 0.5, 1e-3);
    pair.coupling.gamma_u = 0.1;
    pair.coupling.gamma_v = 1.1;
    rest(&pair);
    double lo = 0, hi = 0;
    for (int i = 0; i < 4000; i++) {
      step(&pair, 0, 3 * sin(2 * 3.14159265358979 * i * 1e-3));
      assert_true(pair.coupling.velocity == 0 && pair.rotor_angle == 0);
      lo = fmin(lo, pair.load_angle);
      hi = fmax(hi, pair.load_angle);
    }
    assert_true(hi > law.half_gap - law.rubber && lo < -law.half_gap + law.rubber);
    assert_true(hi < law.half_gap + 0.005 && lo > -law.half_gap - 0.005);
  }
}


//---------------------------------- impacts -------------------------------------------------------

// speeds at which a free link crosses the middle of the gap, one after each impact
static int crossings(double* speed, int n, const mjgBacklash* law, double h, double start) {
  Pair pair = makePair(law, 1e9, 1, h);
  pair.load_velocity = start;
  rest(&pair);
  int count = 0;
  for (int i = 0; i < 4000000 && count < n; i++) {
    double before = pair.load_angle;
    step(&pair, 0, 0);
    if (before * pair.load_angle < 0) {
      speed[count++] = fabs(pair.load_velocity);
    }
  }
  return count;
}


// the homogeneous law: the ratio of successive speeds does not depend on the speed. The reference
// value is that of a fine integration at one speed.
static void constantRatio(void** state) {
  (void)state;
  mjgBacklash law = nordin(mjgLIMITED_DAMPING);
  law.stiffness = 1e4;
  law.damping = 30;

  refSystem system = {law, 1e9, 1, 0, 0, 0, NULL, NULL};
  refState s = {0};
  s.y[3] = 1;
  ref_start(&s, &system);
  while (s.touches == 0 || s.gap != 0) {
    ref_advance(&s, &system, s.time + 1e-4, 1e-6);
  }
  assert_int_equal(s.touches, 1);
  double ratio = fabs(s.y[3]);

  double speed[7];
  assert_int_equal(crossings(speed, 7, &law, 2e-5, 1), 7);
  for (int i = 0; i < 6; i++) {
    assert_true(fabs(speed[i + 1] / speed[i] - ratio) < 2e-3);
  }
}


// Hunt and Crossley's: successive speeds follow the closed form of the impact, and the energy of a
// full cycle is R (6), 3 alpha k times the integral of z^n dz/dt dz along the path
static void vibroImpact(void** state) {
  (void)state;
  mjgBacklash law = nordin(mjgHUNT_CROSSLEY);
  law.stiffness = 1e6;
  law.restitution = 0.3;
  double speed[9];
  assert_int_equal(crossings(speed, 9, &law, 2e-5, 1), 9);
  double v = 1;
  for (int i = 0; i < 9; i++) {
    v *= mjg_restitutionFromAlpha(law.restitution, v);
    assert_true(fabs(speed[i] - v) < 2e-3 * v);
  }

  // one cycle: an impact on each side
  Pair pair = makePair(&law, 1e9, 1, 2e-5);
  pair.load_velocity = 1;
  rest(&pair);
  double area = 0, before = kinetic(&pair);
  for (int turns = 0; turns < 2;) {
    double angle = pair.load_angle, rate = pair.load_velocity;
    step(&pair, 0, 0);
    double z = fmax(0, fabs(0.5 * (angle + pair.load_angle)) - law.half_gap);
    double zdot = 0.5 * (rate + pair.load_velocity);
    area += pow(z, law.exponent) * zdot * (pair.load_angle - angle);
    turns += angle * pair.load_angle < 0;
  }
  double loss = before - kinetic(&pair);
  assert_true(loss > 0.3);
  assert_true(fabs(1.5 * law.restitution * law.stiffness * area - loss) < 0.01 * loss);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(converges),
      cmocka_unit_test(convergesWithFriction),
      cmocka_unit_test(solvesItsLine),
      cmocka_unit_test(energy),
      cmocka_unit_test(energyWithFriction),
      cmocka_unit_test(energyWithCoulomb),
      cmocka_unit_test(stable),
      cmocka_unit_test(rigidJoint),
      cmocka_unit_test(hugeGap),
      cmocka_unit_test(inerterLimit),
      cmocka_unit_test(dampingLimit),
      cmocka_unit_test(rattles),
      cmocka_unit_test(constantRatio),
      cmocka_unit_test(vibroImpact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

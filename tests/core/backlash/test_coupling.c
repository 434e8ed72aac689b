// Rotor, gear and gap in series: against fine references, the law itself, energy, limits.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fewer.h"
#include "pair.h"


// the same with gear friction between motor and gap, backdrivable and not. A rotor that reverses
// within a step has the friction of its end. The error depends on the time of the reversal, so
// the order is computed from the largest of three errors.
static void convergesWithFriction(void** state) {
  const double gears[2][3] = {{0.2, 0.3, 0}, {0.1, 1.2, 0.2}};
  const int steps[3] = {500, 570, 650};
  for (int gear = 0; gear < 2; gear++) {
    for (int model = 0; model < mjgTORSION; model++) {
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


// the result satisfies motion, friction law and the law of the gap's sign; the derivative
// matches the torque
static void solvesItsLine(void** state) {
  srand(7);
  int slopes = 0;
  for (int run = 0; run < fewer(20000); run++) {
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
    } else {
      c.gamma_u = c.gamma_v = c.coulomb = c.static_ratio = NAN;  // of form (a) only
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
    assert_true(law.model == mjgTORSION || fabs(s.theta_b) <= law.half_gap);

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
    if (!rotor || fmax(c.gamma_u, c.gamma_v) * c.static_ratio < 1) {
      double part = (rotor ? -A : A) * s.dT;
      assert_true(part >= 0 && part <= 1 + 1e-12);
    }
  }
  assert_true(slopes > fewer(10000));
}


// With gear friction the coupling gives at most its stored energy, the integral of T over p, and
// friction takes power. The energy of both sides and shaft falls in every step in which the rotor neither stops nor
// reverses. In a step with a reversal the rotor has kept its old speed for a part of the step.
// A stop or reversal gains at most ((1 - blend) h T)^2/(8 m), which vanishes with h^2.
static void energyWithFriction(void** state) {
  srand(2);
  int gains = 0;
  double nearest = 0;
  for (int run = 0; run < fewer(4000); run++) {
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


// Load-independent friction: the energy plus half a step of the friction's power at the rotor's
// speed never grows in any step, so reversals do not add up.
static void energyWithCoulomb(void** state) {
  srand(3);
  for (int run = 0; run < fewer(4000); run++) {
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


// no gap and a stiff shaft: the rigid joint with gear friction, (44)
static void rigidJoint(void** state) {
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


// a link behind a gap on a gear that cannot be backdriven rattles in the gap and not beyond: the
// rotor stands exactly still
static void rattles(void** state) {
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


// The step predicts a touch from the yield of both sides per unit of torque: A and
// h/inertia, unless it is given. Then the torque is a function of the motion alone: on
// any line through a point of this function the point is the solution
static void foresees(void** state) {
  const double h = 1e-3, A = 2e-4, inertia = 0.5, vhat = -0.4;
  for (int model = mjgPHASE_PLANE; model <= mjgRUBBER; model++) {
    mjgBacklash law = nordin(model);
    mjgCoupling c = {.law = &law, .h = h, .blend = 0.2, .omega_d = 0.5, .inertia = inertia};
    c.theta_d = mjg_backlashTouch(&law, c.omega_d) + 1e-4;  // at which the step begins is less
    c.theta_b = c.theta_d;
    c.static_ratio = 1;
    mjgCouplingStep own, given, stiff, other;
    mjg_couplingResolve(&own, &c, vhat, A);
    c.yield = A + h / inertia;
    mjg_couplingResolve(&given, &c, vhat, A);
    assert_true(given.T == own.T && own.T > 0);
    c.yield *= 0.1;
    mjg_couplingResolve(&stiff, &c, vhat, A);
    assert_true(fabs(stiff.T - own.T) > 1e-6 * own.T);
    mjg_couplingResolve(&other, &c, vhat - 3 * A * stiff.T, 4 * A);
    assert_true(fabs(other.T - stiff.T) <= 1e-10 * fabs(stiff.T));
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convergesWithFriction),
      cmocka_unit_test(solvesItsLine),
      cmocka_unit_test(energyWithFriction),
      cmocka_unit_test(energyWithCoulomb),
      cmocka_unit_test(rigidJoint),
      cmocka_unit_test(rattles),
      cmocka_unit_test(foresees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

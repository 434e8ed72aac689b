// Gap and shaft in an implicit step: against fine references, energy, stability, limits, impacts.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fewer.h"
#include "pair.h"


// two-mass system of N 2.4 under a torque that swings it from side to side: within 1 % at 1 ms, and
// at least first order from there to 1/8 ms
static void converges(void** state) {
  const double none[3] = {0, 0, 0};
  for (int model = 0; model < mjgTORSION; model++) {
    mjgBacklash law = nordin(model);
    double coarse = motionError(&law, none, 1e-3);
    double fine = motionError(&law, none, 1.25e-4);
    print_message("  %-17s 1 ms %.3f %%  1/8 ms %.4f %%  order %.2f\n", mjg_backlashName(model),
                  100 * coarse, 100 * fine, log2(coarse / fine) / 3);
    assert_true(coarse <= 0.01);
    assert_true(fine <= coarse / 5);
  }
}


// energy of the deadzone's spring at an angle, and that of both sides with it
static double springEnergy(const mjgBacklash* law, double p) {
  double z = fmax(0, fabs(p) - law->half_gap);
  return 0.5 * law->stiffness * z * z;
}


// The torque is the mean over the last 1 - blend of the way from p- to p+: there the spring's energy changes by its
// mean torque times the way. With A = 0 the rate is fixed
static void meanTorque(void** state) {
  srand(4);
  int touching = 0;
  for (int run = 0; run < 1000; run++) {
    const mjgBacklash law = nordin(mjgDEADZONE);
    double blend = uniform(0, mjgMAXBLEND), h = 1e-3, eta = 0.5 * (1 + blend);
    double before = uniform(-9, 9), after = uniform(-9, 9);
    const mjgCoupling c = {.law = &law,
                           .h = h,
                           .blend = blend,
                           .theta_d = uniform(-2, 2) * law.half_gap,
                           .omega_d = before};
    mjgCouplingStep s;
    mjg_couplingResolve(&s, &c, after, 0);
    double from = c.theta_d - (1 - eta) * h * before, to = c.theta_d + eta * h * after;
    from += blend * (to - from);
    if (fabs(to - from) < 1e-5) {
      continue;  // the quotient loses digits
    }
    double mean = (springEnergy(&law, to) - springEnergy(&law, from)) / (to - from);
    assert_true(fabs(s.T - mean) < 1e-9 * law.stiffness * law.half_gap);
    touching += mean != 0;
  }
  assert_true(touching > 300);
}


// the account of energies holds with any blend that stays, and not with one that changes within the run
static void blendThatChanges(void** state) {
  for (int changes = 0; changes < 2; changes++) {
    const mjgBacklash law = nordin(mjgDEADZONE);
    Pair pair = makePair(&law, 0.4, 5.6, 1e-3);
    pair.coupling.velocity = 3;
    pair.coupling.blend = 0;
    double last = 0.5 * 0.4 * 9, most = 0;
    for (int i = 0; i < 400; i++) {
      pair.coupling.blend = changes && i % 2 ? 0.9 : 0;
      step(&pair, 0, 0);
      double now = kinetic(&pair) + pair.last.energy;
      most = fmax(most, now - last);
      last = now;
    }
    assert_true(changes ? most > 1e-3 * 1.8 : most < 1e-12 * 1.8);
  }
}


// without outer work the energy of both sides and of the shaft never grows, in any step, for any
// model, stiffness, inertia, timestep and blend
static void energy(void** state) {
  srand(1);
  for (int run = 0; run < fewer(4000); run++) {
    mjgBacklash law = randomLaw(run % mjgNBACKLASH);
    Pair pair = makePair(&law, decades(-4, 1), decades(-4, 1), decades(-4, -2));
    pair.coupling.blend = run / mjgNBACKLASH % 2 ? uniform(0, mjgMAXBLEND) : pair.coupling.blend;
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


// k to 1e6 N m/rad on a 1e-4 kg m2 rotor: from an impact to rest against a motor torque
static void stable(void** state) {
  const double steps[] = {5e-4, 1e-3, 2e-3, 5e-3}, factor = getenv("MJGEAR_LONG") ? 10 : 100;
  for (int model = 0; model < mjgNBACKLASH; model++) {
    for (double k = 1e2; k < 2e6; k *= factor) {
      for (double m = 1e-4; m < 2; m *= factor) {
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

          // at rest against the stop. Laws that do not damp small vibrations keep at most the
          // energy of the start, of the way through the gap and of one step
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


// a huge gap leaves the link free, exactly
static void hugeGap(void** state) {
  for (int model = 0; model < mjgTORSION; model++) {
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


// as c -> 0 exact, phase plane and the dead zones take the same path, and rubber with
// beta -> 0 the path of the phase plane
static void dampingLimit(void** state) {
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


//---------------------------------- impacts -------------------------------------------------------

// speeds of a free link in the middle of the gap, one after each impact
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
// value comes from a fine integration at one speed.
static void constantRatio(void** state) {
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


// Hunt and Crossley: successive speeds follow the closed form of the impact, and the energy of a
// full cycle is R (6), 3 alpha k times the integral of z^n dz/dt dz along the path
static void vibroImpact(void** state) {
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


// Impacts far beyond any machine, without loss, from rest at a closed gap. The mean torque of the
// step is k (h w)^n/(n + 1) in closed form: solved within the range of numbers, and refused beyond
static void hugeImpacts(void** state) {
  for (int power = 0; power <= 300; power += 10) {
    for (double n = 1.5; n <= 4; n += 0.5) {
      mjgBacklash law = {.model = mjgHUNT_CROSSLEY, .stiffness = 1e3, .exponent = n, .half_gap = 0};
      mjgCoupling coupling = {.law = &law, .h = 1e-3};
      double vhat = pow(10, power), A = 0.5;
      mjgCouplingStep step;
      mjg_couplingResolve(&step, &coupling, vhat, A);
      if (isnan(step.T)) {
        assert_true(1e3 * pow(1e-3 * 0.5 * vhat, n + 1) > 1e300);  // the integral of the law
        continue;
      }
      double w = 0.5 * step.omega_d, torque = 1e3 * pow(1e-3 * w, n) / (n + 1);
      assert_true(fabs(step.omega_d + A * step.T - vhat) <= 1e-9 * vhat);
      assert_true(fabs(step.omega_d + A * torque - vhat) <= 1e-9 * vhat);
    }
  }
}


// the damper pulls on the part of the way that leaves the gap, and outside on all of it
static void damperPulls(void** state) {
  const double h = 1e-3, depth = 2e-4;
  mjgBacklash law = {.model = mjgDAMPED_DEADZONE, .half_gap = 0.01, .stiffness = 1e-9};
  law.damping = 5;
  for (int side = -1; side <= 1; side += 2) {
    mjgCoupling c = {.law = &law, .h = h, .blend = 0.5, .theta_d = side * (law.half_gap + depth)};
    mjgCouplingStep step;
    for (int k = 0; k < 2; k++) {
      // w is 0.75 of the rate at the end
      double rate = side * (k ? -0.1 : -1);
      mjg_couplingResolve(&step, &c, rate, 0);
      double way = k ? 0.75 * h * rate : -side * depth;
      assert_true(fabs(step.T - law.damping * way / h) < 1e-9);
    }
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hugeImpacts),  cmocka_unit_test(converges),
      cmocka_unit_test(meanTorque),   cmocka_unit_test(blendThatChanges),
      cmocka_unit_test(energy),       cmocka_unit_test(stable),
      cmocka_unit_test(hugeGap),      cmocka_unit_test(inerterLimit),
      cmocka_unit_test(dampingLimit), cmocka_unit_test(constantRatio),
      cmocka_unit_test(vibroImpact),  cmocka_unit_test(damperPulls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

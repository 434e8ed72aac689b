// Backlash laws: against the areas of the papers, their limits, closed forms and conversions.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backlash/backlash.h"
#include "reference_backlash.h"


static mjgBacklash nordin(int model) {
  mjgBacklash law = {0};
  law.model = model;
  law.half_gap = 0.0025;
  law.stiffness = 5895;
  law.damping = 58.95;
  law.rubber = 0.002;
  law.shaft_inertia = 0.05;
  law.exponent = 1.5;
  law.restitution = 2;
  return law;
}


static int isState(int model) {
  return model == mjgEXACT || model == mjgJCK;
}


static void assertClose(double a, double b, double tolerance) {
  if (!(fabs(a - b) <= tolerance)) {
    print_error("%.17g and %.17g differ by %.3g, allowed %.3g\n", a, b, fabs(a - b), tolerance);
    fail();
  }
}


// every model against the formulas of its areas, over the phase plane
static void matchesAreas(void** state) {
  for (int model = 0; model < mjgTORSION; model++) {
    if (isState(model)) {
      continue;
    }
    mjgBacklash law = nordin(model);
    for (int i = -60; i <= 60; i++) {
      for (int j = -60; j <= 60; j++) {
        // off the round numbers where T jumps
        double theta = 1.37e-4 * i;
        double omega = 0.0113 * j;
        double T = mjg_backlashTorque(NULL, NULL, &law, theta, omega);
        assertClose(T, ref_torque(&law, theta, omega), 1e-10 * law.stiffness * law.half_gap);
        assertClose(T, -mjg_backlashTorque(NULL, NULL, &law, -theta, -omega), 0);
      }
    }
  }
}


// derivatives against differences, away from kinks
static void derivatives(void** state) {
  int compared = 0;
  for (int model = 0; model < mjgTORSION; model++) {
    if (isState(model)) {
      continue;
    }
    mjgBacklash law = nordin(model);
    for (int i = -20; i <= 20; i++) {
      for (int j = -20; j <= 20; j++) {
        double theta = 3.7e-4 * i + 1e-5;
        double omega = 0.031 * j + 1e-3;
        double e = 1e-7, dtheta, domega;
        double T = mjg_backlashTorque(&dtheta, &domega, &law, theta, omega);
        double right = mjg_backlashTorque(NULL, NULL, &law, theta + e, omega) - T;
        double left = T - mjg_backlashTorque(NULL, NULL, &law, theta - e, omega);
        double up = mjg_backlashTorque(NULL, NULL, &law, theta, omega + e) - T;
        double down = T - mjg_backlashTorque(NULL, NULL, &law, theta, omega - e);
        if (fabs(right - left) > 1e-3 * law.stiffness * e ||
            fabs(up - down) > 1e-3 * law.damping * e) {
          continue;
        }
        assertClose(dtheta, (right + left) / (2 * e), 1e-3 * law.stiffness);
        assertClose(domega, (up + down) / (2 * e), 1e-3 * law.damping);
        compared++;
      }
    }
  }
  assert_true(compared > 10000);
}


// no law pulls, except the damped dead zone in Nordin's areas A1 and A2, and the revised one at
// speeds that cross the gap within the time c/k
static void pulling(void** state) {
  for (int model = 0; model < mjgTORSION; model++) {
    if (isState(model)) {
      continue;
    }
    mjgBacklash law = nordin(model);
    int pulls = 0, spans = 0;
    for (int i = 1; i <= 100; i++) {
      for (int j = -100; j <= 100; j++) {
        double theta = 1.1e-4 * i;
        double omega = 0.0117 * j;
        double T = mjg_backlashTorque(NULL, NULL, &law, theta, omega);

        // N (3): a negative torque needs contact on the left, which ends long before k theta + c omega = 0
        pulls += T < 0 && theta > law.half_gap && law.stiffness * theta + law.damping * omega > 0;

        // (27) sees the angle theta + c/k omega, which is beyond the whole gap
        int beyond = theta + law.damping / law.stiffness * omega < -law.half_gap;
        spans += T < 0 && theta > law.half_gap && model != mjgDAMPED_DEADZONE;
        assert_true(T >= 0 || theta <= law.half_gap || beyond || model == mjgDAMPED_DEADZONE);
      }
    }
    assert_int_equal(spans > 0, model == mjgREVISED_DEADZONE);
    assert_int_equal(pulls > 0, model == mjgDAMPED_DEADZONE);
  }
}


// c -> 0: exact, phase plane and the dead zones coincide; beta -> 0: rubber is the phase plane,
// smooth the dead zone; no rate: rubber is smooth
static void limits(void** state) {
  for (int i = -50; i <= 50; i++) {
    for (int j = -10; j <= 10; j++) {
      double theta = 1.3e-4 * i + 1e-6;
      double omega = 0.1 * j;
      mjgBacklash law = nordin(mjgDEADZONE);
      law.damping = 0;
      law.rubber = 0;
      double T = mjg_backlashTorque(NULL, NULL, &law, theta, omega);
      const int same[] = {mjgDAMPED_DEADZONE, mjgREVISED_DEADZONE, mjgPHASE_PLANE,
                          mjgRUBBER,          mjgSMOOTH,           mjgEXACT,
                          mjgLIMITED_DAMPING};
      for (size_t s = 0; s < sizeof same / sizeof same[0]; s++) {
        law.model = same[s];
        assertClose(mjg_backlashTorque(NULL, NULL, &law, theta, omega), T, 1e-12);
      }

      // a little damping changes little
      law.model = mjgPHASE_PLANE;
      law.damping = 1e-9;
      assertClose(mjg_backlashTorque(NULL, NULL, &law, theta, omega), T, 1e-8);

      // a thin rubber, away from the touch
      mjgBacklash rubber = nordin(mjgRUBBER), phase = nordin(mjgPHASE_PLANE);
      rubber.rubber = 1e-9;
      double touch = mjg_backlashTouch(&phase, fabs(omega));
      if (fabs(fabs(theta) - touch) > 1e-8) {
        assertClose(mjg_backlashTorque(NULL, NULL, &rubber, theta, omega),
                    mjg_backlashTorque(NULL, NULL, &phase, theta, omega), 1e-4);
      }

      // rubber at rest
      mjgBacklash still = nordin(mjgRUBBER), smooth = nordin(mjgSMOOTH);
      assertClose(mjg_backlashTorque(NULL, NULL, &still, theta, 0),
                  mjg_backlashTorque(NULL, NULL, &smooth, theta, 0), 1e-12);
    }
  }
}


// theta* solves N (19) and has its limits: half_gap for slow, the release line without a gap
static void touchAngle(void** state) {
  mjgBacklash law = nordin(mjgPHASE_PLANE);
  for (double w = 1e-6; w < 1e6; w *= 3) {
    double u = law.damping / law.stiffness * w;
    double theta = mjg_backlashTouch(&law, w);
    assert_true(theta <= law.half_gap && theta >= law.half_gap - u);
    double x = theta + law.half_gap;
    double f = x + u * exp(-x / u - 1);
    assertClose(f, 2 * law.half_gap, 1e-12 * fmax(u, law.half_gap));
  }
  assertClose(mjg_backlashTouch(&law, 1e-9), law.half_gap, 0);
  assertClose(mjg_backlashTouch(&law, -1), law.half_gap, 0);
  law.half_gap = 0;
  assertClose(mjg_backlashTouch(&law, 2), -law.damping / law.stiffness * 2, 1e-15);
}


// torque at rest is the gradient of the stored energy
static void energyGradient(void** state) {
  for (int model = 0; model < mjgTORSION; model++) {
    mjgBacklash law = nordin(model);
    for (int i = -40; i <= 40; i++) {
      double theta = 2.3e-4 * i + 1e-5;
      double b = fmax(-law.half_gap, fmin(theta, law.half_gap));
      double e = 1e-8;
      double up = mjg_backlashEnergy(&law, theta + e, b, 0);
      double down = mjg_backlashEnergy(&law, theta - e, b, 0);
      assertClose(mjg_backlashTorque(NULL, NULL, &law, theta, 0), (up - down) / (2 * e),
                  1e-6 * law.stiffness * law.half_gap);
      assert_true(isState(model) || mjg_backlashEnergy(&law, theta, NAN, NAN) ==
                                        mjg_backlashEnergy(&law, theta, b, 0));
    }
  }
}


// the shaft in the gap: relaxation N (11), (13), release at N (5), inelastic stops
static void exactShaft(void** state) {
  mjgBacklash law = nordin(mjgEXACT);
  double T;

  // contact holds while it pushes, and ends at once where it would pull
  assert_true(mjg_gapRate(&T, &law, 0.003, 0, 0.0025) == 0);
  assertClose(T, 5895 * 0.0005, 1e-12);
  assert_true(mjg_gapRate(&T, &law, 0.003, -0.049, 0.0025) == 0);
  assert_true(T > 0);
  assert_true(mjg_gapRate(&T, &law, 0.003, -0.051, 0.0025) < 0);
  assert_true(T == 0);
  assert_true(mjg_gapRate(&T, &law, -0.003, 0.049, -0.0025) == 0);
  assert_true(T < 0);

  // free: twist decays with k/c
  double twist = 1e-3, dt = 1e-5, theta_b = -1e-3;
  for (int i = 0; i < 1000; i++) {
    // midpoint rule with theta_d = 0
    double half = theta_b + 0.5 * dt * mjg_gapRate(&T, &law, 0, 0, theta_b);
    theta_b += dt * mjg_gapRate(&T, &law, 0, 0, half);
    assert_true(T == 0);
  }
  assertClose(-theta_b, twist * exp(-100 * 0.01), 1e-9);
}


// coefficient of restitution: the closed form against a fine simulation of the impact, for several
// exponents, and against Hunt and Crossley's first order
static void restitution(void** state) {
  const double exponents[] = {1, 1.5, 2.5};
  const double coefficients[] = {0.95, 0.7, 0.3, 0.05};
  for (int n = 0; n < 3; n++) {
    for (int e = 0; e < 4; e++) {
      double speed = 0.4;
      refSystem system = {0};
      system.law = nordin(mjgHUNT_CROSSLEY);
      system.law.exponent = exponents[n];
      system.law.stiffness = 1e5;
      system.law.restitution = mjg_alphaFromRestitution(coefficients[e], speed);
      system.motor = 0.4;
      system.load = 5.6;
      assertClose(mjg_restitutionFromAlpha(system.law.restitution, speed), coefficients[e], 1e-12);

      refState s = {0};
      s.y[0] = 0.0024;
      s.y[1] = speed;
      ref_start(&s, &system);
      double back = 0;
      while (s.time < 1 && back == 0) {
        ref_advance(&s, &system, s.time + 1e-3, 2e-6);
        if (s.touches == 1 && s.gap == 0 && s.y[0] - s.y[2] > 0) {
          back = s.y[3] - s.y[1];
        }
      }
      assertClose(back / speed, coefficients[e], 1e-6);
    }
  }
  assertClose(mjg_alphaFromRestitution(0.999, 2), 0.001 / 2, 1e-6);
  assertClose(mjg_restitutionFromAlpha(1e-5, 1), 1 - 1e-5, 1e-9);
  assertClose(mjg_alphaFromRestitution(1, 2), 0, 0);
  assertClose(mjg_restitutionFromAlpha(0, 2), 1, 0);
  assert_true(isnan(mjg_alphaFromRestitution(0, 1)));
  assert_true(isnan(mjg_alphaFromRestitution(1.01, 1)));
  assert_true(isnan(mjg_alphaFromRestitution(0.5, 0)));
  assert_true(isnan(mjg_restitutionFromAlpha(-1, 1)));
}


static void conversions(void** state) {
  assertClose(mjg_arcmin(60 * 180), 3.14159265358979, 1e-14);
  assertClose(mjg_arcmin(1), 2.90888208665722e-4, 1e-17);
}


static void names(void** state) {
  for (int i = 0; i < mjgNBACKLASH; i++) {
    assert_int_equal(mjg_backlashModel(mjg_backlashName(i)), i);
  }
  assert_int_equal(mjg_backlashModel("hysteresis"), -1);
  assert_int_equal(mjg_backlashModel(NULL), -1);
  assert_null(mjg_backlashName(-1));
  assert_null(mjg_backlashName(mjgNBACKLASH));
}


// each parameter out of range is named
static void refusals(void** state) {
  mjgBacklash law = nordin(mjgRUBBER);
  assert_null(mjg_backlashError(&law));
  const struct {
    const char* word;
    size_t offset;
    double value;
  } bad[] = {
      {"half_gap", offsetof(mjgBacklash, half_gap), -1e-9},
      {"half_gap", offsetof(mjgBacklash, half_gap), INFINITY},
      {"half_gap", offsetof(mjgBacklash, half_gap), 1e101},
      {"stiffness", offsetof(mjgBacklash, stiffness), 0},
      {"stiffness", offsetof(mjgBacklash, stiffness), NAN},
      {"damping", offsetof(mjgBacklash, damping), -1},
      {"damping", offsetof(mjgBacklash, damping), 1e308},  // steps of seconds
      {"rubber", offsetof(mjgBacklash, rubber), 0.0051},
      {"shaft_inertia", offsetof(mjgBacklash, shaft_inertia), -1},
      {"restitution", offsetof(mjgBacklash, restitution), NAN},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    mjgBacklash copy = law;
    memcpy((char*)&copy + bad[i].offset, &bad[i].value, sizeof(double));
    const char* error = mjg_backlashError(&copy);
    assert_non_null(error);
    assert_non_null(strstr(error, bad[i].word));
  }
  law.model = mjgHUNT_CROSSLEY;
  law.exponent = 0.5;
  assert_non_null(strstr(mjg_backlashError(&law), "exponent"));
  law.model = 99;
  assert_non_null(strstr(mjg_backlashError(&law), "model"));
  assert_non_null(mjg_backlashError(NULL));

  // a law that is not checked
  law = nordin(mjgDEADZONE);
  law.stiffness = NAN;
  assert_true(isnan(mjg_backlashTorque(NULL, NULL, &law, 1, 0)));
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matchesAreas), cmocka_unit_test(derivatives),
      cmocka_unit_test(pulling),      cmocka_unit_test(limits),
      cmocka_unit_test(touchAngle),   cmocka_unit_test(energyGradient),
      cmocka_unit_test(exactShaft),   cmocka_unit_test(restitution),
      cmocka_unit_test(conversions),  cmocka_unit_test(names),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

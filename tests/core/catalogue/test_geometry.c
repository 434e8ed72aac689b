// coefficients from geometry, against textbook efficiencies and a force balance written out

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalogue/geometry.h"
#include "near.h"

static const double kDegree = 3.14159265358979323846 / 180;


//---------------------------------- screws --------------------------------------------------------

// published: mu 0.1, pressure angle 20 deg, lead angle 5 deg
static void test_publishedWorm(void** state) {
  double gu, gv, ef, eb;
  assert_int_equal(mjg_screw(&gu, &gv, 5 * kDegree, 20 * kDegree, 0.1), 0);
  assert_int_equal(mjg_efficiencies(&ef, &eb, gu, gv), 0);
  assertNear(ef, 0.447, 0.0005);
  assertNear(eb, -0.214, 0.0005);
}


// textbook: tan(l)/tan(l + rho) and tan(l - rho)/tan(l), tan(rho) = mu/cos(pressure angle)
static void test_textbookScrew(void** state) {
  for (double lead = 1; lead < 80; lead += 7) {
    for (double flank = 0; flank < 45; flank += 14.5) {
      for (double mu = 0; mu < 0.5; mu += 0.07) {
        double gu, gv, ef, eb;
        double rho = atan(mu / cos(flank * kDegree));
        double l = lead * kDegree;
        assert_int_equal(mjg_screw(&gu, &gv, l, flank * kDegree, mu), 0);
        assert_int_equal(mjg_efficiencies(&ef, &eb, gu, gv), 0);
        assertNear(ef, tan(l) / tan(l + rho), 1e-12);
        assertNear(eb, tan(l - rho) / tan(l), 1e-12);

        // self-locking exactly where theory puts it
        assert_int_equal(gv >= 1, rho >= l);
      }
    }
  }
}


static void test_screwRoundTrip(void** state) {
  for (double lead = 0.5; lead < 89; lead += 3.3) {
    for (double mu = 1e-4; mu < 1; mu *= 2) {
      double gu, gv, l, m;
      assert_int_equal(mjg_screw(&gu, &gv, lead * kDegree, 0.3, mu), 0);
      assert_int_equal(mjgi_screwFromCoefficients(&l, &m, gu, gv, 0.3), 0);
      assertNear(l / (lead * kDegree), 1, 1e-12);
      assertNear(m / mu, 1, 1e-12);
    }
  }
}


static void test_screwRefusals(void** state) {
  double gu = 7, gv = 8;
  assert_int_equal(mjg_screw(&gu, &gv, 0, 0, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, 1.6, 0, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, 0.1, -0.1, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, 0.1, 1.6, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, 0.1, 0, -0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, NAN, 0, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(NULL, &gv, 0.1, 0, 0.1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_screw(&gu, &gv, 1e-200, 0, 1e200), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_screw(&gu, &gv, 1.57079632679489, 1.57079632679489, 1e300),
                   mjgERR_NOT_FINITE);
  assert_int_equal(mjgi_screwFromCoefficients(&gu, &gv, 0, 1, 0), mjgERR_ARGUMENT);
  assert_int_equal(mjgi_screwFromCoefficients(&gu, &gv, 1, -1, 0), mjgERR_ARGUMENT);
  assert_true(gu == 7 && gv == 8);
}


//---------------------------------- spur gears ----------------------------------------------------

static const mjgSpur kSpur = {0.02, 0.05, 20 * 3.14159265358979323846 / 180, 0.12, 0.004, 0.003, 0};


// Two gears turn about (-Ru, 0) and (Rv, 0) and touch at p on the line of action. N presses the
// flanks, friction opposes their sliding. Torque of the input gear, times the ratio, and torque that
// the output gear gets, both in the direction of motion.
static void balance(double* u, double* x, const mjgSpur* s, double xi, double N, double omega) {
  double c = cos(s->pressure_angle), a = sin(s->pressure_angle);
  double Ru = s->radius_in, Rv = s->radius_out;

  // the input gear turns counterclockwise for omega > 0, so its teeth move up at the pitch
  // point; contact moves along d, away from its center
  double d[2] = {a, c};
  double p[2] = {xi * d[0], xi * d[1]};
  double ru[2] = {p[0] + Ru, p[1]};
  double rv[2] = {p[0] - Rv, p[1]};

  // velocities of the two flanks; the output gear turns the other way
  double ou = omega, ov = -omega * Ru / Rv;
  double vu[2] = {-ou * ru[1], ou * ru[0]};
  double vv[2] = {-ov * rv[1], ov * rv[0]};
  double slide[2] = {vu[0] - vv[0], vu[1] - vv[1]};

  // they do not separate: no relative velocity along d
  assertNear(slide[0] * d[0] + slide[1] * d[1], 0, 1e-14);

  // force on the output gear: N along d and friction along the sliding of the input flank
  double speed = hypot(slide[0], slide[1]);
  double f = speed > 0 ? s->mu * fabs(N) / speed : 0;
  double F[2] = {N * d[0] + f * slide[0], N * d[1] + f * slide[1]};

  // torques: input, and output in its own direction
  double torque_u = ru[0] * F[1] - ru[1] * F[0];
  double torque_v = rv[0] * F[1] - rv[1] * F[0];
  *u = torque_u * Rv / Ru;
  *x = -torque_v;
}


static void test_spurForceBalance(void** state) {
  for (double xi = -0.006; xi <= 0.006; xi += 0.0005) {
    for (int signs = 0; signs < 4; signs++) {
      double N = signs & 1 ? 30 : -30;
      double omega = signs & 2 ? 2 : -2;
      double u, x, gu, gv;
      balance(&u, &x, &kSpur, xi, N, omega);
      mjgi_spurAt(&gu, &gv, &kSpur, xi, (xi > 0) - (xi < 0));

      // the law of the gear: t = |gu u + gv x| sgn(v)
      double t = fabs(gu * u + gv * x) * (omega > 0 ? 1 : -1);
      assertNear(u - x, t, 1e-12);
    }
  }
}


// (21) integrated with the midpoint rule on either side of the pitch point
static void test_spurMean(void** state) {
  int n = 2000;
  double sum_u = 0, sum_v = 0;
  for (int side = 0; side < 2; side++) {
    double length = side ? kSpur.recess : kSpur.approach;
    for (int i = 0; i < n; i++) {
      double xi = length * (i + 0.5) / n * (side ? 1 : -1);
      double gu, gv;
      mjgi_spurAt(&gu, &gv, &kSpur, xi, side ? 1 : -1);
      sum_u += gu * length / n;
      sum_v += gv * length / n;
    }
  }
  double path = kSpur.approach + kSpur.recess;
  double gu, gv;
  assert_int_equal(mjgi_spurMean(&gu, &gv, &kSpur), 0);
  assertNear(gu, sum_u / path, 1e-12);
  assertNear(gv, sum_v / path, 1e-12);
}


// with one pair in contact the mean over the angle is the mean over the path; the cycle repeats
static void test_spurMesh(void** state) {
  double cycle = (kSpur.approach + kSpur.recess) / (kSpur.radius_out * cos(kSpur.pressure_angle));
  int n = 70000;
  double sum_u = 0, sum_v = 0;
  for (int i = 0; i < n; i++) {
    double gu, gv, gu2, gv2;
    double angle = cycle * (i + 0.5) / n;
    assert_int_equal(mjgi_spurMesh(&gu, &gv, &kSpur, angle), 0);
    sum_u += gu / n;
    sum_v += gv / n;
    if (i % 1000 == 0) {
      assert_int_equal(mjgi_spurMesh(&gu2, &gv2, &kSpur, angle - 5 * cycle), 0);
      assertNear(gu2, gu, 1e-9);
      assertNear(gv2, gv, 1e-9);
    }
  }
  double gu, gv;
  mjgi_spurMean(&gu, &gv, &kSpur);
  assertNear(sum_u, gu, 1e-9);
  assertNear(sum_v, gv, 1e-9);

  // at angle 0 a pair is at the pitch point; a little later just past it
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &kSpur, 0), 0);
  assertNear(gu, 0, 0);
  double xi = 0.001, at_u, at_v;
  mjgi_spurMesh(&gu, &gv, &kSpur, xi / (kSpur.radius_out * cos(kSpur.pressure_angle)));
  mjgi_spurAt(&at_u, &at_v, &kSpur, xi, 1);
  assertNear(gu, at_u, 1e-12);
  assertNear(gv, at_v, 1e-12);
}


// two pairs in contact share the load
static void test_spurTwoPairs(void** state) {
  mjgSpur s = kSpur;
  s.pitch = 0.005;
  double xi = 0.0025;
  double gu, gv, u1, v1, u2, v2;
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &s, xi / (s.radius_out * cos(s.pressure_angle))), 0);
  mjgi_spurAt(&u1, &v1, &s, xi, 1);
  mjgi_spurAt(&u2, &v2, &s, xi - s.pitch, -1);
  assertNear(gu, (u1 + u2) / 2, 1e-12);
  assertNear(gv, (v1 + v2) / 2, 1e-12);
}


// contact ratio of full-depth gears from the textbook's formula with the center distance, and the
// largest module that does not interfere
static void test_spurPath(void** state) {
  mjgSpur s = {0.02, 0.04, 20 * kDegree, 0.08, 0, 0, 0};
  assert_int_equal(mjgi_spurPath(&s, 0.002, 0.002), 0);
  double rb1 = 0.02 * cos(20 * kDegree), rb2 = 0.04 * cos(20 * kDegree);
  double path =
      sqrt(0.022 * 0.022 - rb1 * rb1) + sqrt(0.042 * 0.042 - rb2 * rb2) - 0.06 * sin(20 * kDegree);
  assertNear(s.approach + s.recess, path, 1e-14);
  double base_pitch = 2 * 3.14159265358979323846 * rb1 / 20;
  assertNear(path / base_pitch, 1.64, 0.01);

  // 12 teeth against a large wheel undercut, 18 do not
  mjgSpur few = {0.012, 0.2, 20 * kDegree, 0.08, 1, 2, 3};
  assert_int_equal(mjgi_spurPath(&few, 0.002, 0.002), mjgERR_ARGUMENT);
  assert_true(few.approach == 1 && few.recess == 2 && few.pitch == 3);
  mjgSpur enough = {0.018, 0.2, 20 * kDegree, 0.08, 0, 0, 0};
  assert_int_equal(mjgi_spurPath(&enough, 0.002, 0.002), 0);
}


static void test_spurRefusals(void** state) {
  double gu, gv;
  mjgSpur s = kSpur;
  s.radius_in = -1;
  assert_int_equal(mjgi_spurMean(&gu, &gv, &s), mjgERR_ARGUMENT);
  s = kSpur;
  s.pressure_angle = 0;
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &s, 0.001), mjgERR_ARGUMENT);
  s = kSpur;
  s.approach = s.recess = 0;
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &s, 0), mjgERR_ARGUMENT);
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &kSpur, NAN), mjgERR_ARGUMENT);

  // and an overflow on the way, with nothing written
  s = kSpur;
  s.mu = 1e308;
  s.radius_in = s.radius_out = 1e-10;
  gu = gv = 7;
  assert_int_equal(mjgi_spurMean(&gu, &gv, &s), mjgERR_NOT_FINITE);
  assert_int_equal(mjgi_spurMesh(&gu, &gv, &s, 2e7), mjgERR_NOT_FINITE);
  s = (mjgSpur){1e200, 1e200, 0.35, 0.1, 1, 2, 3};
  assert_true(mjgi_spurPath(&s, 1e190, 1e190) < 0);
  assert_true(gu == 7 && gv == 7 && s.approach == 1 && s.recess == 2);
}


// more pairs of teeth than any gear has are refused, at once
static void test_spurManyPairs(void** state) {
  mjgSpur spur = {.radius_in = 0.02,
                  .radius_out = 0.04,
                  .pressure_angle = 0.35,
                  .mu = 0.1,
                  .approach = 0.005,
                  .recess = 0.005,
                  .pitch = 0.01 / 999};
  double u, v, mean_u, mean_v;
  assert_int_equal(mjgi_spurMean(&mean_u, &mean_v, &spur), mjgSOLVED);
  assert_int_equal(mjgi_spurMesh(&u, &v, &spur, 0.3), mjgSOLVED);
  assert_true(fabs(u - mean_u) < 1e-3 && fabs(v - mean_v) < 1e-3);
  const double small[] = {0.01 / 1001, 1e-14, 1e-300, 5e-324};
  for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
    spur.pitch = small[i];
    assert_int_equal(mjgi_spurMesh(&u, &v, &spur, 0.3), mjgERR_ARGUMENT);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_publishedWorm),    cmocka_unit_test(test_textbookScrew),
      cmocka_unit_test(test_screwRoundTrip),   cmocka_unit_test(test_screwRefusals),
      cmocka_unit_test(test_spurForceBalance), cmocka_unit_test(test_spurMean),
      cmocka_unit_test(test_spurManyPairs),    cmocka_unit_test(test_spurMesh),
      cmocka_unit_test(test_spurTwoPairs),     cmocka_unit_test(test_spurPath),
      cmocka_unit_test(test_spurRefusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Zones of elliptic cones along lines, against the zones that the engine's formulas give at many points of the line

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/zones.h"

enum {
  LINES = 3000,
  POINTS = 4000
};

static uint64_t seed = 3;

static double between(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * ((double)(seed >> 11) / 9007199254740992.0);
}


static mjContact randomContact(double* jar, double* djar) {
  static const int dims[] = {3, 4, 6};
  mjContact contact = {.dim = dims[(int)between(0, 3)], .mu = between(0.1, 2)};
  for (int j = 0; j < 6; j++) {
    contact.friction[mjMIN(j, 4)] = between(0.05, 2);
    jar[j] = between(-1, 1);
    djar[j] = between(-1, 1);
  }
  return contact;
}


// normal and tangential size at s
static void at(double* N, double* T, const mjContact* contact, const double* jar,
               const double* djar, double s) {
  *N = contact->mu * (jar[0] + s * djar[0]);
  *T = 0;
  for (int j = 1; j < contact->dim; j++) {
    *T = hypot(*T, contact->friction[j - 1] * (jar[j] + s * djar[j]));
  }
}


// tangent of the angle between a contact's (N, U) at two residuals, infinite beyond a right angle
static double turn(const mjContact* contact, const double* one, const double* other) {
  double x[6], y[6], dot = 0, cross2 = 0;
  for (int j = 0; j < contact->dim; j++) {
    double factor = j ? contact->friction[j - 1] : contact->mu;
    x[j] = factor * one[j];
    y[j] = factor * other[j];
    dot += x[j] * y[j];
    for (int i = 0; i < j; i++) {
      cross2 += (x[i] * y[j] - x[j] * y[i]) * (x[i] * y[j] - x[j] * y[i]);
    }
  }
  return dot > 0 ? sqrt(cross2) / dot : INFINITY;
}


static int zoneAt(const mjContact* contact, const double* jar, const double* djar, double s) {
  double N, T;
  at(&N, &T, contact, jar, djar, s);
  return N >= contact->mu * T       ? mjCNSTRSTATE_SATISFIED
         : contact->mu * N + T <= 0 ? mjCNSTRSTATE_QUADRATIC
                                    : mjCNSTRSTATE_CONE;
}


// the line is in the zone up to the nearest boundary, and behind it in the zone that is returned
static void test_boundaryDistance(void** state) {
  int crossed[5] = {0};
  for (int k = 0; k < LINES; k++) {
    double jar[6], djar[6];
    mjContact contact = randomContact(jar, djar);
    int zone = zoneAt(&contact, jar, djar, 0), sign = k % 2 ? 1 : -1, behind = -1;
    assert_int_equal(mjgp_zoneOf(&contact, jar, 0), zone);
    double length = INFINITY;
    for (int b = mjgpBOUNDARY_UPPER; b <= mjgpBOUNDARY_LOWER; b++) {
      if (!mjgp_hasBoundary(zone, b)) {
        continue;
      }
      double until = mjgp_boundaryDistance(&contact, zone, b, jar, djar, sign);
      behind = until < length ? mjgp_zoneBehind(zone, b, 0) : behind;
      length = fmin(length, until);
    }
    double to = fmin(length, 20);
    for (int i = 1; i < POINTS; i++) {
      assert_int_equal(zoneAt(&contact, jar, djar, sign * (to - 1e-9) * i / POINTS), zone);
    }
    if (length < 20) {
      assert_int_equal(zoneAt(&contact, jar, djar, sign * (length + 1e-9)), behind);
      crossed[zone]++;
    }
  }
  assert_true(crossed[mjCNSTRSTATE_SATISFIED] > 100 && crossed[mjCNSTRSTATE_QUADRATIC] > 100);
  assert_true(crossed[mjCNSTRSTATE_CONE] > 100);
}


// ends a segment when the direction has turned by an angle, and not before
static void test_turn(void** state) {
  int turned = 0;
  for (int k = 0; k < LINES; k++) {
    double jar[6], djar[6], tangent = between(0.05, 0.9);
    mjContact contact = randomContact(jar, djar);
    double length = mjgp_turnDistance(&contact, jar, djar, 1, tangent);
    for (int i = 1; i <= 20; i++) {
      double there[6], to = fmin(length, 50);
      for (int j = 0; j < 6; j++) {
        there[j] = jar[j] + to * i / 20 * djar[j];
      }
      double angle = turn(&contact, jar, there);
      assert_true(angle <= tangent * (1 + 1e-9));
      if (i == 20 && length < 50) {
        assert_true(fabs(angle - tangent) <= 1e-9);
        turned++;
      }
    }
  }
  assert_true(turned > 1000);
}


// a line through the apex, where all forces are 0, has its apex there up to the round-off of the line, and nowhere else
static void test_apex(void** state) {
  for (int run = 0; run < LINES; run++) {
    double jar[6], djar[6], off[6];
    mjContact contact = randomContact(jar, djar);
    for (int j = 0; j < 6; j++) {
      jar[j] = 1e-13 * djar[j];  // round-off beside a step along the line
      off[j] = 1e-6 * djar[j];
    }
    assert_true(mjgp_isApex(&contact, jar, djar));
    assert_false(mjgp_isApex(&contact, off, djar));
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boundaryDistance),
      cmocka_unit_test(test_turn),
      cmocka_unit_test(test_apex),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

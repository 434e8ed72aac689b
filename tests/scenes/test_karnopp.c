// Borello's algorithm: each of its decisions by hand. Scenes of the flap claim the same motion as the law's.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flap/karnopp.h"
#include "near.h"

// inertia 2, T_FR0 10, opposing friction 0.25 of the load, aiding 1.3 of it, static ratio 1.5
static const mjgKarnopp kJoint = {0.8, -0.3, 1.5, 10, 0, 2, INFINITY};
static const double kH = 1e-3;


// acceleration of one step from velocity v
static double acceleration(const mjgKarnopp* joint, double v, double motor, double load) {
  double q = 0, next = v;
  mjg_stepKarnopp(&q, &next, NULL, joint, motor, load, kH);
  return (next - v) / kH;
}


//---------------------------------- decisions -----------------------------------------------------

// With load 100 opposing friction is 10 + 25, aiding 10 + 130; at rest 1.5 times that: 52.5 and 210. Viscous friction adds to
// either. With eta_aid = 0.4 the load drives the joint back where 1.5 (10 + 0.6 load) is less than it.
static void test_decisions(void** state) {
  static const struct {
    double v, motor, load, viscous, aid, expected;
  } row[] = {
      {0, 152.5, 100, 0, -0.3, 0},
      {0, 153.5, 100, 0, -0.3, 0.5},
      {0, -110, 100, 0, -0.3, 0},
      {0, -111, 100, 0, -0.3, -0.5},
      {0, -152.5, -100, 0, -0.3, 0},
      {0, -153.5, -100, 0, -0.3, -0.5},
      {0, 111, -100, 0, -0.3, 0.5},
      {0, 0, 149, 0, 0.4, 0},
      {0, 0, 151, 0, 0.4, -(151 - 1.5 * (10 + 0.6 * 151)) / 2},
      {1, 50, 100, 0, -0.3, (50 - 100 - 35) / 2.0},
      {-1, 50, 100, 0, -0.3, (50 - 100 + 140) / 2.0},
      {1, 50, -100, 0, -0.3, (50 + 100 - 140) / 2.0},
      {-1, 50, -100, 0, -0.3, (50 + 100 + 35) / 2.0},
      {2, 500, 100, 3, -0.3, (500 - 100 - 6 - 35) / 2.0},
  };
  for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
    mjgKarnopp joint = kJoint;
    joint.viscous = row[i].viscous;
    joint.eta_aid = row[i].aid;
    double a = acceleration(&joint, row[i].v, row[i].motor, row[i].load);
    assertNear(a, row[i].expected, row[i].expected == 0 ? 0 : 1e-9);
  }

  // no load drives an irreversible joint
  for (double load = 1; load < 1e6; load *= 10) {
    assert_true(acceleration(&kJoint, 0, 0, load) == 0 && acceleration(&kJoint, 0, 0, -load) == 0);
  }
}


// a reversal takes two steps: to zero, then away
static void test_reversal(void** state) {
  double q = 0, v = 0.01, t;
  mjg_stepKarnopp(&q, &v, &t, &kJoint, -100, 0, kH);
  assert_true(v == 0 && t == 10);
  assertNear(q, 0.5 * 0.01 * kH, 1e-15);
  mjg_stepKarnopp(&q, &v, &t, &kJoint, -100, 0, kH);
  assertNear(v, -kH * (100 - 15) / 2, 1e-15);
  assert_true(t == -15);
}


static void test_ends(void** state) {
  mjgKarnopp joint = kJoint;
  joint.limit = 0.5;
  for (int s = -1; s <= 1; s += 2) {
    // runs into the end, stays there without velocity however hard it is pushed, and leaves at once
    double q = s * 0.4999, v = s * 10;
    mjg_stepKarnopp(&q, &v, NULL, &joint, s * 100, 0, kH);
    assert_true(q == s * 0.5 && v == 0);
    for (int i = 0; i < 100; i++) {
      mjg_stepKarnopp(&q, &v, NULL, &joint, s * 1000, 0, kH);
      assert_true(q == s * 0.5 && v == 0);
    }
    mjg_stepKarnopp(&q, &v, NULL, &joint, -s * 100, 0, kH);
    assertNear(v, -s * kH * (100 - 15) / 2, 1e-15);
    assert_true(s * q < 0.5);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decisions),
      cmocka_unit_test(test_reversal),
      cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Borello's algorithm: each of its decisions by hand, and the same motion as the law where both
// apply

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flap/karnopp.h"
#include "mjgear_catalogue.h"
#include "near.h"

// inertia 2, T_FR0 10, opposing friction 0.25 of the load, aiding 1.3 of it, static ratio 1.5
static const mjgKarnopp kJoint = {0.8, -0.3, 1.5, 10, 0, 2, INFINITY};
static const double kH = 1e-3;


// acceleration of one step from velocity v
static double acceleration(const mjgKarnopp* joint, double v, double motor, double load) {
  double q = 0, next = v;
  assert_int_equal(mjg_stepKarnopp(&q, &next, NULL, joint, motor, load, kH), 0);
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
  assert_int_equal(mjg_stepKarnopp(&q, &v, &t, &kJoint, -100, 0, kH), 0);
  assert_true(v == 0 && t == 10);
  assertNear(q, 0.5 * 0.01 * kH, 1e-15);
  assert_int_equal(mjg_stepKarnopp(&q, &v, &t, &kJoint, -100, 0, kH), 0);
  assertNear(v, -kH * (100 - 15) / 2, 1e-15);
  assert_true(t == -15);
}


static void test_ends(void** state) {
  mjgKarnopp joint = kJoint;
  joint.limit = 0.5;
  for (int s = -1; s <= 1; s += 2) {
    // runs into the end, stays there without velocity however hard it is pushed, and leaves at once
    double q = s * 0.4999, v = s * 10;
    assert_int_equal(mjg_stepKarnopp(&q, &v, NULL, &joint, s * 100, 0, kH), 0);
    assert_true(q == s * 0.5 && v == 0);
    for (int i = 0; i < 100; i++) {
      assert_int_equal(mjg_stepKarnopp(&q, &v, NULL, &joint, s * 1000, 0, kH), 0);
      assert_true(q == s * 0.5 && v == 0);
    }
    assert_int_equal(mjg_stepKarnopp(&q, &v, NULL, &joint, -s * 100, 0, kH), 0);
    assertNear(v, -s * kH * (100 - 15) / 2, 1e-15);
    assert_true(s * q < 0.5);
  }
}


// bad parameters, numbers that are none and overflows on the way are refused, and nothing is changed
static void test_refusals(void** state) {
  static const struct {
    mjgKarnopp joint;
    double motor, load, h;
    int status;
  } row[] = {
      {{0, -0.3, 1.5, 10, 0, 2, INFINITY}, 0, 0, 1e-3, mjgERR_ARGUMENT},
      {{0.8, 1.1, 1.5, 10, 0, 2, INFINITY}, 0, 0, 1e-3, mjgERR_ARGUMENT},
      {{0.8, -0.3, 0.9, 10, 0, 2, INFINITY}, 0, 0, 1e-3, mjgERR_ARGUMENT},
      {{0.8, -0.3, 1.5, 10, 0, 0, INFINITY}, 0, 0, 1e-3, mjgERR_ARGUMENT},
      {{0.8, -0.3, 1.5, 10, 0, 2, INFINITY}, 0, 0, 0, mjgERR_ARGUMENT},
      {{0.8, -0.3, 1.5, 10, 0, 2, INFINITY}, NAN, 0, 1e-3, mjgERR_NOT_FINITE},
      {{0.8, -0.3, 1.5, 10, 0, 2, INFINITY}, 0, INFINITY, 1e-3, mjgERR_NOT_FINITE},
      {{0.8, -0.3, 1.5, 10, 0, 2, INFINITY}, 1.7e308, -1.7e308, 1e-3, mjgERR_NOT_FINITE},
      {{0.8, -0.3, 1.5, 10, 0, 2, INFINITY}, 1e300, 0, 1e100, mjgERR_NOT_FINITE},
      {{0.8, -0.3, 1e300, 1e300, 0, 2, INFINITY}, 1e308, -1e308, 1e-3, mjgERR_NOT_FINITE},
  };
  double q = 1, v = 2, t = 7;
  for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
    double rest = 0;
    double* velocity = row[i].joint.fsd > 1e200 ? &rest : &v;
    assert_int_equal(
        mjg_stepKarnopp(&q, velocity, &t, &row[i].joint, row[i].motor, row[i].load, row[i].h),
        row[i].status);
    assert_true(q == 1 && v == 2 && rest == 0 && t == 7);
  }
  assert_int_equal(mjg_stepKarnopp(NULL, &v, NULL, &kJoint, 0, 0, kH), mjgERR_ARGUMENT);
}


//---------------------------------- agreement with the law ----------------------------------------

// motor and load torque of a run that starts, slides against and with the load, sticks and reverses
static void torques(double* motor, double* load, double time) {
  *motor = 150 * sin(2 * time) + 60 * sin(7.3 * time);
  *load = 80 * cos(1.7 * time);
}


// one step of the law: rotor m, output M
static double stepLaw(double v, double motor, double load, double m, double M,
                      const mjgTransmission* t, double h, mjgWorkspace* work) {
  double A = h / (m + M);
  double free = v + A * (motor - load);
  double sum = t->gamma_u + t->gamma_v;
  double phi = sum * (motor - m * (motor - load) / (m + M));
  double alpha = sum * m / h;
  double friction, next, lambda;
  int mode;
  mjgProblem problem = {.n = 1,
                        .v = &free,
                        .A = &A,
                        .phi = &phi,
                        .alpha = &alpha,
                        .beta = &t->gamma_v,
                        .coulomb = &t->coulomb,
                        .static_ratio = &t->static_ratio,
                        .v0 = &v};
  mjgSolution solution = {&friction, &next, &lambda, &mode};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgSOLVED);
  return next;
}


// largest difference of both velocities over 10 s; counts steps at rest and in either direction
static double largestDifference(const mjgKarnopp* joint, double m, double M, double h,
                                int counts[3]) {
  mjgTransmission t;
  mjg_defaultTransmission(&t);
  assert_int_equal(mjg_coefficients(&t.gamma_u, &t.gamma_v, joint->eta_opp, joint->eta_aid), 0);
  t.coulomb = joint->friction;
  t.static_ratio = joint->fsd;

  size_t size = mjg_memsize(1, 1);
  void* memory = malloc(size);
  mjgWorkspace* work = mjg_create(memory, size, 1, 1);
  assert_non_null(work);
  double q = 0, v_table = 0, v_law = 0, difference = 0;
  for (int i = 0; i < (int)(10 / h); i++) {
    double motor, load;
    torques(&motor, &load, i * h);
    assert_int_equal(mjg_stepKarnopp(&q, &v_table, NULL, joint, motor, load, h), 0);
    v_law = stepLaw(v_law, motor, load, m, M, &t, h, work);
    difference = fmax(difference, fabs(v_law - v_table));
    counts[1 + (v_law > 0) - (v_law < 0)]++;
  }
  free(memory);
  return difference;
}


// largest error of waiting at zero: the timestep times the largest acceleration
static const double kLargest = (150 + 60 + 80) / 2.0;


// All inertia on the motor side: the same motion, apart from the step in which Table 1 waits at zero. The difference is of
// first order in the timestep. With T_FR0 or FSD gamma_u must be 0; without, any pair of efficiencies has it.
static void test_sameMotion(void** state) {
  static const double row[][4] = {{1 / 1.5, 0.5, 1.3, 5},  {1 / 1.9, 0.1, 1.3, 5},
                                  {1 / 2.2, -0.2, 1.3, 5}, {1 / 2.4, -0.4, 1.3, 5},
                                  {0.9, 0.3, 1, 0},        {0.6, -0.2, 1, 0},
                                  {0.5, 0.45, 1, 0},       {0.8, -0.4, 1, 0}};
  for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
    mjgKarnopp joint = {row[i][0], row[i][1], row[i][2], row[i][3], 0, 2, INFINITY};
    int counts[3] = {0};
    double coarse = largestDifference(&joint, 2, 0, 1e-3, counts);
    double fine = largestDifference(&joint, 2, 0, 1e-4, counts);
    assert_true(joint.friction == 0 || (counts[0] > 1000 && counts[1] > 1000 && counts[2] > 1000));
    if (!(coarse < 1e-3 * kLargest && fine < 1e-4 * kLargest)) {
      fail_msg("eta %g %g: %g, %g", row[i][0], row[i][1], coarse, fine);
    }
  }
}


// With inertia on the output side the gear must also carry M a: (38) against Table 1, in closed form
static void test_differenceByInertia(void** state) {
  mjgKarnopp joint = {0.6, -0.2, 1, 0, 0, 2, INFINITY};
  double motor = 300, load = 50, h = 1e-3, next;
  double gu, gv;
  mjg_coefficients(&gu, &gv, 0.6, -0.2);
  double table = acceleration(&joint, 1, motor, load);
  assertNear(table, (motor - load / 0.6) / 2, 1e-9);
  assert_int_equal(mjg_stepScalar(&next, NULL, 1, motor, load, gu, gv, 2, 0, h), 0);
  assertNear((next - 1) / h, table, 1e-9);
  assert_int_equal(mjg_stepScalar(&next, NULL, 1, motor, load, gu, gv, 0, 2, h), 0);
  assertNear((next - 1) / h, (0.6 * motor - load) / 2, 1e-9);

  // without acceleration both agree, for any inertias
  double steady = load / 0.6;
  assert_int_equal(mjg_stepScalar(&next, NULL, 1, steady, load, gu, gv, 0, 2, h), 0);
  assertNear(next, 1, 1e-12);
  assertNear(acceleration(&joint, 1, steady, load), 0, 1e-10);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decisions),  cmocka_unit_test(test_reversal),
      cmocka_unit_test(test_ends),       cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_sameMotion), cmocka_unit_test(test_differenceByInertia),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

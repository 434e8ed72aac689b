// One joint: closed forms of the paper, each evaluated here in another way than in the core.

#include <math.h>

#include "fixture.h"


static void efficienciesAndBack(void** state) {
  // gamma_u = 0.2, gamma_v = 0.5: eta_f = 0.8/1.5, eta_b = 0.5/1.2
  double eta_f, eta_b, gamma_u, gamma_v;
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, 0.2, 0.5), mjgSOLVED);
  assert_near(eta_f, 8.0 / 15, 1e-15);
  assert_near(eta_b, 5.0 / 12, 1e-15);

  // (27) by its definition: torque balance of a gear that is just driven each way. Driven forward u = 1
  // gives x = eta_f and friction 1 - eta_f = gamma_u u + gamma_v x; backward x = 1 takes u = eta_b
  uint64_t seed = 1;
  for (int k = 0; k < 1000; k++) {
    eta_f = oracle_uniform(&seed, 0.01, 1);
    eta_b = oracle_uniform(&seed, -2, 0.99);
    assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, eta_f, eta_b), mjgSOLVED);
    double size = 1 + fabs(gamma_u) + fabs(gamma_v);
    assert_near(gamma_u + gamma_v * eta_f, 1 - eta_f, 1e-13 * size);
    assert_near(gamma_u * eta_b + gamma_v, 1 - eta_b, 1e-13 * size);
    double again_f, again_b;
    assert_int_equal(mjg_efficiencies(&again_f, &again_b, gamma_u, gamma_v), mjgSOLVED);
    assert_near(again_f, eta_f, 1e-12);
    assert_near(again_b, eta_b, 1e-11);
  }

  // nearly frictionless: gamma are differences of numbers near 1. In exact arithmetic with
  // eta_f = eta_b = 1 - e: gamma = e/(2 - e)
  double e = 0x1p-30;
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, 1 - e, 1 - e), mjgSOLVED);
  assert_near(gamma_u / (e / (2 - e)), 1, 1e-8);

  // a coefficient of 0 is 0, for all digits of the efficiencies: eta_f = 1/(1 + gamma_v), eta_b = 1
  // - gamma_v
  static const double free_motor[][2] = {{0.8, 0.75}, {0.625, 0.4}, {0.5, 0}, {0.4, -0.5}};
  for (size_t i = 0; i < sizeof(free_motor) / sizeof(*free_motor); i++) {
    assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, free_motor[i][0], free_motor[i][1]),
                     mjgSOLVED);
    assert_true(gamma_u == 0);
    assert_near(gamma_v, 1 - free_motor[i][1], 1e-15);
  }

  // no friction, and problems without a solution
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, 1, 1), mjgSOLVED);
  assert_true(gamma_u == 0 && gamma_v == 0);
  gamma_u = 7;
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, 2, 0.5), mjgERR_ARGUMENT);
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, NAN, 0.5), mjgERR_NOT_FINITE);
  assert_true(gamma_u == 7);
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, 0.5, -1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, -1, 0.5), mjgERR_ARGUMENT);

  // an overflow is not a success
  eta_f = eta_b = 7;
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, -1.7e308, -1 + 1e-15), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, -1 + 1e-15, -1.7e308), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, 1e200, 1e200), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, 1e308, -1e308), mjgERR_NOT_FINITE);
  assert_true(gamma_u == 7 && eta_f == 7 && eta_b == 7);
}


// (29) and (32) on numbers worked out by hand: m = 1, M = 3
static void rhoAndPhi(void** state) {
  assert_near(mjg_rho(0.2, 0.6, 1, 3), (0.2 - 1.8) / 4, 1e-15);
  // rho = -0.4: phi = 0.2 * 5 + 0.6 * 2 + 0.4 * 3
  assert_near(mjg_phi(5, 2, 0.2, 0.6, -0.4), 3.4, 1e-15);
}


// every element solves lambda - rho |lambda| = phi, and there are as many as sign changes say
static void lambdaOfEverySign(void** state) {
  uint64_t seed = 2;
  for (int k = 0; k < 20000; k++) {
    double phi = oracle_normal(&seed), rho = oracle_uniform(&seed, -3, 3);
    double lambda[2];
    int count = mjg_lambdaSet(lambda, phi, rho);
    int expected = fabs(rho) < 1 ? 1 : (phi * rho < 0 ? 2 : 0);
    assert_int_equal(count, expected);
    for (int i = 0; i < count; i++) {
      assert_near(lambda[i] - rho * fabs(lambda[i]), phi, 1e-12 * (1 + fabs(lambda[i]) * 3));
    }
    if (count == 2) {
      assert_true(lambda[0] < 0 && lambda[1] > 0);
    }

    // lambda_s keeps the sign of phi, follows rho from 0, and is one of the set where it is finite
    double stick = mjg_lambdaStick(phi, rho);
    if (isinf(stick)) {
      assert_true(phi * rho > 0 && fabs(rho) >= 1 && stick * phi > 0);
    } else {
      assert_true(stick * phi > 0);
      assert_near(stick - rho * fabs(stick), phi, 1e-12 * (1 + fabs(stick) * 3));
    }
  }

  // the lines of (31) at |rho| = 1 and phi = 0
  double lambda[2];
  assert_int_equal(mjg_lambdaSet(lambda, 0, 5), 1);
  assert_true(lambda[0] == 0);
  assert_int_equal(mjg_lambdaSet(lambda, 3, -1), 1);
  assert_true(lambda[0] == 1.5);
  assert_int_equal(mjg_lambdaSet(lambda, -3, 1), 1);
  assert_true(lambda[0] == -1.5);
  assert_int_equal(mjg_lambdaSet(lambda, 3, 1), 0);
  assert_int_equal(mjg_lambdaSet(lambda, -3, -1), 0);
  assert_true(mjg_lambdaStick(0, 2) == 0 && mjg_lambdaStick(0, -2) == 0);
  assert_true(mjg_lambdaStick(1, 1) == INFINITY && mjg_lambdaStick(-1, -1) == -INFINITY);
  assert_true(mjg_lambdaStick(1, -1) == 0.5 && mjg_lambdaStick(-1, 1) == -0.5);
}


// (78): Phi = (lambda(phi, rho s) - phi)/rho, and Lemma 2: it increases with s
static void PhiOfS(void** state) {
  uint64_t seed = 3;
  for (int k = 0; k < 5000; k++) {
    double phi = oracle_normal(&seed), rho = oracle_uniform(&seed, -0.99, 0.99), last = -INFINITY;
    for (int j = -4; j <= 4; j++) {
      double s = j / 4.0, Phi = mjg_PhiScalar(s, phi, rho), lambda[2];
      assert_int_equal(mjg_lambdaSet(lambda, phi, rho * s), 1);
      assert_near(rho * Phi, lambda[0] - phi, 1e-12 * (fabs(lambda[0]) + fabs(phi)));
      assert_true(Phi >= last && Phi * s >= 0);
      last = Phi;
    }
  }
}


// the step satisfies the two equations of motion (14) and the inclusion, and is exactly 0 if stuck
static void stepObeysTheLaw(void** state) {
  uint64_t seed = 4;
  int stuck = 0, forward = 0, backward = 0;
  for (int k = 0; k < 50000; k++) {
    double gamma_u = oracle_uniform(&seed, 0, 1), gamma_v = oracle_uniform(&seed, 0, 2);
    double m = k % 7 ? pow(10, oracle_uniform(&seed, -2, 2)) : 0;
    double M = pow(10, oracle_uniform(&seed, -2, 2)), h = 1e-3;
    double f_u = oracle_normal(&seed), f_v = oracle_normal(&seed);
    double v = k % 5 ? 3 * h / (m + M) * oracle_normal(&seed) : 0, next, t;
    assert_int_equal(mjg_stepScalar(&next, &t, v, f_u, f_v, gamma_u, gamma_v, m, M, h), mjgSOLVED);

    double acc = (next - v) / h;
    double lambda = gamma_u * f_u + gamma_v * f_v - (gamma_u * m - gamma_v * M) * acc;
    double size = fabs(f_u) + fabs(f_v) + (m + M) * fabs(v) / h + fabs(t);
    size *= 1 + gamma_u + gamma_v;
    assert_near((m + M) * acc, f_u - f_v - t, 1e-13 * size);
    if (next == 0) {
      stuck++;
      assert_true(fabs(t) <= fabs(lambda) + 1e-12 * size);
    } else {
      *(next > 0 ? &forward : &backward) += 1;
      assert_near(t, next > 0 ? fabs(lambda) : -fabs(lambda), 1e-12 * size);
    }
  }
  assert_true(stuck > 5000 && forward > 5000 && backward > 5000);
}


// With steps that become short the velocity of a gear that is driven forward approaches the exact
// solution of (38), (eta_f m + M) v' = eta_f f_u - f_v; likewise being driven.
static void continuousLimit(void** state) {
  double gamma_u = 0.2, gamma_v = 0.5, m = 1, M = 2;
  double eta_f = 0.8 / 1.5, eta_b = 0.5 / 1.2;
  const struct {
    double f_u, f_v, acc;
  } cases[] = {
      {10, 1, (eta_f * 10 - 1) / (eta_f * m + M)},
      {-10, -1, -(eta_f * 10 - 1) / (eta_f * m + M)},
      {1, 10, (1 / eta_b - 10) / (m / eta_b + M)},
  };
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
    double v = 0;
    for (int i = 0; i < 1000; i++) {
      mjg_stepScalar(&v, NULL, v, cases[k].f_u, cases[k].f_v, gamma_u, gamma_v, m, M, 1e-3);
    }
    assert_near(v, cases[k].acc, 1e-10);
  }
}


// A non-backdrivable gear without motor torque is not moved by any load; its velocity is exactly 0
static void nonBackdrivable(void** state) {
  for (double f_v = 1e-9; f_v < 1e12; f_v *= 10) {
    double v = 0;
    for (int i = 0; i < 100; i++) {
      mjg_stepScalar(&v, NULL, v, 0, f_v, 0.2, 1.05, 1, 1, 1e-3);
      assert_true(v == 0);
    }
    mjg_stepScalar(&v, NULL, v, 0, f_v, 0.2, 0.95, 1, 1, 1e-3);
    assert_true(v < 0);
  }

  // without a rotor to accelerate it stops at once from any speed, because rho = -gamma_v < -1 and
  // the load that it drives makes it jam
  double v, t;
  mjg_stepScalar(&v, &t, -100, 0, 1, 0.2, 1.05, 0, 1, 1e-3);
  assert_true(v == 0 && t < -90000);
}


static void refusals(void** state) {
  double v = 5, t = 6;
  assert_int_equal(mjg_stepScalar(NULL, &t, 0, 0, 0, 0, 0, 1, 1, 1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_stepScalar(&v, &t, 0, 0, 0, 0, 0, 1, 1, 0), mjgERR_ARGUMENT);
  assert_int_equal(mjg_stepScalar(&v, &t, 0, 0, 0, 0, 0, 0, 0, 1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_stepScalar(&v, &t, 0, 0, 0, 0, 0, -1, 2, 1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_stepScalar(&v, &t, NAN, 0, 0, 0, 0, 1, 1, 1), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_stepScalar(&v, &t, 0, INFINITY, 0, 0, 0, 1, 1, 1), mjgERR_NOT_FINITE);
  assert_true(v == 5 && t == 6);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(efficienciesAndBack), cmocka_unit_test(rhoAndPhi),
      cmocka_unit_test(lambdaOfEverySign),   cmocka_unit_test(PhiOfS),
      cmocka_unit_test(stepObeysTheLaw),     cmocka_unit_test(continuousLimit),
      cmocka_unit_test(nonBackdrivable),     cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// lambda(phi, P) and Phi(s, phi, P) of many joints.

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "mjgear_paper.h"


// P with a spectral norm below size
static void drawP(double* P, int n, double size, uint64_t* seed) {
  double square = 0;
  for (int i = 0; i < n * n; i++) {
    P[i] = oracle_normal(seed);
    square += P[i] * P[i];
  }
  for (int i = 0; i < n * n; i++) {
    P[i] *= size / sqrt(square);
  }
}


static void bothMethodsSolveIt(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 1;
  for (int k = 0; k < 3000; k++) {
    int n = 1 + k % 8;
    double P[64], phi[8], newton[8], fixed[8];
    drawP(P, n, 0.95, &seed);
    double unit = pow(10, oracle_uniform(&seed, -6, 6)), size = 0;
    for (int i = 0; i < n; i++) {
      phi[i] = unit * oracle_normal(&seed);
    }
    assert_int_equal(
        mjg_lambda(newton, &room.info, phi, P, n, mjgLAMBDA_NEWTON, 0, 1e-13, room.work),
        mjgSOLVED);
    assert_in_range(room.info.iterations, 1, 10);
    assert_int_equal(
        mjg_lambda(fixed, &room.info, phi, P, n, mjgLAMBDA_FIXED_POINT, 0, 1e-13, room.work),
        mjgSOLVED);
    for (int i = 0; i < n; i++) {
      size += fabs(newton[i]);
    }
    for (int i = 0; i < n; i++) {
      double sum = phi[i];
      for (int j = 0; j < n; j++) {
        sum += P[i * n + j] * fabs(newton[j]);
      }
      assert_near(newton[i], sum, 1e-12 * size);
      assert_near(newton[i], fixed[i], 1e-11 * size);
    }
  }
  closeRoom(&room);
}


// n = 1 is (31); without a solution both report it
static void oneJoint(void** state) {
  Room room;
  openRoom(&room);
  for (int k = -18; k <= 18; k++) {
    double rho = k / 10.0 + 0.05, phi = 2, lambda, set[2];
    int count = mjg_lambdaSet(set, phi, rho);
    for (int method = mjgLAMBDA_NEWTON; method <= mjgLAMBDA_FIXED_POINT; method++) {
      lambda = NAN;
      int status = mjg_lambda(&lambda, NULL, &phi, &rho, 1, method, 1000, 1e-12, room.work);
      if (count == 0) {
        assert_int_equal(status, mjgITERATION_LIMIT);
      } else if (count == 1) {
        assert_int_equal(status, mjgSOLVED);
        assert_near(lambda, set[0], 1e-8);
      } else if (status == mjgSOLVED) {
        assert_true(fabs(lambda - set[0]) < 1e-9 || fabs(lambda - set[1]) < 1e-9);
      }
    }
  }
  closeRoom(&room);
}


// (59) row by row: diagonal P decouples into (34); s = 0 has no friction
static void PhiOfDiagonal(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 2;
  for (int k = 0; k < 1000; k++) {
    double P[9] = {0}, s[3], phi[3], Phi[3];
    for (int i = 0; i < 3; i++) {
      P[4 * i] = oracle_uniform(&seed, -0.99, 0.99);
      s[i] = k % 4 == i ? 0 : oracle_uniform(&seed, -1, 1);
      phi[i] = oracle_normal(&seed);
    }
    assert_int_equal(mjg_Phi(Phi, s, phi, P, 3, room.work), mjgSOLVED);
    for (int i = 0; i < 3; i++) {
      assert_near(Phi[i], mjg_PhiScalar(s[i], phi[i], P[4 * i]), 1e-11);
    }
  }
  closeRoom(&room);
}


static void refusals(void** state) {
  Room room;
  openRoom(&room);
  double P[4] = {0.1, 0, 0, 0.1}, phi[2] = {1, 2}, s[2] = {1, 1}, out[2] = {5, 5};
  assert_int_equal(mjg_lambda(NULL, NULL, phi, P, 2, 0, 0, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_lambda(out, NULL, phi, P, 2, 7, 0, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_lambda(out, NULL, phi, P, -2, 0, 0, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_lambda(out, NULL, phi, P, 99, 0, 0, 1e-9, room.work), mjgERR_WORKSPACE);
  s[1] = 1.5;
  assert_int_equal(mjg_Phi(out, s, phi, P, 2, room.work), mjgERR_ARGUMENT);
  s[1] = NAN;
  assert_int_equal(mjg_Phi(out, s, phi, P, 2, room.work), mjgERR_NOT_FINITE);
  P[2] = NAN;
  assert_int_equal(mjg_lambda(out, NULL, phi, P, 2, 0, 0, 1e-9, room.work), mjgERR_NOT_FINITE);
  assert_true(out[0] == 5 && out[1] == 5);
  assert_int_equal(mjg_lambda(NULL, NULL, NULL, NULL, 0, 0, 0, 1e-9, room.work), mjgSOLVED);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bothMethodsSolveIt),
      cmocka_unit_test(oneJoint),
      cmocka_unit_test(PhiOfDiagonal),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

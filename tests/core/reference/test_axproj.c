// the paper's axproj in closed form

#include <math.h>

#include "fixture.h"
#include "mjgear_paper.h"


// (70): with diagonal A and P axproj clips each joint to its interval A_ii Phi([-1, 1], phi, P_ii)
static void axprojOfDiagonal(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 3;
  for (int k = 0; k < 3000; k++) {
    double A[16] = {0}, P[16] = {0}, v[4], phi[4], y[4];
    for (int i = 0; i < 4; i++) {
      A[5 * i] = oracle_uniform(&seed, 0.1, 2);
      P[5 * i] = oracle_uniform(&seed, -0.99, 0.99);
      v[i] = 2 * oracle_normal(&seed);
      phi[i] = oracle_normal(&seed);
    }
    int solver = k % mjgNSOLVER;
    room.settings.solver = solver;
    room.settings.tolerance = 1e-10;
    assert_int_equal(mjg_axproj(y, &room.info, v, A, phi, P, 4, &room.settings, room.work),
                     mjgSOLVED);
    for (int i = 0; i < 4; i++) {
      double low = A[5 * i] * mjg_PhiScalar(-1, phi[i], P[5 * i]);
      double high = A[5 * i] * mjg_PhiScalar(1, phi[i], P[5 * i]);
      assert_near(y[i], fmax(low, fmin(high, v[i])), 1e-7);
    }
  }
  closeRoom(&room);
}


static void refusals(void** state) {
  Room room;
  openRoom(&room);
  double A[4] = {1, 2, 2, 1}, zero[4] = {0}, y[2] = {7, 7};
  assert_int_equal(mjg_axproj(y, NULL, zero, A, zero, zero, 2, &room.settings, room.work),
                   mjgERR_NOT_PD);
  assert_int_equal(mjg_axproj(y, NULL, zero, A, zero, zero, 2, NULL, room.work), mjgERR_NOT_PD);
  A[1] = A[2] = 0.5;
  assert_int_equal(mjg_axproj(y, NULL, zero, A, zero, zero, 2, NULL, room.work), mjgERR_ARGUMENT);
  assert_true(y[0] == 7 && y[1] == 7);
  assert_int_equal(mjg_axproj(y, NULL, zero, A, zero, zero, 2, &room.settings, room.work), 0);
  assert_true(y[0] == 0 && y[1] == 0);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(axprojOfDiagonal),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Algorithm (69) as one call, and axproj: against (44), (70) and the equations of motion (48).

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "mjgear_paper.h"


// random robot of n joints; inertia M(q) + [m]
typedef struct Robot_ {
  double Mhat[36], gamma_u[6], gamma_v[6], inertia[6], tau_u[6], tau_v[6], v[6];
  mjgJoints joints;
} Robot;


static void drawRobot(Robot* robot, int n, int diagonal, double gamma, uint64_t* seed) {
  double G[6][6];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      G[i][j] = diagonal && i != j ? 0 : oracle_normal(seed) + 2 * (i == j);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += G[i][k] * G[j][k];
      }
      robot->Mhat[i * n + j] = sum + (i == j ? 0.1 : 0);
    }
    robot->inertia[i] = i % 3 == 2 ? 0 : oracle_uniform(seed, 0, 2);
    robot->Mhat[i * n + i] += robot->inertia[i];
    robot->gamma_u[i] = oracle_uniform(seed, 0, 0.9);
    robot->gamma_v[i] = oracle_uniform(seed, 0, gamma);
    robot->tau_u[i] = oracle_normal(seed);
    robot->tau_v[i] = oracle_normal(seed);
    robot->v[i] = oracle_uniform(seed, 0, 1) < 0.3 ? 0 : 1e-3 * oracle_normal(seed);
  }
  robot->joints = (mjgJoints){robot->gamma_u, robot->gamma_v, robot->inertia};
}


// uncoupled joints each make the step (44)
static void diagonalIsScalar(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 1;
  Robot r;
  for (int k = 0; k < 3000; k++) {
    int n = 1 + k % 6;
    double v[6];
    drawRobot(&r, n, 1, 2, &seed);
    assert_in_range(mjg_step(v, &room.solution, NULL, r.Mhat, r.tau_u, r.tau_v, r.v, &r.joints,
                             1e-3, n, &room.settings, room.work),
                    mjgSOLVED, mjgJAMMED);
    for (int i = 0; i < n; i++) {
      double expected, t;
      mjg_stepScalar(&expected, &t, r.v[i], r.tau_u[i], r.tau_v[i], r.gamma_u[i], r.gamma_v[i],
                     r.inertia[i], r.Mhat[i * n + i] - r.inertia[i], 1e-3);
      assert_near(v[i], expected, 1e-14);
      assert_int_equal(v[i] == 0, expected == 0);
      assert_true(v[i] == room.v[i]);
    }
  }
  closeRoom(&room);
}


// coupled joints satisfy (48): [m] + M times acceleration is torque minus friction, the friction is
// the load's in its direction, and the load is (48b)
static void equationsOfMotion(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 2;
  Robot r;
  for (int k = 0; k < 5000; k++) {
    int n = 2 + k % 5;
    double v[6], h = 1e-3;
    drawRobot(&r, n, 0, k % 2 ? 0.9 : 2.5, &seed);
    assert_in_range(mjg_step(v, NULL, NULL, r.Mhat, r.tau_u, r.tau_v, r.v, &r.joints, h, n,
                             &room.settings, room.work),
                    mjgSOLVED, mjgJAMMED);
    for (int i = 0; i < n; i++) {
      double force = 0, size = fabs(r.tau_u[i]) + fabs(r.tau_v[i]);
      for (int j = 0; j < n; j++) {
        double term = r.Mhat[i * n + j] * (v[j] - r.v[j]) / h;
        force += term;
        size += fabs(term);
      }
      double t = r.tau_u[i] - r.tau_v[i] - force;
      double rotor = r.inertia[i] * (v[i] - r.v[i]) / h;
      double lambda =
          r.gamma_u[i] * (r.tau_u[i] - rotor) + r.gamma_v[i] * (r.tau_v[i] + force - rotor);
      if (v[i] == 0) {
        assert_true(fabs(t) <= fabs(lambda) + 1e-10 * size);
      } else {
        assert_near(t, v[i] > 0 ? fabs(lambda) : -fabs(lambda), 1e-10 * size);
      }
    }
  }
  closeRoom(&room);
}


// P of (52): ([gamma_u][m] - [gamma_v] M) M-hat^-1, multiplied by M-hat again
static void matrixP(void** state) {
  double M[4] = {2, 0.5, 0.5, 1}, inertia[2] = {0.5, 1.5}, gamma_u[2] = {0.2, 0.3},
         gamma_v[2] = {0.4, 1.1}, P[4];
  double Mhat[4] = {2.5, 0.5, 0.5, 2.5};
  double det = Mhat[0] * Mhat[3] - Mhat[1] * Mhat[2];
  double W[4] = {Mhat[3] / det, -Mhat[1] / det, -Mhat[2] / det, Mhat[0] / det};
  mjgJoints joints = {gamma_u, gamma_v, inertia};
  mjg_P(P, W, &joints, 2);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      double product = P[2 * i] * Mhat[j] + P[2 * i + 1] * Mhat[2 + j];
      double expected = (i == j ? gamma_u[i] * inertia[i] : 0) - gamma_v[i] * M[2 * i + j];
      assert_near(product, expected, 1e-14);
    }
  }
}


static void refusals(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 4;
  Robot good, r;
  drawRobot(&good, 2, 0, 1, &seed);
  r = good;
  r.joints = (mjgJoints){r.gamma_u, r.gamma_v, r.inertia};
  double v[2] = {7, 7};

#define STEP(h, n) \
  mjg_step(v, NULL, NULL, r.Mhat, r.tau_u, r.tau_v, r.v, &r.joints, h, n, &room.settings, room.work)

  assert_int_equal(STEP(0, 2), mjgERR_ARGUMENT);
  assert_int_equal(STEP(NAN, 2), mjgERR_NOT_FINITE);
  assert_int_equal(STEP(1e-3, -1), mjgERR_ARGUMENT);
  assert_int_equal(STEP(1e-3, 13), mjgERR_WORKSPACE);
  r.Mhat[1] += 1;
  assert_int_equal(STEP(1e-3, 2), mjgERR_NOT_PD);
  r.Mhat[1] = r.Mhat[2] = 100;
  assert_int_equal(STEP(1e-3, 2), mjgERR_NOT_PD);
  memcpy(r.Mhat, good.Mhat, sizeof(r.Mhat));
  r.inertia[1] = -1;
  assert_int_equal(STEP(1e-3, 2), mjgERR_ARGUMENT);
  r.inertia[1] = 1;
  r.tau_u[1] = NAN;
  assert_int_equal(STEP(1e-3, 2), mjgERR_NOT_FINITE);
  r.tau_u[1] = 0;
  room.settings.solver = -1;
  assert_int_equal(STEP(1e-3, 2), mjgERR_ARGUMENT);
  assert_true(v[0] == 7 && v[1] == 7);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(diagonalIsScalar),
      cmocka_unit_test(equationsOfMotion),
      cmocka_unit_test(matrixP),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

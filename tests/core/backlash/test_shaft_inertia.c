// A shaft with inertia in its gap: the closed forms of Akoto and Spangenberg's appendix, (17), (19), (21), with
// the running time t where the print has t0, against the core's law and its step.

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backlash/backlash.h"
#include "draw.h"

#define DRAWN 60

static mjgBacklash drawShaft(double half_gap) {
  return (mjgBacklash){.model = mjgJCK,
                       .half_gap = half_gap,
                       .stiffness = draw(1, 100),
                       .damping = draw(0.5, 20),
                       .shaft_inertia = draw(0.1, 5)};
}


// x(t) of j x'' + c x' + k x = 0 from x, x' at 0: A exp(lambda_1 t) + B exp(lambda_2 t)
static double homogeneous(double* rate, const mjgBacklash* law, double x, double v, double t) {
  double j = law->shaft_inertia, c = law->damping, k = law->stiffness;
  double complex root = csqrt(c * c - 4 * j * k);
  double complex l1 = (-c + root) / (2 * j), l2 = (-c - root) / (2 * j);
  double complex B = (l1 * x - v) / (l1 - l2), A = x - B;
  *rate = creal(l1 * A * cexp(l1 * t) + l2 * B * cexp(l2 * t));
  return creal(A * cexp(l1 * t) + B * cexp(l2 * t));
}


// theta_d over time, its rate and its acceleration
typedef void (*Motion)(double theta[3], const double p[4], const mjgBacklash* law, double t);

static void smooth(double theta[3], const double p[4], const mjgBacklash* law, double t) {
  (void)law;
  theta[0] = p[0] * t + p[1] * sin(p[2] * t);
  theta[1] = p[0] + p[1] * p[2] * cos(p[2] * t);
  theta[2] = -p[1] * p[2] * p[2] * sin(p[2] * t);
}


// along the border of a contact area, j theta'' + c theta' + k theta = side k alpha
static void border(double theta[3], const double p[4], const mjgBacklash* law, double t) {
  theta[0] = p[3] * law->half_gap + homogeneous(&theta[1], law, p[0], p[1], t);
  theta[2] = (p[3] * law->stiffness * law->half_gap - law->damping * theta[1] -
              law->stiffness * theta[0]) /
             law->shaft_inertia;
}


// theta_b by fine Runge-Kutta steps on the core's acceleration, (22)
static void integrate(double b[2], const mjgBacklash* law, Motion motion, const double p[4],
                      double end) {
  const double dt = 1e-4;
  for (int i = 0; i < (int)lround(end / dt); i++) {
    double k[4][2];
    const double at[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
      double theta[3], place = b[0] + (s ? at[s] * dt * k[s - 1][0] : 0);
      double rate = b[1] + (s ? at[s] * dt * k[s - 1][1] : 0);
      motion(theta, p, law, (i + at[s]) * dt);
      k[s][0] = rate;
      k[s][1] = mjgi_gapAcceleration(NULL, law, theta[0], theta[1], theta[2], place, rate);
    }
    for (int n = 0; n < 2; n++) {
      b[n] += dt / 6 * (k[0][n] + 2 * k[1][n] + 2 * k[2][n] + k[3][n]);
    }
  }
}


// (21): in the gap theta_d - theta_b dies away as a free shaft does, whatever theta_d does
static void freeInTheGap(void** state) {
  (void)state;
  for (int i = 0; i < DRAWN; i++) {
    mjgBacklash law = drawShaft(1e3);
    const double p[4] = {draw(-1, 1), draw(-1, 1), draw(0.5, 5), 0};
    double b[2] = {draw(-1, 1), draw(-1, 1)}, end = 1, theta[3], rate;
    smooth(theta, p, &law, 0);
    double x = theta[0] - b[0], v = theta[1] - b[1];
    integrate(b, &law, smooth, p, end);
    smooth(theta, p, &law, end);
    double expected = theta[0] - homogeneous(&rate, &law, x, v, end);
    assert_true(fabs(b[0] - expected) < 1e-9 && fabs(b[1] - theta[1] + rate) < 1e-8);
  }
}


// (17), (19): along the border of a contact area theta_b goes to the stop as a free shaft does, and stays
// there if it is there; the torque is 0
static void alongTheBorder(void** state) {
  (void)state;
  for (int i = 0; i < DRAWN; i++) {
    double side = i % 2 ? 1 : -1;
    mjgBacklash law = drawShaft(draw(0.5, 2));
    const double p[4] = {draw(-0.05, 0.05), draw(-0.1, 0.1), 0, side};

    // at the stop
    double theta[3], T;
    border(theta, p, &law, draw(0, 1));
    double a = mjgi_gapAcceleration(&T, &law, theta[0], theta[1], theta[2], side * law.half_gap, 0);
    assert_true(fabs(a) < 1e-9 && fabs(T) < 1e-9);

    // inside; the constants of the print with t
    double b[2] = {side * law.half_gap * draw(0.3, 0.6), 0}, end = 0.1, rate;
    double x = b[0] - side * law.half_gap, v = b[1];
    integrate(b, &law, border, p, end);
    double expected = side * law.half_gap + homogeneous(&rate, &law, x, v, end);
    if (fabs(expected) < law.half_gap) {
      assert_true(fabs(b[0] - expected) < 1e-9 && fabs(b[1] - rate) < 1e-8);
    }
  }
}


// the coupling's step goes to (21) with the timestep
static void stepConverges(void** state) {
  (void)state;
  double error[2] = {0};
  for (int i = 0; i < DRAWN; i++) {
    mjgBacklash law = drawShaft(1e3);
    double omega = draw(-1, 1), x = draw(-0.5, 0.5), v = draw(-1, 1), end = 0.5, rate;
    double expected = omega * end - homogeneous(&rate, &law, x, v, end);
    for (int half = 0; half < 2; half++) {
      double h = half ? 5e-4 : 1e-3, theta_d = 0, b = -x, omega_s = v;
      for (int k = 0; k < (int)lround(end / h); k++) {
        const mjgCoupling coupling = {.law = &law,
                                      .h = h,
                                      .blend = 0.1,
                                      .theta_d = theta_d,
                                      .omega_d = omega,
                                      .theta_b = b,
                                      .omega_s = omega_s};
        mjgCouplingStep step;
        mjg_couplingResolve(&step, &coupling, omega, 0);
        assert_true(step.T == 0);
        b = step.theta_b;
        omega_s = step.omega_s;
        theta_d += h * omega;
      }
      error[half] += fabs(b - expected) / DRAWN;
    }
  }
  assert_true(error[0] < 0.01 && error[1] < 0.6 * error[0]);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(freeInTheGap),
      cmocka_unit_test(alongTheBorder),
      cmocka_unit_test(stepConverges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

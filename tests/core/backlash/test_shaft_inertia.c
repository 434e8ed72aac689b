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


// theta_b after steps of the coupling up to end, for a given motion of theta_d: A = 0
static double stepTo(const mjgBacklash* law, Motion motion, const double p[4], double b,
                     double rate, double end, double h) {
  double now[3], next[3];
  motion(now, p, law, 0);
  double omega_s = now[1] - rate, omega_d = now[1];
  for (int k = 0; k < (int)lround(end / h); k++) {
    motion(next, p, law, (k + 1) * h);
    const mjgCoupling coupling = {.law = law,
                                  .h = h,
                                  .blend = 0.1,
                                  .theta_d = now[0],
                                  .omega_d = omega_d,
                                  .theta_b = b,
                                  .omega_s = omega_s};
    mjgCouplingStep step;
    omega_d = (next[0] - now[0]) / h;
    mjg_couplingResolve(&step, &coupling, omega_d, 0);
    b = step.theta_b;
    omega_s = step.omega_s;
    now[0] = next[0];
  }
  return b;
}


// (21): in the gap theta_d - theta_b dies away as a free shaft does, for any theta_d; the step
// converges to it with the timestep
static void freeInTheGap(void** state) {
  double error[2] = {0};
  for (int i = 0; i < DRAWN; i++) {
    mjgBacklash law = drawShaft(1e3);
    const double p[4] = {draw(-1, 1), draw(-1, 1), draw(0.5, 5), 0};
    double b = draw(-1, 1), b_rate = draw(-1, 1), end = 0.5, theta[3], rate;
    smooth(theta, p, &law, 0);
    double twist = homogeneous(&rate, &law, theta[0] - b, theta[1] - b_rate, end);
    smooth(theta, p, &law, end);
    for (int half = 0; half < 2; half++) {
      double found = stepTo(&law, smooth, p, b, b_rate, end, half ? 5e-4 : 1e-3);
      error[half] += fabs(found - (theta[0] - twist)) / DRAWN;
    }
  }
  assert_true(error[0] < 0.01 && error[1] < 0.6 * error[0]);
}


// (17), (19): along the border of a contact area theta_b goes to the stop as a free shaft does
static void alongTheBorder(void** state) {
  double error[2] = {0};
  for (int i = 0; i < DRAWN; i++) {
    double side = i % 2 ? 1 : -1;
    mjgBacklash law = drawShaft(draw(0.5, 2));
    const double p[4] = {draw(-0.05, 0.05), draw(-0.1, 0.1), 0, side};
    double b = side * law.half_gap * draw(0.3, 0.6), end = 0.1, rate;
    double expected =
        side * law.half_gap + homogeneous(&rate, &law, b - side * law.half_gap, 0, end);
    for (int half = 0; half < 2; half++) {
      double found = stepTo(&law, border, p, b, 0, end, half ? 5e-4 : 1e-3);
      error[half] += fabs(expected) < law.half_gap ? fabs(found - expected) / DRAWN : 0;
    }
  }
  assert_true(error[0] < 0.01 && error[1] < 0.6 * error[0]);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(freeInTheGap),
      cmocka_unit_test(alongTheBorder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

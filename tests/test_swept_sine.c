// The 49 swept sines of Nordin, Galic', Gutman 1997, section 4: the two-mass drive with a flexible coupling,
// (42), for seven preloads and seven amplitudes of the disturbance. The paper prints neither sweeps
// nor results. The engine is compared with a separate integration that shares no code with the
// core.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <mujoco/mujoco.h>

#include "plugin_models.h"
#include "reference_backlash.h"

#define PI     3.14159265358979323846
#define MOTOR  0.4
#define LOAD   5.6
#define BASE   380.0
#define LOW    3.0  // Hz
#define HIGH   15.0
#define LENGTH 4.0  // s
#define BANDS  8
#define SIDE   7

static const mjgBacklash law = {.model = mjgRUBBER,
                                .half_gap = 0.05,
                                .stiffness = 5895,
                                .damping = 3,
                                .rubber = 0.05,
                                .exponent = 1};


static double disturbance(double amplitude, double t) {
  return amplitude * BASE * sin(2 * PI * (LOW * t + 0.5 * (HIGH - LOW) / LENGTH * t * t));
}


// mean square of the motor's speed beyond the load's, in frequency bands
static void reference(double band[BANDS], double preload, double amplitude) {
  const double dt = 8e-4;
  double y[4] = {0};
  int n = (int)lround(LENGTH / dt);
  for (int i = 0; i < n; i++) {
    double k[4][4];
    const double at[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
      double z[4];
      for (int m = 0; m < 4; m++) {
        z[m] = y[m] + (s ? at[s] * dt * k[s - 1][m] : 0);
      }
      double T = ref_torque(&law, z[0] - z[2], z[1] - z[3]);
      k[s][0] = z[1];
      k[s][1] = (disturbance(amplitude, (i + at[s]) * dt) - preload * BASE - T) / MOTOR;
      k[s][2] = z[3];
      k[s][3] = (preload * BASE + T) / LOAD;
    }
    for (int m = 0; m < 4; m++) {
      y[m] += dt / 6 * (k[0][m] + 2 * k[1][m] + 2 * k[2][m] + k[3][m]);
    }
    band[i * BANDS / n] += (y[1] - y[3]) * (y[1] - y[3]) * BANDS / n;
  }
}


static void engine(double band[BANDS], double preload, double amplitude) {
  const double h = 5e-4;
  mjModel* m = makeModel(
      "<mujoco><option timestep='%g' gravity='0 0 0'/><extension><plugin "
      "plugin='mjgear.transmission'>"
      "<instance name='g'><config key='joint' value='j'/><config key='motor_joint' "
      "value='r'/><config "
      "key='backlash' value='rubber'/><config key='half_gap' value='0.05'/><config key='stiffness' "
      "value='5895'/><config key='damping' value='3'/><config key='rubber' "
      "value='0.05'/></instance></plugin>"
      "</extension><worldbody><body><joint name='r' axis='0 0 1'/><inertial pos='0 0 0' mass='1' "
      "diaginertia='%g %g %g'/></body><body><joint name='j' axis='0 0 1'/><inertial pos='0 0 0' "
      "mass='1' "
      "diaginertia='%g %g %g'/></body></worldbody></mujoco>",
      h, MOTOR, MOTOR, MOTOR, LOAD, LOAD, LOAD);
  mjData* d = mj_makeData(m);
  int n = (int)lround(LENGTH / h);
  for (int i = 0; i < n; i++) {
    d->qfrc_applied[0] = disturbance(amplitude, (i + 0.5) * h) - preload * BASE;
    d->qfrc_applied[1] = preload * BASE;
    mj_step(m, d);
    double w = d->qvel[0] - d->qvel[1];
    band[i * BANDS / n] += w * w * BANDS / n;
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


// While the shaft bounces from side to side its motion is sensitive, and the kind of motion may
// change at another frequency: bands differ there. Most agree.
static void sweeps(void** state) {
  int close = 0, all = 0;
  double total[2] = {0};
  const int stride = getenv("MJGEAR_LONG") ? 1 : 2;
  for (int i = 0; i < SIDE; i += stride) {
    for (int j = 0; j < SIDE; j += stride) {
      double preload = -0.02 * (i + 1), amplitude = 0.015 * (j + 1);
      double expected[BANDS] = {0}, found[BANDS] = {0};
      reference(expected, preload, amplitude);
      engine(found, preload, amplitude);
      for (int b = 0; b < BANDS; b++) {
        double ratio = sqrt(found[b] / expected[b]);
        close += fabs(ratio - 1) < 0.05;
        all++;
        assert_true(ratio > 0.25 && ratio < 4);
        total[0] += expected[b];
        total[1] += found[b];
      }
    }
  }
  print_message("%d of %d bands within 5 %%, all power %.3f of the reference's\n", close, all,
                total[1] / total[0]);
  assert_true(close > 0.85 * all);
  assert_true(fabs(total[1] / total[0] - 1) < 0.05);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

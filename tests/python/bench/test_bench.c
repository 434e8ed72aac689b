// the simulation of a test bench against closed forms

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"
#include "mjgear.h"
#include "near.h"

// torques and angles of a bench are not below this
#define assertBench(x, expected, tolerance) assertWithin(x, expected, tolerance, 1e-3)

#define N 400

static const double kDt = 1e-3;

// a log of constant input, from rest at angle 0, and its simulation
typedef struct Run_ {
  mjgBenchLog log;
  double parameter[mjgNBENCH];
  double input[N], zero[N];
  unsigned char enable[N];
  double q[N], v[N], torque[N], rotor[N];
} Run;


// a free inertia of 2 behind a rotor of 0.5, driven by its torque
static void start(Run* run, double input) {
  memset(run, 0, sizeof(*run));
  for (int i = 0; i < N; i++) {
    run->input[i] = input;
    run->enable[i] = 1;
  }
  run->parameter[mjgBENCH_INERTIA] = 2;
  run->parameter[mjgBENCH_ARMATURE] = 0.5;
  run->log = (mjgBenchLog){.n = N,
                           .substeps = 1,
                           .drive = mjgDRIVE_TORQUE,
                           .dt = kDt,
                           .input = run->input,
                           .enable = run->enable,
                           .position = run->zero,
                           .velocity = run->zero};
}


static void simulate(Run* run) {
  assert_int_equal(
      mjg_simulateBench(run->q, run->v, run->torque, run->rotor, &run->log, 1, run->parameter), 0);
}


// each parameter has a separate name
static void test_names(void** state) {
  for (int i = 0; i < mjgNBENCH; i++) {
    assert_non_null(mjg_benchName(i));
    for (int j = 0; j < i; j++) {
      assert_string_not_equal(mjg_benchName(i), mjg_benchName(j));
    }
  }
  assert_null(mjg_benchName(-1));
  assert_null(mjg_benchName(mjgNBENCH));
  assert_string_equal(mjg_benchName(mjgBENCH_DAMPING), "damping");
  assert_string_equal(mjg_benchName(mjgBENCH_GAMMA_U), "gamma_u");
}


// the motor drives: M a = eta_f (tau - m a), and the scheme sums a constant acceleration exactly
static void test_driving(void** state) {
  Run run;
  start(&run, 3);
  run.parameter[mjgBENCH_GAMMA_U] = 0.1;
  run.parameter[mjgBENCH_GAMMA_V] = 0.2;
  double eta_f, eta_b;
  mjg_efficiencies(&eta_f, &eta_b, 0.1, 0.2);
  double a = eta_f * 3 / (2 + eta_f * 0.5);
  for (int substeps = 1; substeps <= 4; substeps *= 2) {
    run.log.substeps = substeps;
    simulate(&run);
    double h = kDt / substeps, n = (N - 1) * substeps;
    assertBench(run.v[N - 1], n * h * a, 1e-12);
    assertBench(run.q[N - 1], h * h * a * n * (n + 1) / 2, 1e-12);
    assert_true(run.torque[N - 1] == 3 && run.rotor[N - 1] == run.q[N - 1]);
  }
}


// a load drives back: (M + m/eta_b) a = -f; a gear with gamma_v >= 1 stands exactly still
static void test_driven(void** state) {
  Run run;
  double load[N];
  for (int i = 0; i < N; i++) {
    load[i] = 3;
  }
  start(&run, 0);
  run.log.load = load;
  run.parameter[mjgBENCH_GAMMA_U] = 0.1;
  run.parameter[mjgBENCH_GAMMA_V] = 0.2;
  simulate(&run);
  double eta_f, eta_b;
  mjg_efficiencies(&eta_f, &eta_b, 0.1, 0.2);
  assertBench(run.v[N - 1], -(N - 1) * kDt * 3 / (2 + 0.5 / eta_b), 1e-12);

  run.parameter[mjgBENCH_GAMMA_V] = 1.01;
  simulate(&run);
  assert_true(run.v[N - 1] == 0 && run.q[N - 1] == 0);
}


// viscous friction of the motor passes the teeth: M a = eta_f (tau - b v - m a) where the motor drives, and
// M a = -f - (b v + m a)/eta_b where the load drives, both with implicit Euler
static void test_motorViscous(void** state) {
  Run run;
  double load[N], eta_f, eta_b, b = 7;
  for (int i = 0; i < N; i++) {
    load[i] = 3;
  }
  mjg_efficiencies(&eta_f, &eta_b, 0.1, 0.2);
  for (int driven = 0; driven < 2; driven++) {
    start(&run, driven ? 0 : 3);
    run.log.load = driven ? load : NULL;
    run.parameter[mjgBENCH_GAMMA_U] = 0.1;
    run.parameter[mjgBENCH_GAMMA_V] = 0.2;
    run.parameter[mjgBENCH_MOTOR_VISCOUS] = b;
    simulate(&run);
    double eta = driven ? 1 / eta_b : eta_f, last = driven ? -3 * eta_b / b : 3 / b;
    double ratio = (2 + eta * 0.5) / (2 + eta * (0.5 + kDt * b));
    assertBench(run.v[N - 1], last * (1 - pow(ratio, N - 1)), 1e-12);
  }
}


// Coulomb friction decelerates evenly and stops exactly; viscous friction as implicit Euler has it
static void test_friction(void** state) {
  Run run;
  start(&run, 0);
  double v0[N] = {1.2};
  run.log.velocity = v0;
  run.parameter[mjgBENCH_COULOMB] = 10;  // 4 rad/s2: 300 steps to rest
  simulate(&run);
  assertBench(run.v[100], 1.2 - 0.4, 1e-12);
  assert_true(run.v[301] == 0 && run.q[301] == run.q[N - 1]);

  run.parameter[mjgBENCH_COULOMB] = 0;
  run.parameter[mjgBENCH_VISCOUS] = 5;
  simulate(&run);
  assertBench(run.v[N - 1], 1.2 * pow(1 + kDt * 5 / 2.5, -(N - 1)), 1e-12);

  // Stribeck: at rest coulomb + stribeck_friction hold, a little more moves
  start(&run, 0.999);
  run.parameter[mjgBENCH_COULOMB] = 0.4;
  run.parameter[mjgBENCH_STRIBECK_FRICTION] = 0.6;
  run.parameter[mjgBENCH_STRIBECK_VELOCITY] = 1e-3;
  run.parameter[mjgBENCH_STRIBECK_EXPONENT] = 2;
  simulate(&run);
  assert_true(run.v[N - 1] == 0);
  for (int i = 0; i < N; i++) {
    run.input[i] = 1.01;
  }
  simulate(&run);
  assertBench((run.v[N - 1] - run.v[N - 2]) / kDt, (1.01 - 0.4) / 2.5, 1e-12);
}


// a pendulum at rest under a torque that its gravity balances stays; offset counts from hanging down
static void test_pendulum(void** state) {
  Run run;
  start(&run, 7 * sin(0.3));
  run.parameter[mjgBENCH_GRAVITY] = 7;
  run.parameter[mjgBENCH_OFFSET] = 0.3;
  simulate(&run);
  assert_true(fabs(run.q[N - 1]) < 1e-15);
}


// voltage: runs up to V/k with the time constant J R/k^2; limits of voltage and current
static void test_voltage(void** state) {
  Run run;
  start(&run, 6);
  run.log.drive = mjgDRIVE_VOLTAGE;
  run.parameter[mjgBENCH_INERTIA] = 0.01;
  run.parameter[mjgBENCH_ARMATURE] = 0.01;
  run.parameter[mjgBENCH_TORQUE_CONSTANT] = 0.5;
  run.parameter[mjgBENCH_RESISTANCE] = 2;
  simulate(&run);
  double slow = 1 - kDt * 0.5 * 0.5 / 2 / 0.02;
  assertBench(run.v[N - 1], 12 * (1 - pow(slow, N - 1)), 1e-12);
  assertBench(run.torque[0], 1.5, 1e-12);

  run.parameter[mjgBENCH_LIMIT] = 4;
  simulate(&run);
  assertBench(run.torque[0], 1, 1e-12);
  run.parameter[mjgBENCH_CURRENT_LIMIT] = 0.8;
  simulate(&run);
  assertBench(run.torque[0], 0.4, 1e-12);
  assertBench(run.v[1], kDt * 0.4 / 0.02, 1e-12);

  // switched off
  memset(run.enable, 0, sizeof(run.enable));
  simulate(&run);
  assert_true(run.v[N - 1] == 0 && run.torque[0] == 0);
}


// current: torque constant x current, until back-EMF has used up the supply
static void test_current(void** state) {
  Run run;
  start(&run, 3);
  run.log.drive = mjgDRIVE_CURRENT;
  run.parameter[mjgBENCH_TORQUE_CONSTANT] = 0.5;
  simulate(&run);
  assertBench(run.torque[N - 1], 1.5, 1e-12);

  double v0[N] = {10};
  run.log.velocity = v0;
  run.parameter[mjgBENCH_RESISTANCE] = 2;
  run.parameter[mjgBENCH_SUPPLY] = 7;
  simulate(&run);
  assertBench(run.torque[0], 0.5 * (7 - 5) / 2, 1e-12);
}


// the position loop: gain, derivative, slew of the goal, delay
static void test_loop(void** state) {
  Run run;
  start(&run, 0.5);
  run.log.loop = 1;
  run.parameter[mjgBENCH_GAIN] = 8;
  run.parameter[mjgBENCH_DERIVATIVE] = 0.7;
  simulate(&run);
  assertBench(run.torque[0], 4, 1e-12);
  assertBench(run.torque[1], 8 * (0.5 - run.q[1]) - 0.7 * run.v[1], 1e-12);

  // a goal that steps at sample 100, told 10 samples and half a step later: half of it at first
  for (int i = 0; i < 100; i++) {
    run.input[i] = 0;
  }
  run.parameter[mjgBENCH_DERIVATIVE] = 0;
  run.parameter[mjgBENCH_DELAY] = 10 * kDt;
  simulate(&run);
  assert_true(run.torque[109] == 0);
  assertBench(run.torque[110], 2, 1e-9);
  assertBench(run.torque[111], 8 * (0.5 - run.q[111]), 1e-9);

  run.parameter[mjgBENCH_DELAY] = 0;
  run.parameter[mjgBENCH_SLEW] = 1;
  simulate(&run);
  assertBench(run.torque[100], 8 * kDt, 1e-9);
}


// back to the measured state
static void test_reset(void** state) {
  Run run;
  start(&run, 1);
  double q[N], v[N];
  for (int i = 0; i < N; i++) {
    q[i] = i;
    v[i] = -i;
  }
  run.log.position = q;
  run.log.velocity = v;
  run.log.reset = 50;
  simulate(&run);
  assert_true(run.q[0] == 0 && run.q[50] == 50 && run.v[50] == -50 && run.q[350] == 350);
  assertBench(run.v[51], -50 + kDt * 1 / 2.5, 1e-12);
}


// the rotor crosses its half gap alone; without a gap and with a stiff shaft it is a rigid joint
static void test_gap(void** state) {
  Run run;
  start(&run, 3);
  run.log.substeps = 10;
  run.parameter[mjgBENCH_STIFFNESS] = 1e5;
  run.parameter[mjgBENCH_DAMPING] = 50;
  run.parameter[mjgBENCH_HALF_GAP] = 0.03;
  simulate(&run);
  int touch = (int)(sqrt(2 * 0.03 * 0.5 / 3) / kDt);
  assert_true(run.q[touch - 2] == 0 && run.q[touch + 4] > 0);
  assertBench(run.rotor[touch - 2], 3 / 0.5 * (touch - 2) * kDt * (touch - 2) * kDt / 2, 1e-2);

  run.parameter[mjgBENCH_HALF_GAP] = 0;
  simulate(&run);
  double end = (N - 1) * kDt;
  assertBench(run.q[N - 1], 3 / 2.5 * end * end / 2, 2e-3);

  // Stribeck friction of a gear falls with the speed of its rotor, while the link rests
  run.parameter[mjgBENCH_HALF_GAP] = 100;
  run.parameter[mjgBENCH_COULOMB] = 1;
  run.parameter[mjgBENCH_STRIBECK_FRICTION] = 1.5;
  run.parameter[mjgBENCH_STRIBECK_VELOCITY] = 1e-6;
  run.parameter[mjgBENCH_STRIBECK_EXPONENT] = 2;
  run.log.substeps = 1;
  simulate(&run);
  assertBench((run.rotor[N - 1] - run.rotor[N - 2]) / kDt, kDt / 0.5 * (0.5 + (N - 2) * 2), 1e-9);
  assert_true(run.q[N - 1] == 0);
}


// the published bound, a step by hand: motor 2 against load 3 at rest, then past the bound
static void test_bam(void** state) {
  Run run;
  double load[N];
  for (int i = 0; i < N; i++) {
    load[i] = 3;
  }
  start(&run, 2);
  run.log.law = mjgLAW_BAM;
  run.log.load = load;
  run.parameter[mjgBENCH_COULOMB] = 0.1;
  run.parameter[mjgBENCH_STRIBECK_FRICTION] = 0.05;
  run.parameter[mjgBENCH_GAMMA_U] = 0.1;
  run.parameter[mjgBENCH_GAMMA_V] = 0.05;
  run.parameter[mjgBENCH_GAMMA_U_STRIBECK] = 0.02;
  run.parameter[mjgBENCH_GAMMA_V_STRIBECK] = 0.01;
  run.parameter[mjgBENCH_GAMMA_U_QUADRATIC] = 0.01;
  run.parameter[mjgBENCH_GAMMA_V_QUADRATIC] = 0.5;
  run.parameter[mjgBENCH_STRIBECK_VELOCITY] = 0.3;
  run.parameter[mjgBENCH_STRIBECK_EXPONENT] = 2;
  run.parameter[mjgBENCH_VISCOUS] = 0.2;
  simulate(&run);

  // |Ke tau_e - Km tau_m| with tau_e = -3, and the quadratic term of the motor, the smaller torque
  double bound = 0.1 + (0.15 + 0.2) + (0.05 + (0.03 + 0.04) + 0.01 * 4);
  assertBench(run.v[1], -kDt * (1 - bound) / 2.5, 1e-12);
  double v = fabs(run.v[1]), S = exp(-pow(v / 0.3, 2));
  bound = 0.1 + 0.35 + S * 0.16 + 0.2 * v;
  assertBench(run.v[2], run.v[1] - kDt * (1 - bound) / 2.5, 1e-12);
}


// torque delivered by a moving gear
static void test_deliver(void** state) {
  double p[mjgNBENCH] = {0}, x[4];
  double u[4] = {2, 2, -2, 2}, v[4] = {1, -1, -1, 1};
  p[mjgBENCH_GAMMA_U] = 0.1;
  p[mjgBENCH_GAMMA_V] = 0.2;
  double eta_f, eta_b;
  mjg_efficiencies(&eta_f, &eta_b, 0.1, 0.2);
  assert_int_equal(mjg_deliver(x, u, v, 4, p), 0);
  assertBench(x[0], eta_f * 2, 1e-12);
  assertBench(x[1], 2 / eta_b, 1e-12);
  assertBench(x[2], -eta_f * 2, 1e-12);

  // with load-independent friction c: x (1 + gamma_v) = u (1 - gamma_u) - c
  p[mjgBENCH_COULOMB] = 0.3;
  p[mjgBENCH_VISCOUS] = 0.05;
  mjg_deliver(x, u, v, 4, p);
  assertBench(x[0], (2 * 0.9 - 0.3) / 1.2 - 0.05, 1e-12);

  // friction that grows with the root of the velocity
  v[0] = 4;
  p[mjgBENCH_CURVED_FRICTION] = 0.2;
  p[mjgBENCH_CURVED_VELOCITY] = 1;
  p[mjgBENCH_CURVED_EXPONENT] = 0.5;
  mjg_deliver(x, u, v, 4, p);
  assertBench(x[0], (2 * 0.9 - 0.3 - 0.2 * 2) / 1.2 - 0.05 * 4, 1e-12);
}


// a simulation that becomes infinite reports it, also if a reset brings it back before the end
static void test_leavesTheNumbers(void** state) {
  const int reset[] = {0, 10, 30}, n = 391;  // the last sample is a reset
  for (int k = 0; k < 3; k++) {
    Run run;
    start(&run, 1);
    run.log.n = n;
    run.log.loop = 1;
    run.log.reset = reset[k];
    run.parameter[mjgBENCH_GAIN] = 1e60;
    assert_int_equal(
        mjg_simulateBench(run.q, run.v, run.torque, run.rotor, &run.log, 1, run.parameter),
        mjgERR_NOT_FINITE);
    int lost = 0;
    for (int i = 0; i < n; i++) {
      lost += !isfinite(run.q[i]);
    }
    assert_true(lost > n / 4);
    assert_int_equal(isfinite(run.q[n - 1]) != 0, reset[k] > 0);
  }

  // a torque that overflows after the last sample's angle is not a success either
  Run run;
  start(&run, 0);
  run.log.loop = 1;
  run.log.n = 1;
  run.input[0] = 1e200;
  run.parameter[mjgBENCH_GAIN] = 1e200;
  assert_int_equal(mjg_simulateBench(run.q, NULL, NULL, NULL, &run.log, 1, run.parameter),
                   mjgERR_NOT_FINITE);
}


static void test_refused(void** state) {
  Run run;
  start(&run, 1);
  assert_int_equal(mjg_simulateBench(run.q, NULL, NULL, NULL, NULL, 1, run.parameter), -1);
  run.log.substeps = 0;
  assert_int_equal(mjg_simulateBench(run.q, NULL, NULL, NULL, &run.log, 1, run.parameter), -1);
  run.log.substeps = 1;
  run.log.drive = mjgDRIVE_VOLTAGE;  // without resistance
  assert_int_equal(mjg_simulateBench(run.q, NULL, NULL, NULL, &run.log, 1, run.parameter), -1);
  run.log.drive = mjgDRIVE_TORQUE;
  run.parameter[mjgBENCH_COULOMB] = NAN;
  assert_int_equal(mjg_simulateBench(run.q, NULL, NULL, NULL, &run.log, 1, run.parameter), -1);
  run.parameter[mjgBENCH_COULOMB] = 0;
  assert_int_equal(mjg_simulateBench(NULL, NULL, NULL, NULL, &run.log, 1, run.parameter), 0);
}


// several sets of parameters in one call: each as by itself
static void test_several(void** state) {
  enum {
    RUNS = 7
  };
  static double q[RUNS][N], v[RUNS][N], torque[RUNS][N], rotor[RUNS][N], parameter[RUNS][mjgNBENCH];
  static double warm[N];
  Run run;
  start(&run, 3);
  run.log.loop = 1;
  run.log.reset = 150;
  run.log.substeps = 3;
  run.log.friction = warm;
  run.parameter[mjgBENCH_GAIN] = 40;
  run.parameter[mjgBENCH_SLEW] = 5;
  run.parameter[mjgBENCH_DELAY] = 0.0023;
  run.parameter[mjgBENCH_GRAVITY] = 20;
  run.parameter[mjgBENCH_GAMMA_U] = 0.1;
  run.parameter[mjgBENCH_STRIBECK_VELOCITY] = run.parameter[mjgBENCH_CURVED_VELOCITY] = 1;
  run.parameter[mjgBENCH_STRIBECK_EXPONENT] = run.parameter[mjgBENCH_CURVED_EXPONENT] = 2;
  const int changed[RUNS] = {
      mjgBENCH_COULOMB,           mjgBENCH_VISCOUS, mjgBENCH_STIFFNESS,      mjgBENCH_MOTOR_VISCOUS,
      mjgBENCH_STRIBECK_FRICTION, mjgBENCH_GAMMA_V, mjgBENCH_CURVED_FRICTION};
  for (int k = 0; k < N; k++) {
    warm[k] = 1 + 0.5 * k / N;
  }
  for (int i = 0; i < RUNS; i++) {
    memcpy(parameter[i], run.parameter, sizeof run.parameter);
    parameter[i][changed[i]] = changed[i] == mjgBENCH_STIFFNESS ? 500 : 0.4;
  }
  assert_int_equal(mjg_simulateBench(q[0], v[0], torque[0], rotor[0], &run.log, RUNS, parameter[0]),
                   0);
  for (int i = 0; i < RUNS; i++) {
    memcpy(run.parameter, parameter[i], sizeof run.parameter);
    simulate(&run);
    assert_memory_equal(q[i], run.q, sizeof run.q);
    assert_memory_equal(v[i], run.v, sizeof run.v);
    assert_memory_equal(torque[i], run.torque, sizeof run.torque);
    assert_memory_equal(rotor[i], run.rotor, sizeof run.rotor);
    assert_true(i == 0 || memcmp(q[i], q[i - 1], sizeof run.q) != 0);
  }

  // one invalid set refuses the call, and none is needed
  parameter[RUNS - 1][mjgBENCH_DELAY] = -1;
  assert_int_equal(mjg_simulateBench(q[0], NULL, NULL, NULL, &run.log, RUNS, parameter[0]),
                   mjgERR_ARGUMENT);
  assert_int_equal(mjg_simulateBench(q[0], NULL, NULL, NULL, &run.log, -1, parameter[0]),
                   mjgERR_ARGUMENT);
  assert_int_equal(mjg_simulateBench(q[0], NULL, NULL, NULL, &run.log, 0, parameter[0]), 0);
}


// invalid arrays, logs and drives are refused, and nothing is written
static void test_arguments(void** state) {
  double parameter[mjgNBENCH] = {0}, zero[2] = {0}, x[2] = {7, 7};
  parameter[mjgBENCH_INERTIA] = 1;
  mjgBenchLog log = {
      .n = 2, .substeps = 1, .dt = 1, .input = zero, .position = zero, .velocity = zero};
  assert_int_equal(mjg_simulateBench(NULL, NULL, NULL, NULL, &log, 1, parameter), 0);
  assert_int_equal(mjg_simulateBench(x, NULL, NULL, NULL, NULL, 1, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_simulateBench(x, NULL, NULL, NULL, &log, 1, NULL), mjgERR_ARGUMENT);
  const double** arrays[] = {&log.input, &log.position, &log.velocity};
  for (int i = 0; i < 3; i++) {
    *arrays[i] = NULL;
    assert_int_equal(mjg_simulateBench(x, NULL, NULL, NULL, &log, 1, parameter), mjgERR_ARGUMENT);
    *arrays[i] = zero;
  }
  mjgBenchLog unknown = log;
  unknown.drive = 3;
  assert_int_equal(mjg_simulateBench(x, NULL, NULL, NULL, &unknown, 1, parameter), mjgERR_ARGUMENT);
  unknown = log;
  unknown.law = -1;
  assert_int_equal(mjg_simulateBench(x, NULL, NULL, NULL, &unknown, 1, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(NULL, zero, zero, 2, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(x, NULL, zero, 2, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(x, zero, NULL, 2, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(x, zero, zero, 2, NULL), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(x, zero, zero, -1, parameter), mjgERR_ARGUMENT);
  assert_int_equal(mjg_deliver(NULL, NULL, NULL, 0, parameter), 0);
  assert_true(x[0] == 7 && x[1] == 7);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),    cmocka_unit_test(test_driving),
      cmocka_unit_test(test_driven),   cmocka_unit_test(test_motorViscous),
      cmocka_unit_test(test_friction), cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_voltage),  cmocka_unit_test(test_current),
      cmocka_unit_test(test_loop),     cmocka_unit_test(test_reset),
      cmocka_unit_test(test_gap),      cmocka_unit_test(test_bam),
      cmocka_unit_test(test_deliver),  cmocka_unit_test(test_leavesTheNumbers),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_several),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

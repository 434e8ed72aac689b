// Descriptions by parts, catalogues or other models: wedge, planetary, strain wave, capstan, loss;
// the bilateral drive gear; conclusions of a catalogue's efficiency.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "expected_efficiencies.h"
#include "mjgear.h"
#include "mjgear_report.h"
#include "one_description.h"

#define DRAWN 100

static mjgTransmission accepted(mjgDescription d) {
  return resolve(&d);
}


// one problem whose line has these words
static void refused(mjgDescription d, const char* words) {
  mjgTransmission t;
  char text[2000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof text);
  assert_int_equal(mjg_transmission(&t, &report, &d), 1);
  if (!strstr(text, words)) {
    fail_msg("'%s' is not in: %s", words, text);
  }
}


//---------------------------------- types ---------------------------------------------------------

// coefficients give the efficiencies that are expected
static void efficienciesAre(const mjgTransmission* t, double expected_f, double expected_b) {
  double eta_f, eta_b;
  assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, t->gamma_u, t->gamma_v), 0);
  assertNear(eta_f, expected_f, 1e-12);
  assertNear(eta_b, expected_b, 1e-12);
}


// 3.1: gamma_u = mu/tan(theta_v), gamma_v = mu/tan(theta_u)
static void wedge(void** state) {
  int drivable = 0;
  for (int i = 0; i < DRAWN; i++) {
    double in = draw(0.05, 1.5), out = draw(0.05, 1.5), mu = draw(0, 0.3), eta_f, eta_b;
    mjgTransmission t = accepted(describe(mjgTYPE_WEDGE, mjgKEY_INPUT_ANGLE, in,
                                          mjgKEY_OUTPUT_ANGLE, out, mjgKEY_MU, mu, -1));
    wedgeEfficiencies(&eta_f, &eta_b, in, out, mu);
    if (eta_f > 0) {
      efficienciesAre(&t, eta_f, eta_b);
      drivable++;
    }
  }
  assert_true(drivable > 0.5 * DRAWN);
  refused(describe(mjgTYPE_WEDGE, mjgKEY_INPUT_ANGLE, 0.1, mjgKEY_MU, 0.1, -1), "output_angle");
  refused(describe(mjgTYPE_WEDGE, mjgKEY_INPUT_ANGLE, 0.1, mjgKEY_OUTPUT_ANGLE, 30.0, mjgKEY_MU,
                   0.1, -1),
          "radians");
  refused(describe(mjgTYPE_WEDGE, mjgKEY_INPUT_ANGLE, 0.0, mjgKEY_OUTPUT_ANGLE, 1.0, mjgKEY_MU, 0.1,
                   -1),
          "out of range");
  refused(describe(mjgTYPE_WEDGE, mjgKEY_INPUT_ANGLE, 0.4, mjgKEY_OUTPUT_ANGLE, 1.0, mjgKEY_MU, 0.1,
                   mjgKEY_LEAD_ANGLE, 0.1, -1),
          "contradicts type wedge");
  refused(describe(mjgTYPE_AUTO, mjgKEY_INPUT_ANGLE, 0.1, -1), "write type wedge");
}


static void planetary(void** state) {
  mjgTransmission t =
      accepted(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 20.0, mjgKEY_TEETH_RING, 60.0,
                        mjgKEY_MESH_EFFICIENCY, 0.98, mjgKEY_MOTOR_INERTIA, 1e-4, -1));
  double eta_f, eta_b;
  assert_true(t.ratio == 4 && fabs(t.armature - 16e-4) < 1e-15);
  carrierEfficiencies(&eta_f, &eta_b, 4, 0.98 * 0.98);
  efficienciesAre(&t, eta_f, eta_b);

  // without loss
  t = accepted(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 20.0, mjgKEY_TEETH_RING, 60.0,
                        mjgKEY_MESH_EFFICIENCY, 1.0, -1));
  assert_true(t.gamma_u == 0 && t.gamma_v == 0);

  // self-locking
  t = accepted(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 12.0, mjgKEY_TEETH_RING, 60.0,
                        mjgKEY_TEETH_RING_OUT, 61.0, mjgKEY_MESH_EFFICIENCY, 0.97, -1));
  assert_true(t.gamma_v > 1 && t.gamma_u < 1);
  refused(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 60.0, mjgKEY_TEETH_RING, 60.0,
                   mjgKEY_MESH_EFFICIENCY, 0.97, -1),
          "no room");
  refused(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 12.0, mjgKEY_TEETH_RING, 60.0,
                   mjgKEY_TEETH_RING_OUT, 60.0, mjgKEY_MESH_EFFICIENCY, 0.97, -1),
          "does not turn");
  refused(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 12.0, mjgKEY_TEETH_RING, 60.0, -1),
          "mesh_efficiency");
  refused(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 20.0, mjgKEY_MESH_EFFICIENCY, 0.97, -1),
          "teeth_ring");
  refused(describe(mjgTYPE_PLANETARY, mjgKEY_TEETH_SUN, 20.0, mjgKEY_TEETH_RING, 60.0,
                   mjgKEY_MESH_EFFICIENCY, 97.0, -1),
          "out of range");
}


// the catalogue's four torques and its efficiency come back from the law, and the efficiency falls at partial
// load as eta_f T/(T + c)
static void strainWave(void** state) {
  int n = 0;
  for (int i = 0; i < DRAWN; i++) {
    double ratio = draw(50, 160), rated = draw(5, 100),
           running = draw(0.002, 0.01) * rated / ratio * 5;
    double start = running * draw(1, 1.5), efficiency = draw(0.6, 0.85),
           back = draw(1.05, 1.3) * ratio * start;
    mjgDescription d =
        describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, ratio, mjgKEY_RATED_TORQUE, rated,
                 mjgKEY_RATED_EFFICIENCY, efficiency, mjgKEY_NO_LOAD_TORQUE, running,
                 mjgKEY_MOTOR_STARTING, start, mjgKEY_STARTING_BACKWARD, back, -1);
    mjgTransmission t;
    mjgReport report;
    mjg_startReport(&report, NULL, 0);
    if (mjg_transmission(&t, &report, &d)) {
      continue;
    }
    n++;
    assert_true(fabs(mjg_breakawayMotor(&t, 0, 1) / (ratio * start) - 1) < 1e-9);
    assert_true(fabs(mjg_breakawayLoad(&t, 0, -1) / back - 1) < 1e-9);

    // in motion: the motor torque that keeps the speed under a load, by the core's step
    for (int k = 0; k < 4; k++) {
      double load = k * rated / 3, u = 0, v = 0, c = 0;
      double eta_f = loadEfficiency(efficiency, rated, ratio, running);
      u = k ? load / (eta_f * load / (load + eta_f * ratio * running)) : ratio * running;
      double A = 1e-3, phi, alpha = (t.gamma_u + t.gamma_v) * 0.5 / 1e-3, one = 1, torque, next,
             lambda;
      (void)v;
      c = t.coulomb;
      double free = one + A * (u - load);
      phi = (t.gamma_u + t.gamma_v) * (u - 0.5 * (u - load));
      int mode;
      const mjgProblem problem = {.n = 1,
                                  .v = &free,
                                  .A = &A,
                                  .phi = &phi,
                                  .alpha = &alpha,
                                  .beta = &t.gamma_v,
                                  .coulomb = &c,
                                  .v0 = &one};
      mjgSettings settings;
      mjg_defaultSettings(&settings);
      double memory[1024];
      mjgSolution solution = {&torque, &next, &lambda, &mode};
      assert_true(mjg_solve(&solution, NULL, &problem, &settings,
                            mjg_create(memory, sizeof memory, 1, 1)) >= 0);
      assert_true(fabs(next - 1) < 1e-9);
    }
  }
  assert_true(n > 0.5 * DRAWN);

  // Harmonic Drive's example of partial load (CSD-2A Component Sets, Engineering Data 1019659, 11/2014, page 24,
  // HFUC-20-80): 78 % at 34 N m and 78 % x 0.93 at 19.6 N m, which is this loss without load
  mjgTransmission hfuc = accepted(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 80.0,
                                           mjgKEY_RATED_TORQUE, 34.0, mjgKEY_RATED_EFFICIENCY, 0.78,
                                           mjgKEY_NO_LOAD_TORQUE, 0.05582169224642346, -1));
  assert_true(hfuc.static_ratio == 1);
  assertSame(34 / mjg_breakawayMotor(&hfuc, 34, 1), 0.78, 1e-9);
  assertSame(19.6 / mjg_breakawayMotor(&hfuc, 19.6, 1), 0.78 * 0.93, 1e-9);

  // without the backdriving torque gamma_u = 0, without the starting torque the static ratio is 1
  mjgTransmission t =
      accepted(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 100.0, mjgKEY_RATED_TORQUE, 40.0,
                        mjgKEY_RATED_EFFICIENCY, 0.75, mjgKEY_NO_LOAD_TORQUE, 0.03, -1));
  assert_true(t.gamma_u == 0 && t.static_ratio == 1 && fabs(t.coulomb - 3) < 1e-12);
  refused(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 100.0, mjgKEY_RATED_TORQUE, 40.0,
                   mjgKEY_RATED_EFFICIENCY, 0.75, mjgKEY_NO_LOAD_TORQUE, 3.0, -1),
          "no_load_torque");
  refused(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATED_TORQUE, 40.0, mjgKEY_RATED_EFFICIENCY, 0.75,
                   mjgKEY_NO_LOAD_TORQUE, 0.03, -1),
          "ratio");
  refused(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 100.0, mjgKEY_RATED_TORQUE, 40.0,
                   mjgKEY_RATED_EFFICIENCY, 0.75, mjgKEY_NO_LOAD_TORQUE, 0.03,
                   mjgKEY_MOTOR_STARTING, 0.02, -1),
          "motor_starting");
  refused(describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 100.0, mjgKEY_RATED_TORQUE, 40.0,
                   mjgKEY_RATED_EFFICIENCY, 75.0, mjgKEY_NO_LOAD_TORQUE, 0.03, -1),
          "out of range");
  refused(
      describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, 100.0, mjgKEY_RATED_TORQUE, 40.0,
               mjgKEY_RATED_EFFICIENCY, 0.75, mjgKEY_NO_LOAD_TORQUE, 0.03, mjgKEY_COULOMB, 1.0, -1),
      "coulomb contradicts type strain_wave");
}


// Euler and Eytelwein: exp(-mu phi) in both directions
static void capstan(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    double mu = draw(0.01, 0.4), angle = draw(0.1, 12);
    mjgTransmission t =
        accepted(describe(mjgTYPE_CAPSTAN, mjgKEY_MU, mu, mjgKEY_WRAP_ANGLE, angle, -1));
    efficienciesAre(&t, exp(-mu * angle), exp(-mu * angle));
  }
  refused(describe(mjgTYPE_CAPSTAN, mjgKEY_MU, 0.1, -1), "wrap_angle");
  refused(describe(mjgTYPE_CAPSTAN, mjgKEY_MU, -0.1, mjgKEY_WRAP_ANGLE, 1.0, -1), "out of range");
  refused(describe(mjgTYPE_AUTO, mjgKEY_WRAP_ANGLE, 1.0, -1), "write type capstan");
}


// loss mu_avg |u| sgn(v) + mu_dif u of the torque u into the gear: this law in sliding, to rounding
static void loss(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    double average = draw(0.01, 0.45), difference = draw(-average, average), m = 0.7, M = 1.3,
           h = 1e-3;
    mjgTransmission t =
        accepted(describe(mjgTYPE_LOSS, mjgKEY_MU_AVG, average, mjgKEY_MU_DIF, difference, -1));
    double eta_f, eta_b;
    lossEfficiencies(&eta_f, &eta_b, average, difference);
    efficienciesAre(&t, eta_f, eta_b);
    for (int s = -1; s <= 1; s += 2) {
      double f_u = draw(-5, 5), f_v = draw(-5, 5), v = s * 10.0, next, friction;
      assert_true(mjg_stepScalar(&next, &friction, v, f_u, f_v, t.gamma_u, t.gamma_v, m, M, h) >=
                  0);
      double u = f_u - m * (next - v) / h;
      assert_true(fabs(friction - (average * fabs(u) * s + difference * u)) <
                  1e-12 * (1 + fabs(u)));
    }

    // and back
    mjgDescription d;
    mjg_defaultDescription(&d);
    d.type = mjgTYPE_LOSS;
    mjgReport report;
    mjg_startReport(&report, NULL, 0);
    assert_int_equal(mjg_describe(&d, &report, &t), 0);
    assert_true(fabs(d.value[mjgKEY_MU_AVG] - average) < 1e-12);
    assert_true(fabs(d.value[mjgKEY_MU_DIF] - difference) < 1e-12);
  }
  refused(describe(mjgTYPE_LOSS, mjgKEY_MU_AVG, 0.1, mjgKEY_MU_DIF, 0.2, -1), "creates energy");
  refused(describe(mjgTYPE_LOSS, mjgKEY_MU_AVG, 0.6, mjgKEY_MU_DIF, 0.5, -1), "no motor can drive");
  refused(describe(mjgTYPE_LOSS, mjgKEY_MU_DIF, 0.1, -1), "mu_avg");
}


// facts that the coefficients do not contain
static void descriptions(void** state) {
  static const int types[] = {mjgTYPE_WEDGE, mjgTYPE_PLANETARY, mjgTYPE_STRAIN_WAVE,
                              mjgTYPE_CAPSTAN};
  mjgTransmission t = accepted(describe(mjgTYPE_EFFICIENCY, mjgKEY_ETA_FORWARD, 0.8, -1));
  for (int i = 0; i < 4; i++) {
    mjgDescription d;
    mjg_defaultDescription(&d);
    d.type = types[i];
    char text[500];
    mjgReport report;
    mjg_startReport(&report, text, sizeof text);
    assert_int_equal(mjg_describe(&d, &report, &t), 1);
    assert_non_null(strstr(text, mjg_typeName(types[i])));
  }
}


//---------------------------------- catalogues ----------------------------------------------------

static void catalogueRule(void** state) {
  const double eta[] = {0.2, 0.44, 0.46, 0.54, 0.56, 0.9};
  const int locks[] = {1, 1, -1, -1, 0, 0};
  for (int i = 0; i < 6; i++) {
    mjgTransmission t = accepted(describe(mjgTYPE_EFFICIENCY, mjgKEY_ETA_FORWARD, eta[i], -1));
    mjgFacts facts;
    mjg_explain(&facts, &t, 1, -1);
    assert_int_equal(facts.catalogue_locks, locks[i]);

    // with one efficiency alone, eta_b = 2 - 1/eta_f, the law locks from 0.5 on, too
    assert_int_equal(facts.backdrivable, eta[i] > 0.5);
  }
}


// forward 0.890, backward 0.853, 0.020 N m to drive it back
static void bilateralDrive(void** state) {
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, mjg_presetFromName("bilateral_drive")), 0);
  mjgTransmission t = accepted(preset.description);
  mjgFacts facts;
  mjg_explain(&facts, &t, 1, -1);
  assert_true(fabs(facts.eta_f - 0.890) < 1e-12 && fabs(facts.eta_b - 0.853) < 1e-12);
  assert_true(fabs(facts.start_backward - 0.020) < 1e-9);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wedge),         cmocka_unit_test(planetary),
      cmocka_unit_test(strainWave),    cmocka_unit_test(capstan),
      cmocka_unit_test(loss),          cmocka_unit_test(descriptions),
      cmocka_unit_test(catalogueRule), cmocka_unit_test(bilateralDrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

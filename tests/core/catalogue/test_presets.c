// presets: all can be used, servos mean what their published formula says

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear_params.h"


static mjgTransmission transmissionOf(const char* name) {
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, mjg_presetFromName(name)), 0);
  char text[1000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  mjgTransmission t;
  if (mjg_transmission(&t, &report, &preset.description) != 0) {
    fail_msg("%s: %s", name, text);
  }
  return t;
}


static void test_all(void** state) {
  (void)state;
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    assert_int_equal(mjg_preset(&preset, i), 0);
    assert_int_equal(mjg_presetFromName(preset.name), i);
    assert_true(strlen(preset.title) > 5 && strlen(preset.source) > 20);
    mjgTransmission t = transmissionOf(preset.name);
    double ef, eb;
    assert_int_equal(mjg_transmissionEfficiencies(&ef, &eb, &t, 0), 0);
    assert_true(ef > 0 && ef <= 1 && eb <= 1);
  }
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, -1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_preset(&preset, mjg_presetCount()), mjgERR_ARGUMENT);
  assert_int_equal(mjg_presetFromName("nonsense"), -1);
}


// which gears lock themselves
static void test_locking(void** state) {
  (void)state;
  static const char* const locks[] = {"worm", "acme_screw", "trapezoidal_screw"};
  static const char* const drives[] = {"worm_4start", "ball_screw", "harmonic_drive",
                                       "planetary_2stage", "spur_pair"};
  for (int i = 0; i < 3; i++) {
    mjgTransmission t = transmissionOf(locks[i]);
    assert_true(t.gamma_v >= 1);
  }
  for (int i = 0; i < 5; i++) {
    mjgTransmission t = transmissionOf(drives[i]);
    assert_true(t.gamma_v < 1);
  }
}


// the published bound of model M6 with the published numbers of the MX-106, written out here
static double publishedBound(double tau_m, double tau_e, double v) {
  double Kc = 1.02325e-5, Kcs = 0.121954, Km = 0.198006, Ke = 0.0222155;
  double Kms = 0.1986, Kes = 0.0871033, Kmq = 0.00999993, Keq = 7.32692e-5;
  double S = exp(-pow(fabs(v / 1.74633), 1.14283));
  double Q = fabs(tau_m) > fabs(tau_e) ? Keq * tau_e * tau_e : Kmq * tau_m * tau_m;
  if (tau_m * tau_e > 0) {
    Q = 0;
  }
  return Kc + fabs(Km * tau_m - Ke * tau_e) + S * (Kcs + fabs(Kms * tau_m - Kes * tau_e) + Q);
}


// where motor and load oppose each other our bound is the published one
static void test_servoBound(void** state) {
  (void)state;
  mjgTransmission t = transmissionOf("mx106_m6");
  for (double tau_m = -8; tau_m <= 8; tau_m += 1) {
    for (double tau_e = -8; tau_e <= 8; tau_e += 0.7) {
      for (double v = 0; v < 4; v += 0.5) {
        double gu, gv, c;
        mjg_frictionAt(&gu, &gv, &c, &t, 0, v, tau_m, -tau_e);
        double bound = fabs(gu * tau_m + gv * -tau_e) + c;
        double published = publishedBound(tau_m, tau_e, v);
        if (tau_m * tau_e <= 0) {
          assert_true(fabs(bound - published) < 1e-12 * (1 + published));
        } else {
          // where both push the same way, ours is the smaller one
          assert_true(bound <= published + 1e-12);
        }
      }
    }
  }
}


// model M1 knows no load
static void test_servoM1(void** state) {
  (void)state;
  mjgTransmission t = transmissionOf("sts3215_m1");
  assert_true(t.gamma_u == 0 && t.gamma_v == 0 && t.coulomb == 0.052393 && t.viscous == 0.0590852);
  mjgPreset preset;
  mjg_preset(&preset, mjg_presetFromName("sts3215_m1"));
  assert_true(preset.torque_constant == 1.21164 && preset.resistance == 2.67617);
}


// the maker's own example: 78 % at 34 N m, 73 % at 19.6 N m, from the motor torque that just raises the load
static void strainWave(void** state) {
  (void)state;
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, mjg_presetFromName("hfuc_20_80")), 0);
  mjgTransmission t;
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  assert_int_equal(mjg_transmission(&t, &report, &preset.description), 0);
  assert_true(t.ratio == 80 && t.static_ratio == 1);
  assert_true(fabs(34 / mjg_breakawayMotor(&t, 34, 1) - 0.78) < 1e-9);
  assert_true(fabs(19.6 / mjg_breakawayMotor(&t, 19.6, 1) - 0.78 * 0.93) < 1e-9);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strainWave),   cmocka_unit_test(test_all),
      cmocka_unit_test(test_locking), cmocka_unit_test(test_servoBound),
      cmocka_unit_test(test_servoM1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// presets: all are valid, servos equal their published formula

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expected_efficiencies.h"
#include "law/transmission.h"
#include "one_description.h"


static mjgTransmission transmissionOf(const char* name) {
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, mjg_presetFromName(name)), 0);
  return resolve(&preset.description);
}


static void test_all(void** state) {
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    assert_int_equal(mjg_preset(&preset, i), 0);
    assert_int_equal(mjg_presetFromName(preset.name), i);
    if (strlen(preset.title) <= 5 || strlen(preset.source) <= 20) {
      fail_msg("%s: title '%s' or source '%s' says too little", preset.name, preset.title,
               preset.source);
    }
    mjgTransmission t = transmissionOf(preset.name);
    mjgFacts facts;
    mjg_explain(&facts, &t, 0, -1);
    assert_true(facts.eta_f_rest > 0 && facts.eta_f_rest <= 1 && facts.eta_b_rest <= 1);
  }
  mjgPreset preset;
  assert_int_equal(mjg_preset(&preset, -1), mjgERR_ARGUMENT);
  assert_int_equal(mjg_preset(&preset, mjg_presetCount()), mjgERR_ARGUMENT);
  assert_int_equal(mjg_presetFromName("nonsense"), -1);
}


// the self-locking presets
static void test_locking(void** state) {
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


// if motor and load oppose each other, our bound equals the published one
static void test_servoBound(void** state) {
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
          // if both push the same way, our friction is smaller
          assert_true(bound <= published + 1e-12);
        }
      }
    }
  }
}


// model M1 has no load dependence
static void test_servoM1(void** state) {
  mjgTransmission t = transmissionOf("sts3215_m1");
  assert_true(t.gamma_u == 0 && t.gamma_v == 0 && t.coulomb == 0.052393 && t.viscous == 0.0590852);
  mjgPreset preset;
  mjg_preset(&preset, mjg_presetFromName("sts3215_m1"));
  assert_true(preset.torque_constant == 1.21164 && preset.resistance == 2.67617);
}


// RobStride's manuals: no-load current in A rms, speed in rpm, torque constant in N m/A rms of RS00,
// RS03, RS04, RS06. The drag of the preset at that speed is the torque of that current
static void test_modules(void** state) {
  static const struct {
    const char* name;
    double current, speed, constant;
  } kDrive[] = {{"robstride_00", 0.5, 315, 1.48},
                {"robstride_03", 2, 200, 2.36},
                {"robstride_04", 2, 200, 2.1},
                {"robstride_06", 0.98, 480, 1.09}};
  for (int i = 0; i < 4; i++) {
    mjgTransmission t = transmissionOf(kDrive[i].name);
    double speed = kDrive[i].speed * 2 * 3.14159265358979323846 / 60;
    double drag = kDrive[i].current * kDrive[i].constant;
    assert_true(fabs(t.coulomb + t.viscous * speed - drag) < 1e-4 * drag);
  }
  // a motor's inertia is multiplied by the square of the ratio
  mjgTransmission t = transmissionOf("damiao_4310");
  assert_true(fabs(t.armature - 1.8e-3) < 1e-9);
}


// 2000 rpm of the motor, rad/s
static const double kRatedSpeed = 2000 * 2 * 3.14159265358979323846 / 60;


// the five figures of a strain-wave gear's catalogue, from the law: motor torque that keeps the
// output turning at v under a load. With static_ratio = 1 breakaway and running torque are equal
static double runningTorque(const mjgTransmission* t, double load, double v) {
  assert_true(t->static_ratio == 1);
  return mjg_breakawayMotor(t, load + t->viscous * v, 1);
}


// Schaeffler, TPI 275, RT1-H-CS, ratio 100, 20 deg C: sizes 14, 17, 20, 25
static const struct {
  double rated, efficiency, running, starting, backdriving;
} kSize[] = {{10, 0.67, 0.035, 0.021, 2.21},
             {31, 0.77, 0.051, 0.029, 3.06},
             {52, 0.77, 0.105, 0.037, 3.89},
             {87, 0.77, 0.195, 0.069, 7.26}};


// the figures of each size give a gear that returns them. Without the backdriving torque it follows
// from the others, and because gamma_u = 0 is the largest value, it is above the catalogue's, by 11
// % at most
static void strainWaveSizes(void** state) {
  const double ratio = 100;
  for (int i = 0; i < 4; i++) {
    double eta_f = loadEfficiency(kSize[i].efficiency, kSize[i].rated, ratio, kSize[i].running);
    double slow = 1 / (1 / eta_f + ratio * kSize[i].starting / kSize[i].rated);
    double viscous = eta_f * (kSize[i].running - kSize[i].starting) / kRatedSpeed;
    mjgDescription d =
        describe(mjgTYPE_STRAIN_WAVE, mjgKEY_RATIO, ratio, mjgKEY_RATED_TORQUE, kSize[i].rated,
                 mjgKEY_RATED_EFFICIENCY, slow, mjgKEY_NO_LOAD_TORQUE, kSize[i].starting,
                 mjgKEY_MOTOR_VISCOUS, viscous, -1);
    mjgTransmission predicted = resolve(&d);
    mjg_give(&d, mjgKEY_STARTING_BACKWARD, kSize[i].backdriving);
    mjgTransmission t = i == 2 ? transmissionOf("rt1_20_100") : resolve(&d);
    double v = kRatedSpeed / ratio;
    assertSame(kSize[i].rated / runningTorque(&t, kSize[i].rated, v), kSize[i].efficiency, 1e-9);
    assertSame(runningTorque(&t, 0, v) / ratio, kSize[i].running, 1e-9);
    assertSame(mjg_breakawayMotor(&t, 0, 1) / ratio, kSize[i].starting, 1e-9);
    assertSame(mjg_breakawayLoad(&t, 0, -1), kSize[i].backdriving, 1e-9);

    double back = mjg_breakawayLoad(&predicted, 0, -1);
    print_message("  backdriving torque %.3g N m, predicted %.3g\n", kSize[i].backdriving, back);
    assert_true(back > kSize[i].backdriving && back < 1.11 * kSize[i].backdriving);
  }
}


// Harmonic Drive's CSF-25-50-2UH: its torques as they are printed, the inertia of its wave generator at the output
static void strainWaveUnit(void** state) {
  mjgTransmission t = transmissionOf("csf_25_50");
  assertSame(mjg_breakawayMotor(&t, 0, 1) / 50, 0.15, 1e-12);
  assertSame(mjg_breakawayLoad(&t, 0, -1), 9, 1e-12);
  assertSame(t.armature, 50 * 50 * 0.413e-4, 1e-12);
  assertSame(39 / runningTorque(&t, 39, 0), 0.74, 0.01);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strainWaveSizes), cmocka_unit_test(strainWaveUnit),
      cmocka_unit_test(test_all),        cmocka_unit_test(test_locking),
      cmocka_unit_test(test_servoBound), cmocka_unit_test(test_servoM1),
      cmocka_unit_test(test_modules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdio.h>

#include "catalogue/types.h"
#include "one_description.h"

static const double kPi = 3.14159265358979323846;


static double read(int key, const char* text) {
  char lines[500];
  mjgReport report;
  mjg_startReport(&report, lines, sizeof(lines));
  double value = -1;
  if (mjg_readQuantity(&value, &report, mjg_keyInfo(key), text)) {
    fail_msg("%s", lines);
  }
  return value;
}


// the refusal of a text; the value is unchanged
static void refused(const mjgKeyInfo* info, const char* text, const char* line) {
  char lines[500];
  mjgReport report;
  mjg_startReport(&report, lines, sizeof(lines));
  double value = -1;
  assert_int_equal(mjg_readQuantity(&value, &report, info, text), -1);
  assert_int_equal(report.count, 1);
  lines[strcspn(lines, "\n")] = 0;
  assert_string_equal(lines, line);
  assert_true(value == -1);
}


static void test_units(void** state) {
  assert_true(read(mjgKEY_COULOMB, "0.5") == 0.5);
  assert_true(read(mjgKEY_COULOMB, "2Nm") == 2);
  assert_true(read(mjgKEY_COULOMB, "2 Nm") == 2);
  assert_true(read(mjgKEY_COULOMB, " 2 N m") == 2);
  assert_true(read(mjgKEY_COULOMB, "2 N") == 2);
  assertSame(read(mjgKEY_COULOMB, "30 mNm"), 0.03, 1e-15);
  assertSame(read(mjgKEY_MOTOR_INERTIA, "0.2 kgcm2"), 2e-5, 1e-15);
  assertSame(read(mjgKEY_MOTOR_INERTIA, "35gcm2"), 3.5e-6, 1e-15);
  assertSame(read(mjgKEY_MOTOR_INERTIA, "0.2 kg cm^2"), 2e-5, 1e-15);
  assert_true(read(mjgKEY_COULOMB, "2 N*m") == 2);
  assert_true(read(mjgKEY_COULOMB, "2 N\xc2\xb7m") == 2);
  assertSame(read(mjgKEY_LEAD_ANGLE, "5 deg"), kPi / 36, 1e-15);
  assertSame(read(mjgKEY_LEAD_ANGLE, "300 arcmin"), kPi / 36, 1e-15);
  assertSame(read(mjgKEY_LEAD_ANGLE, "5 degrees"), kPi / 36, 1e-15);
  assertSame(read(mjgKEY_ETA_FORWARD, "80 percent"), 0.8, 1e-15);
  assertSame(read(mjgKEY_STRIBECK_VELOCITY, "30 rpm"), kPi, 1e-15);
  assertSame(read(mjgKEY_ETA_FORWARD, "80 %"), 0.8, 1e-15);

  // the unit as the table of keys spells it
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    if (strcmp(info->unit, "1") != 0) {
      char text[40];
      snprintf(text, sizeof(text), "0.25 %s", info->unit);
      assert_true(read(key, text) == 0.25);
    }
  }
}


static void test_refused(void** state) {
  const mjgKeyInfo *coulomb = mjg_keyInfo(mjgKEY_COULOMB), *mu = mjg_keyInfo(mjgKEY_GAMMA_U);
  refused(coulomb, "much", "coulomb = 'much' is not a number; write one such as 0.5 or 20");
  refused(coulomb, "", "coulomb = '' is not a number; write one such as 0.5 or 20");
  refused(coulomb, "2 kgm2",
          "coulomb = '2 kgm2': unit 'kgm2' does not fit; write one of Nm, Ncm, mNm, N");
  refused(coulomb, "-2 Nm", "coulomb = -2 Nm is out of range; write a value of at least 0Nm");
  refused(mu, "0.2 N", "gamma_u = '0.2 N': unit 'N' does not fit; write one of %");
  refused(mjg_keyInfo(mjgKEY_LEAD_ANGLE), "95 deg",
          "lead_angle = 95 deg is out of range; write a value below 90deg");
  refused(mjg_keyInfo(mjgKEY_LEAD_ANGLE), "90 deg",
          "lead_angle = 90 deg is out of range; write a value below 90deg");
  refused(
      mjg_gapKeyInfo(1), "1e4 Nm",
      "stiffness = '1e4 Nm': unit 'Nm' does not fit; write the number without a unit, in N m/rad");
}


static void test_gapKeys(void** state) {
  assert_string_equal(mjg_gapKeyInfo(0)->name, "half_gap");
  assert_null(mjg_gapKeyInfo(-1));
  int n = 0;
  while (mjg_gapKeyInfo(n)) {
    assert_int_equal(mjg_keyFromName(mjg_gapKeyInfo(n)->name), -1);
    n++;
  }
  assert_null(mjg_gapKeyInfo(n + 1));
}


// each key is a separate number of a law, except for the last, the rotor's
static void test_gapNumbers(void** state) {
  mjgBacklash law = {.model = mjgEXACT};
  for (int k = 0; k < mjgiNGAPKEY; k++) {
    double* number = mjgi_gapNumber(&law, k);
    assert_int_equal(mjgi_gapKeyFromName(mjg_gapKeyInfo(k)->name), k);
    assert_int_equal(number == NULL, k == mjgiNGAPKEY - 1);
    if (number) {
      *number = k + 1;
    }
  }
  assert_null(mjg_gapKeyInfo(mjgiNGAPKEY));
  assert_string_equal(mjg_gapKeyInfo(mjgiNGAPKEY - 1)->name, "rotor_inertia");
  assert_true(law.half_gap == 1 && law.stiffness == 2 && law.damping == 3 && law.rubber == 4);
  assert_true(law.shaft_inertia == 5 && law.exponent == 6 && law.restitution == 7);
  assert_true(law.stiffness_2 == 8 && law.stiffness_3 == 9 && law.torque_1 == 10);
  assert_true(law.torque_2 == 11 && law.hysteresis == 12 && law.slip_torque == 13);
  assert_true(law.freewheel == 14 && law.model == mjgEXACT);

  int stiffness = mjgi_gapKeyFromName("stiffness"), slip = mjgi_gapKeyFromName("slip_torque");
  assert_true(mjgi_usesGapNumber(mjgEXACT, stiffness) && !mjgi_usesGapNumber(mjgEXACT, slip));
  assert_true(mjgi_usesGapNumber(mjgTORSION, slip));
  assert_int_equal(mjgi_gapKeyFromName("gap"), -1);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_gapKeys),
      cmocka_unit_test(test_gapNumbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

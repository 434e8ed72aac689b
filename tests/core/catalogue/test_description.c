// descriptions of one gear: their meaning, and the text of every refusal

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalogue/geometry.h"
#include "mjgear_report.h"

#include "one_description.h"

static const double kPi = 3.14159265358979323846;


//---------------------------------- meanings ------------------------------------------------------

static void test_efficiency(void** state) {
  mjgDescription d =
      describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.447, mjgKEY_ETA_BACKWARD, -0.214, -1);
  mjgTransmission t = resolve(&d);
  assertSame((1 - t.gamma_u) / (1 + t.gamma_v), 0.447, 1e-14);
  assertSame((1 - t.gamma_v) / (1 + t.gamma_u), -0.214, 1e-14);

  // forward alone: eta_b = 2 - 1/eta_f
  d = describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.8, -1);
  t = resolve(&d);
  assertSame((1 - t.gamma_v) / (1 + t.gamma_u), 2 - 1 / 0.8, 1e-14);
  assertSame((1 - t.gamma_u) / (1 + t.gamma_v), 0.8, 1e-14);

  // no friction
  d = describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 1.0, mjgKEY_ETA_BACKWARD, 1.0, -1);
  t = resolve(&d);
  assert_true(t.gamma_u == 0 && t.gamma_v == 0);
}


static void test_starting(void** state) {
  mjgDescription d = describe(mjgTYPE_AUTO, mjgKEY_STARTING_FORWARD, 2.0, mjgKEY_STARTING_BACKWARD,
                              5.0, mjgKEY_ETA_FORWARD, 0.7, mjgKEY_STATIC_RATIO, 1.4, -1);
  mjgTransmission t = resolve(&d);

  // the joint really starts at these torques, and slides with this efficiency
  assertSame(mjg_breakawayMotor(&t, 0, 1), 2, 1e-13);
  assertSame(mjg_breakawayLoad(&t, 0, -1), 5, 1e-13);
  assertSame((1 - t.gamma_u) / (1 + t.gamma_v), 0.7, 1e-13);

  // without the efficiency, and measured at the motor
  d = describe(mjgTYPE_AUTO, mjgKEY_MOTOR_STARTING, 0.02, mjgKEY_RATIO, 100.0,
               mjgKEY_STARTING_BACKWARD, 5.0, mjgKEY_STRIBECK_FRICTION, 0.5,
               mjgKEY_STRIBECK_VELOCITY, 0.1, -1);
  t = resolve(&d);
  assert_true(t.gamma_u == 0 && t.ratio == 100);
  assertSame(mjg_breakawayMotor(&t, 0, 1), 2, 1e-13);
  assertSame(mjg_breakawayLoad(&t, 0, -1), 5, 1e-13);

  // forward starting torque and efficiency
  d = describe(mjgTYPE_AUTO, mjgKEY_STARTING_FORWARD, 2.0, mjgKEY_ETA_FORWARD, 0.7, -1);
  t = resolve(&d);
  assertSame(mjg_breakawayMotor(&t, 0, 1), 2, 1e-13);
  assertSame((1 - t.gamma_v) / (1 + t.gamma_u), 2 - 1 / 0.7, 1e-13);
}


static void test_thread(void** state) {
  // a lead of 4 mm on 18 mm, given both ways; the paper's lead screw has no pressure angle
  mjgDescription d = describe(mjgTYPE_LEADSCREW, mjgKEY_LEAD, 0.004, mjgKEY_PITCH_DIAMETER, 0.018,
                              mjgKEY_MU, 0.15, -1);
  mjgTransmission t = resolve(&d);
  double slope = 0.004 / (kPi * 0.018);
  assertSame(t.gamma_u, 0.15 * slope, 1e-14);
  assertSame(t.gamma_v, 0.15 / slope, 1e-14);
  assertSame(t.ratio, 2 * kPi / 0.004, 1e-14);
  d = describe(mjgTYPE_LEADSCREW, mjgKEY_LEAD_ANGLE, atan(slope), mjgKEY_MU, 0.15, -1);
  mjgTransmission same = resolve(&d);
  assertSame(same.gamma_u, t.gamma_u, 1e-14);
  assertSame(same.gamma_v, t.gamma_v, 1e-14);
  assert_true(same.ratio == 0);

  d = describe(mjgTYPE_WORM, mjgKEY_LEAD_ANGLE, 5 * kPi / 180, mjgKEY_PRESSURE_ANGLE, kPi / 9,
               mjgKEY_MU, 0.1, -1);
  t = resolve(&d);
  assertSame((1 - t.gamma_u) / (1 + t.gamma_v), 0.447, 0.001);
  assertSame((1 - t.gamma_v) / (1 + t.gamma_u), -0.214, 0.002);
}


static void test_spur(void** state) {
  mjgDescription d =
      describe(mjgTYPE_SPUR, mjgKEY_RADIUS_IN, 0.02, mjgKEY_RADIUS_OUT, 0.05, mjgKEY_PRESSURE_ANGLE,
               0.35, mjgKEY_MU, 0.1, mjgKEY_CONTACT, 0.008, -1);
  mjgTransmission t = resolve(&d);

  // on a symmetric path the mean of |xi| is a quarter of its length, and the mean of
  // sgn(xi) is 0
  assertSame(t.gamma_u, 0.1 * 0.002 / (0.05 * cos(0.35)), 1e-14);
  assertSame(t.gamma_v, 0.1 * 0.002 / (0.02 * cos(0.35)), 1e-14);
  assertSame(t.ratio, 2.5, 1e-15);
  assert_true(t.mesh == 0);

  // by the module, following the teeth
  d = describe(mjgTYPE_SPUR, mjgKEY_RADIUS_IN, 0.02, mjgKEY_RADIUS_OUT, 0.05, mjgKEY_PRESSURE_ANGLE,
               0.35, mjgKEY_MU, 0.1, mjgKEY_MODULE, 0.002, mjgKEY_MESH, 1.0, -1);
  t = resolve(&d);
  mjgSpur path = {0.02, 0.05, 0.35, 0.1, 0, 0, 0};
  mjgi_spurPath(&path, 0.002, 0.002);
  assert_true(t.mesh == 1 && t.spur.approach == path.approach && t.spur.recess == path.recess);
  assertSame(t.spur.pitch, kPi * 0.002 * cos(0.35), 1e-15);
}


static void test_motorSide(void** state) {
  mjgDescription d = describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, 0.1, mjgKEY_GAMMA_V, 0.2, mjgKEY_RATIO,
                              50.0, mjgKEY_MOTOR_COULOMB, 0.01, mjgKEY_MOTOR_VISCOUS, 1e-4,
                              mjgKEY_MOTOR_INERTIA, 2e-5, -1);
  mjgTransmission t = resolve(&d);
  assertSame(t.coulomb, 0.5, 1e-14);
  assertSame(t.viscous, 0.25, 1e-14);
  assertSame(t.armature, 0.05, 1e-14);
}


// the inertia of the gear is added to the motor's, and their replacement is the sum at the output
static void test_inertias(void** state) {
  mjgDescription d = describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.9, mjgKEY_RATIO, 10.0,
                              mjgKEY_GEAR_INERTIA, 3e-5, -1);
  assertSame(resolve(&d).armature, 3e-3, 1e-14);
  mjg_forget(&d, mjgKEY_MOTOR_INERTIA);
  mjg_give(&d, mjgKEY_MOTOR_INERTIA, 1e-4);
  assertSame(resolve(&d).armature, 1.3e-2, 1e-14);
  mjg_forget(&d, mjgKEY_ARMATURE);
  mjg_give(&d, mjgKEY_ARMATURE, 0.5);
  assert_true(resolve(&d).armature == 0.5);

  // a thread by its lead takes another lead angle
  d = describe(mjgTYPE_LEADSCREW, mjgKEY_LEAD, 0.004, mjgKEY_PITCH_DIAMETER, 0.018, mjgKEY_MU, 0.1,
               -1);
  mjg_forget(&d, mjgKEY_LEAD_ANGLE);
  mjg_give(&d, mjgKEY_LEAD_ANGLE, 0.2);
  assertSame(resolve(&d).gamma_v, 0.1 / tan(0.2), 1e-14);
}


//---------------------------------- refusals ------------------------------------------------------

// the description is refused with this one line, and the transmission is untouched
static void refused(mjgDescription d, const char* line) {
  char text[2000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  mjgTransmission t, before;
  memset(&t, 17, sizeof(t));
  before = t;
  assert_int_equal(mjg_transmission(&t, &report, &d), 1);
  text[strcspn(text, "\n")] = 0;
  assert_string_equal(text, line);
  assert_memory_equal(&t, &before, sizeof(t));
}


static void test_refusedValues(void** state) {
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, -0.2, -1),
          "eta_forward = -0.2 would be a gear that no motor can drive; write a value above 0 and "
          "at most 1");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.0, -1),
          "eta_forward = 0 would be a gear that no motor can drive; write a value above 0 and at "
          "most 1");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 80.0, -1),
          "eta_forward = 80 is above 1; write 0.8 for 80 percent");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.8, mjgKEY_ETA_BACKWARD, 1.2, -1),
          "eta_backward = 1.2 would be a gear that creates energy; write a value of at most 1");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.8, mjgKEY_ETA_BACKWARD, 1.0, -1),
          "eta_backward is 1 and eta_forward is 0.8, but a gear without loss in one direction has "
          "none in the other; write both as 1 or both below 1");
  refused(describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, (double)NAN, mjgKEY_GAMMA_V, 1.0, -1),
          "gamma_u is not a finite number; write a number");
  refused(describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, 0.1, mjgKEY_GAMMA_V, 1e308, -1),
          "gamma_v = 1e+308 is more than any gear has; check its unit");
  refused(
      describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, -0.5, mjgKEY_GAMMA_V, 0.2, -1),
      "gamma_u + gamma_v = -0.3 is negative, which means the same gear with both signs changed; "
      "write gamma_u = 0.5 and gamma_v = -0.2");
  refused(describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, 0.1, mjgKEY_GAMMA_V, -1.0, -1),
          "gamma_v = -1 is out of range; write a value above -1");
  refused(describe(mjgTYPE_AUTO, mjgKEY_COULOMB, -1.0, -1),
          "coulomb = -1 is out of range; write a value of at least 0");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STATIC_RATIO, 0.9, -1),
          "static_ratio = 0.9 is out of range; write a value of at least 1");
  refused(describe(mjgTYPE_LEADSCREW, mjgKEY_LEAD_ANGLE, 5.0, mjgKEY_MU, 0.1, -1),
          "lead_angle = 5 is too large; it is in radians, write 0.0872665 for 5 degrees");
  refused(
      describe(mjgTYPE_SPUR, mjgKEY_RADIUS_IN, 0.02, mjgKEY_RADIUS_OUT, 0.04, mjgKEY_PRESSURE_ANGLE,
               0.35, mjgKEY_MU, 0.1, mjgKEY_CONTACT, 1.6, -1),
      "contact = 1.6 is longer than the line of action, 0.0137159; it is the length in m of the "
      "path of contact, not the contact ratio");
  refused(describe(mjgTYPE_SPUR, mjgKEY_RADIUS_IN, 0.01, mjgKEY_RADIUS_OUT, 0.2,
                   mjgKEY_PRESSURE_ANGLE, 0.35, mjgKEY_MU, 0.1, mjgKEY_MODULE, 0.002, -1),
          "module = 0.002 gives the smaller gear 10 teeth, and full-depth teeth interfere there; "
          "write a smaller module, or contact for other teeth");
  refused(describe(mjgTYPE_SPUR, mjgKEY_RADIUS_IN, 0.01, mjgKEY_RADIUS_OUT, 0.2,
                   mjgKEY_PRESSURE_ANGLE, 0.0, mjgKEY_MU, 0.1, mjgKEY_CONTACT, 0.001, -1),
          "pressure_angle is 0, but involute teeth need one; write 0.349 for 20 degrees");
}


static void test_refusedContradictions(void** state) {
  refused(describe(mjgTYPE_WORM, mjgKEY_GAMMA_U, 0.1, mjgKEY_LEAD_ANGLE, 0.1, mjgKEY_PRESSURE_ANGLE,
                   0.3, mjgKEY_MU, 0.1, -1),
          "gamma_u contradicts type worm; remove one of them");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_FORWARD, 0.8, mjgKEY_GAMMA_V, 0.1, -1),
          "gamma_v contradicts type efficiency; remove one of them");
  refused(describe(mjgTYPE_WORM, mjgKEY_LEAD_ANGLE, 0.1, mjgKEY_LEAD, 0.01, mjgKEY_PITCH_DIAMETER,
                   0.02, mjgKEY_PRESSURE_ANGLE, 0.3, mjgKEY_MU, 0.1, -1),
          "lead_angle and lead say the same twice; remove one of them");
  refused(
      describe(mjgTYPE_AUTO, mjgKEY_COULOMB, 0.1, mjgKEY_MOTOR_COULOMB, 0.1, mjgKEY_RATIO, 2.0, -1),
      "coulomb and motor_coulomb say the same twice; remove one of them");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STRIBECK_VELOCITY, 0.1, -1),
          "stribeck_velocity has no effect; write stribeck_friction or gamma_v_stribeck, or remove "
          "it");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STARTING_FORWARD, 5.0, mjgKEY_STARTING_BACKWARD, 2.0, -1),
          "starting_backward = 2 is below the forward starting torque at the output, 5; a torque "
          "measured at the motor is motor_starting, with ratio");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STARTING_FORWARD, 2.0, mjgKEY_STARTING_BACKWARD, 5.0,
                   mjgKEY_STRIBECK_FRICTION, 3.0, mjgKEY_STRIBECK_VELOCITY, 1.0, -1),
          "stribeck_friction = 3 is more than all friction at rest, 2; write less");
}


static void test_refusedMissing(void** state) {
  refused(describe(mjgTYPE_AUTO, mjgKEY_GAMMA_U, 0.1, -1),
          "gamma_v is missing, which gamma_u needs; write its value in numbers");
  refused(describe(mjgTYPE_AUTO, mjgKEY_ETA_BACKWARD, 0.1, -1),
          "eta_forward is missing, which type efficiency needs; write its value "
          "in numbers");
  refused(
      describe(mjgTYPE_AUTO, mjgKEY_MU, 0.1, -1),
      "mu is given, but the type of the gear is not; write type leadscrew, worm, spur, wedge or "
      "capstan");
  refused(describe(mjgTYPE_WORM, mjgKEY_LEAD_ANGLE, 0.1, mjgKEY_MU, 0.1, -1),
          "pressure_angle is missing, which type worm needs; write its value in rad");
  refused(describe(mjgTYPE_LEADSCREW, mjgKEY_LEAD, 0.1, mjgKEY_MU, 0.1, -1),
          "pitch_diameter is missing, which lead needs; write its value in m");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STRIBECK_FRICTION, 0.1, -1),
          "stribeck_velocity is missing, which friction that falls with velocity needs; write its "
          "value in rad/s");
  refused(describe(mjgTYPE_AUTO, mjgKEY_MOTOR_COULOMB, 0.1, -1),
          "ratio is missing, which motor_coulomb needs; write its value in numbers");
  refused(describe(mjgTYPE_AUTO, mjgKEY_STARTING_FORWARD, 0.1, -1),
          "the forward starting torque alone does not tell how friction depends on load; write "
          "starting_backward, eta_forward or both, or coulomb instead of it");
  refused(describe(99, -1), "unknown type 99; use one of mjgType");
}


// all problems at once, each on its line, with where it is
static void test_allProblems(void** state) {
  char text[2000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  report.where = "joint 'elbow'";
  mjgDescription d = describe(mjgTYPE_WORM, mjgKEY_LEAD_ANGLE, 5.0, mjgKEY_PRESSURE_ANGLE, 20.0,
                              mjgKEY_COULOMB, -1.0, mjgKEY_ETA_FORWARD, 0.5, -1);
  mjgTransmission t;
  assert_int_equal(mjg_transmission(&t, &report, &d), 5);
  assert_string_equal(
      text,
      "joint 'elbow': lead_angle = 5 is too large; it is in radians, write 0.0872665 for 5 "
      "degrees\n"
      "joint 'elbow': pressure_angle = 20 is too large; it is in radians, write 0.349066 for 20 "
      "degrees\n"
      "joint 'elbow': coulomb = -1 is out of range; write a value of at least 0\n"
      "joint 'elbow': eta_forward contradicts type worm; remove one of them\n"
      "joint 'elbow': mu is missing, which type worm needs; write its value in numbers\n");
}


// numbers that overflow are refused in a line, both ways
static void test_overflow(void** state) {
  char text[1000];
  mjgReport report;
  mjgTransmission t = {.ratio = 7};
  mjgDescription d =
      describe(mjgTYPE_EFFICIENCY, mjgKEY_ETA_FORWARD, 1e-320, mjgKEY_RATIO, 10.0, -1);
  mjg_startReport(&report, text, sizeof(text));
  assert_int_equal(mjg_transmission(&t, &report, &d), 1);
  assert_non_null(strstr(text, "is less than any gear has"));
  d = describe(mjgTYPE_COEFFICIENTS, mjgKEY_MOTOR_INERTIA, 1e60, mjgKEY_RATIO, 1e60, -1);
  mjg_startReport(&report, text, sizeof(text));
  assert_int_equal(mjg_transmission(&t, &report, &d), 1);
  assert_non_null(strstr(text, "coefficients that overflow"));
  assert_true(t.ratio == 7);

  mjg_defaultTransmission(&t);
  t.gamma_u = 1 - 1e-16;
  t.gamma_v = 0.5;
  t.coulomb = 1e308;
  mjgDescription starting = {.type = mjgTYPE_STARTING};
  mjg_startReport(&report, text, sizeof(text));
  assert_int_equal(mjg_describe(&starting, &report, &t), 1);
  assert_int_equal(starting.given[mjgKEY_STARTING_FORWARD], 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_efficiency),
      cmocka_unit_test(test_starting),
      cmocka_unit_test(test_thread),
      cmocka_unit_test(test_spur),
      cmocka_unit_test(test_motorSide),
      cmocka_unit_test(test_inertias),
      cmocka_unit_test(test_refusedValues),
      cmocka_unit_test(test_refusedContradictions),
      cmocka_unit_test(test_refusedMissing),
      cmocka_unit_test(test_allProblems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

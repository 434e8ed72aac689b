// other descriptions of a transmission: round trips through all types, and transmissions without a
// description

#include "draw.h"
#include "one_description.h"
#include "transmissions.h"


//---------------------------------- round trips ---------------------------------------------------

// coefficients, there and back through every type that can hold them, to 1e-12. Efficiencies near 1
// hold small coefficients to the rounding of 1 only, so the error is measured against 1.
static void test_roundTrips(void** state) {
  static const int types[] = {mjgTYPE_COEFFICIENTS, mjgTYPE_EFFICIENCY, mjgTYPE_STARTING,
                              mjgTYPE_LEADSCREW,    mjgTYPE_WORM,       mjgTYPE_SPUR};
  int done[mjgNTYPE] = {0};
  for (int trial = 0; trial < 2000; trial++) {
    int spur = trial % 4 == 0;
    mjgTransmission t =
        makeTransmission((spur ? 0.02 : 0.9) * draw(0.01, 1), (spur ? 0.05 : 1.5) * draw(0.01, 1),
                         draw(0.1, 1.1), trial % 3 ? 1 : draw(1, 1.1));
    t.viscous = draw(0, 1);
    t.armature = draw(0, 1);
    t.ratio = draw(0, 100);
    if (trial % 2) {
      t.oneway = trial % 4 == 1 ? 1 : -1;
      t.stribeck_friction = 0.05;
      t.stribeck_velocity = 0.3;
      t.stribeck_exponent = 1.2;
      t.curved_friction = 0.2;
      t.curved_velocity = 0.7;
      t.curved_exponent = 0.6;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
      mjgDescription d = describe(types[i], mjgKEY_PRESSURE_ANGLE, 0.35, mjgKEY_MU, 0.1,
                                  mjgKEY_RADIUS_IN, 0.02, -1);
      mjgReport report;
      mjg_startReport(&report, NULL, 0);
      if (mjg_describe(&d, &report, &t) != 0) {
        continue;
      }
      mjgTransmission back = resolve(&d);
      assertSame(1 + back.gamma_u, 1 + t.gamma_u, 1e-12);
      assertSame(1 + back.gamma_v, 1 + t.gamma_v, 1e-12);
      assertSame(back.coulomb, t.coulomb, 1e-12);
      assert_true(back.static_ratio == t.static_ratio && back.viscous == t.viscous &&
                  back.armature == t.armature && back.ratio == t.ratio && back.oneway == t.oneway &&
                  back.stribeck_friction == t.stribeck_friction &&
                  back.stribeck_velocity == t.stribeck_velocity &&
                  back.stribeck_exponent == t.stribeck_exponent &&
                  back.curved_friction == t.curved_friction &&
                  back.curved_velocity == t.curved_velocity &&
                  back.curved_exponent == t.curved_exponent);
      done[types[i]]++;
    }
  }

  // must be many
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
    assert_true(done[types[i]] > 100);
  }
}


// all load-dependent Stribeck terms survive; a description that cannot hold them is refused
static void test_roundTripStribeck(void** state) {
  mjgTransmission t = makeStribeck();
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  mjgDescription d = describe(mjgTYPE_EFFICIENCY, -1);
  assert_int_equal(mjg_describe(&d, &report, &t), 0);
  mjgTransmission back = resolve(&d);
  assertSame(back.gamma_u, t.gamma_u, 1e-12);
  assertSame(back.gamma_v, t.gamma_v, 1e-12);
  back.gamma_u = t.gamma_u;
  back.gamma_v = t.gamma_v;
  assert_memory_equal(&back, &t, sizeof(t));
  d = describe(mjgTYPE_STARTING, -1);
  assert_int_equal(mjg_describe(&d, &report, &t), 1);
}


//---------------------------------- refusals ------------------------------------------------------

// a refusal names the reason
static void test_cannotDescribe(void** state) {
  mjgTransmission t = makeTransmission(-0.1, 0.3, 0, 1);
  const struct {
    int type;
    const char* line;
  } cases[] = {
      {mjgTYPE_LEADSCREW,
       "no leadscrew has gamma_u = -0.1 and gamma_v = 0.3, both must be positive; "
       "describe it as type coefficients\n"},
      {mjgTYPE_WORM, "a worm's pressure_angle is not in the coefficients; give it\n"},
      {mjgTYPE_SPUR, "a spur gear's pressure_angle is not in the coefficients; give it\n"},
      {mjgTYPE_STARTING,
       "without load-independent friction there is no starting torque; describe it "
       "as type efficiency\n"},
      {77, "unknown type 77; use one of mjgType\n"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char text[500];
    mjgReport report;
    mjg_startReport(&report, text, sizeof(text));
    mjgDescription d = describe(cases[i].type, -1);
    assert_int_equal(mjg_describe(&d, &report, &t), 1);
    assert_string_equal(text, cases[i].line);
  }

  // a gear that locks has no backward starting torque
  t = makeTransmission(0.1, 1.1, 1, 1);
  char text[500];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  mjgDescription d = describe(mjgTYPE_STARTING, -1);
  assert_int_equal(mjg_describe(&d, &report, &t), 1);
  assert_string_equal(text,
                      "the gear locks, so that no torque starts it backward; describe it as "
                      "type efficiency\n");
  t.gamma_u = 1;
  mjg_startReport(&report, text, sizeof(text));
  d = describe(mjgTYPE_EFFICIENCY, -1);
  assert_int_equal(mjg_describe(&d, &report, &t), 1);
  assert_string_equal(text,
                      "with gamma_u = 1 the motor alone cannot drive the gear, which has no "
                      "forward efficiency; describe it as type coefficients\n");
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roundTrips),
      cmocka_unit_test(test_roundTripStribeck),
      cmocka_unit_test(test_cannotDescribe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

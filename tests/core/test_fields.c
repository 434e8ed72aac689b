// Every field of every struct of the core with invalid values: each 8 bytes get each bad number,
// each 4 bytes each bad count, so that no field is forgotten. A call refuses them, or its
// results are finite and friction is passive.

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "mjgear_backlash.h"
#include "mjgear_paper.h"
#include "mjgear_report.h"

static const double kNumber[] = {NAN,   INFINITY, -INFINITY,    -1,     0,       -3.5,
                                 1e308, -1e308,   DBL_TRUE_MIN, 1e-310, -1e-310, 1e150};
static const int kCount[] = {INT_MIN, -1, 9, 1000, INT_MAX};

// result of a struct with a bad field; returns 1 if it was accepted
typedef int (*Try)(void* object);

// Try an object of so many bytes, from a byte on, with each bad value in each place.
// Returns the number of accepted values
static int walk(void* object, size_t size, size_t first, Try try) {
  int taken = 0;
  for (size_t at = first; at < size; at += 4) {
    unsigned char kept[8];
    for (size_t k = 0; k < sizeof(kNumber) / sizeof(*kNumber) && at % 8 == 0; k++) {
      memcpy(kept, (char*)object + at, 8);
      memcpy((char*)object + at, kNumber + k, 8);
      taken += try(object);
      memcpy((char*)object + at, kept, 8);
    }
    for (size_t k = 0; k < sizeof(kCount) / sizeof(*kCount); k++) {
      memcpy(kept, (char*)object + at, 4);
      memcpy((char*)object + at, kCount + k, 4);
      taken += try(object);
      memcpy((char*)object + at, kept, 4);
    }
  }
  return taken;
}


//---------------------------------- gears ---------------------------------------------------------

// a gear that has a bit of everything
static mjgDescription describe(void) {
  mjgDescription d;
  mjgReport report;
  mjg_defaultDescription(&d);
  mjg_startReport(&report, NULL, 0);
  mjg_give(&d, mjgKEY_GAMMA_U, 0.2);
  mjg_give(&d, mjgKEY_GAMMA_V, 0.3);
  mjg_give(&d, mjgKEY_COULOMB, 1);
  mjg_give(&d, mjgKEY_STATIC_RATIO, 1.5);
  mjg_give(&d, mjgKEY_STRIBECK_FRICTION, 0.5);
  mjg_give(&d, mjgKEY_STRIBECK_VELOCITY, 0.1);
  mjg_give(&d, mjgKEY_CURVED_FRICTION, 0.5);
  mjg_give(&d, mjgKEY_ONEWAY, 1);
  mjg_give(&d, mjgKEY_TOOTH_PITCH, 0.1);
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    assert_int_equal(mjg_readTable(&d.table[kind], &report, kind, "0 1 2 0.5"), 0);
  }
  return d;
}


// properties of an accepted gear
static void assertHolds(const mjgTransmission* gear) {
  for (int k = 0; k < 4; k++) {
    double gamma_u, gamma_v, coulomb;
    mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, gear, 0.1 * k, 0.7 * k, 1, 2 - k);
    assert_true(gamma_u > -1 && gamma_v > -1 && coulomb >= 0);
  }
  assert_in_range(mjg_sticks(gear, 1, 1), 0, 1);
  assert_false(isnan(mjg_breakawayMotor(gear, 1, 1)) || isnan(mjg_breakawayMotor(gear, 1, -1)));
  assert_false(isnan(mjg_breakawayLoad(gear, 1, 1)) || isnan(mjg_breakawayLoad(gear, 1, -1)));
}


static int tryGear(void* object) {
  const mjgTransmission* gear = object;
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  mjgDescription d;
  mjg_defaultDescription(&d);
  mjgFacts facts;
  mjg_explain(&facts, gear, 1, 1);
  if (mjg_checkTransmission(&report, gear) == 0) {
    assertHolds(gear);
    return 1;
  }
  assert_true(report.count > 0 && mjg_describe(&d, &report, gear) > 0);
  assert_int_equal(mjg_sticks(gear, 1, 1), mjgERR_ARGUMENT);
  assert_true(isnan(mjg_breakawayMotor(gear, 1, 1)) && isnan(mjg_breakawayLoad(gear, 1, 1)));
  assert_true(isnan(facts.raise) && isnan(facts.hold_high) && isnan(facts.start_backward));
  return 0;
}


static int tryDescription(void* object) {
  mjgTransmission gear;
  mjgReport report;
  memset(&gear, 0x5A, sizeof(gear));
  mjgTransmission untouched = gear;
  mjg_startReport(&report, NULL, 0);
  if (mjg_transmission(&gear, &report, object)) {
    assert_memory_equal(&gear, &untouched, sizeof(gear));
    return 0;
  }
  assertHolds(&gear);
  return 1;
}


static void gears(void** state) {
  mjgDescription d = describe();
  mjgTransmission gear;
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  assert_int_equal(mjg_transmission(&gear, &report, &d), 0);
  assert_true(tryGear(&gear) && tryDescription(&d));
  walk(&gear, sizeof(gear), 0, tryGear);
  walk(&d, sizeof(d), 0, tryDescription);

  // a description of each type, whose numbers are not members of the gear
  static const double half = 0.5;
  for (int type = 1; type < mjgNTYPE; type++) {
    mjg_defaultDescription(&d);
    d.type = type;
    for (int key = 0; key < mjgNKEY; key++) {
      mjgDescription with = d;
      mjg_give(&with, key, half);
      size_t at = offsetof(mjgDescription, value) + sizeof(double) * (size_t)key;
      walk(&with, at + sizeof(double), at, tryDescription);
    }
  }

  // and whole descriptions of all types that presets have
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    assert_int_equal(mjg_preset(&preset, i), 0);
    assert_true(tryDescription(&preset.description));
    walk(&preset.description, sizeof(preset.description), 0, tryDescription);
  }

  // teeth of a mesh
  mjg_defaultTransmission(&gear);
  gear.mesh = 1;
  gear.spur = (mjgSpur){.02, .08, .35, .1, .003, .003, .004};
  assert_true(tryGear(&gear));
  walk(&gear, sizeof(gear), 0, tryGear);
}


// tables of a description in C are checked like tables in a text
static void tables(void** state) {
  static const mjgTable wrong[] = {{2, {0, 2}, {1, NAN}},
                                   {2, {0, 2}, {1, -5}},
                                   {3, {2, 1, 0}, {1, 2, 3}},
                                   {2, {1, 1}, {1, 1}},
                                   {-1, {0}, {1}},
                                   {mjgMAXPOINT + 1, {0, 1, 2, 3, 4, 5, 6, 7}, {8}},
                                   {2, {NAN, 2}, {1, 1}},
                                   {1, {-1}, {1}},
                                   {1000, {0}, {1}},
                                   {2, {0, INFINITY}, {1, 1}}};
  for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
    mjgDescription d = describe();
    d.table[mjgTABLE_GAMMA_SPEED] = wrong[k];
    mjgTransmission gear;
    mjgReport report;
    char text[200];
    mjg_startReport(&report, text, sizeof(text));
    assert_int_equal(mjg_transmission(&gear, &report, &d), 1);
    assert_non_null(strstr(text, "table gamma_speed"));
  }

  // below 0 there are temperatures
  mjgDescription d = describe();
  mjgTransmission gear;
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  d.table[mjgTABLE_GAMMA_TEMPERATURE] = (mjgTable){2, {-40, 60}, {2, 1}};
  assert_int_equal(mjg_transmission(&gear, &report, &d), 0);
}


//---------------------------------- problems ------------------------------------------------------

// a problem of two joints
static struct Pair {
  double v[2], A[4], phi[2], alpha[2], beta[2], coulomb[2], ratio[2], v0[2];
  mjgProblem problem;
} pair;
static Room room;

static void openPair(void) {
  pair = (struct Pair){.v = {1, -2},
                       .A = {1, .3, .3, 2},
                       .phi = {.5, 1},
                       .alpha = {.2, .1},
                       .beta = {.3, 0},
                       .coulomb = {.1, 0},
                       .ratio = {1.5, 1},
                       .v0 = {.1, 0}};
  pair.problem = (mjgProblem){.n = 2,
                              .v = pair.v,
                              .A = pair.A,
                              .phi = pair.phi,
                              .alpha = pair.alpha,
                              .beta = pair.beta,
                              .coulomb = pair.coulomb,
                              .static_ratio = pair.ratio,
                              .v0 = pair.v0};
}


// the problem with any content: refused, or solved with finite numbers that the certificate,
// independent of solvers, confirms
static int tryPair(void* object) {
  (void)object;
  memset(room.t, 0, sizeof(room.t));
  int status = mjg_solve(&room.solution, NULL, &pair.problem, &room.settings, room.work);
  if (status < 0) {
    return 0;
  }
  if (status <= mjgJAMMED) {
    for (int i = 0; i < 2; i++) {
      assert_true(isfinite(room.t[i]) && isfinite(room.v[i]) && isfinite(room.lambda[i]));
    }
    mjgCertificate certificate;
    assert_int_equal(
        mjg_certify(&certificate, NULL, &pair.problem, &room.solution, 1e-6, room.work), mjgSOLVED);
    assert_true(certificate.valid);
  }
  return 1;
}


static void problems(void** state) {
  openRoom(&room);
  openPair();
  assert_true(tryPair(NULL));
  double* array[] = {pair.v,    pair.A,       pair.phi,   pair.alpha,
                     pair.beta, pair.coulomb, pair.ratio, pair.v0};
  for (size_t k = 0; k < sizeof(array) / sizeof(*array); k++) {
    walk(array[k], (k == 1 ? 4 : 2) * sizeof(double), 0, tryPair);
  }
  closeRoom(&room);
}


// a diagonal of A that is not positive is refused
static void diagonals(void** state) {
  openRoom(&room);
  static const double diagonal[] = {-1, -DBL_TRUE_MIN, 0};
  for (int k = 0; k < 3; k++) {
    openPair();
    pair.A[1] = pair.A[2] = 0;
    pair.A[3] = diagonal[k];
    assert_int_equal(mjg_solve(&room.solution, NULL, &pair.problem, &room.settings, room.work),
                     mjgERR_NOT_PD);
  }
  closeRoom(&room);
}


static void settings(void** state) {
  openRoom(&room);
  openPair();
  walk(&room.settings, sizeof(room.settings), 0, tryPair);

  // sizes of a problem
  static const int wrong[] = {INT_MIN, -1, INT_MAX};
  for (int k = 0; k < 3; k++) {
    openPair();
    pair.problem.n = wrong[k];
    assert_int_equal(tryPair(NULL), 0);
    openPair();
    pair.problem.nblock = wrong[k];
    assert_int_equal(tryPair(NULL), 0);
  }
  closeRoom(&room);
}


static double constants[3];

static int tryJoints(void* object) {
  (void)object;
  mjgJoints joints = {constants, constants + 1, constants + 2};
  double M = 2, u = 1, f = 0.5, v = 0.1, next = 7, P = 7;
  int status =
      mjg_step(&next, NULL, NULL, &M, &u, &f, &v, &joints, 1e-3, 1, &room.settings, room.work);
  assert_true(mjg_P(&P, &M, &joints, 1) < 0 ? P == 7 : isfinite(P));
  assert_true(status < 0 ? next == 7 : isfinite(next));
  return status >= 0;
}


static void joints(void** state) {
  openRoom(&room);
  constants[0] = constants[1] = constants[2] = 0.1;
  assert_true(tryJoints(NULL));
  walk(constants, sizeof(constants), 0, tryJoints);
  closeRoom(&room);
}


//---------------------------------- numbers alone -------------------------------------------------

static void scalars(void** state) {
  double lambda[2] = {7, 7};

  // phi/(1 - rho) overflows
  assert_int_equal(mjg_lambdaSet(lambda, 1e308, 0.5), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_lambdaSet(lambda, -1e308, -0.5), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_lambdaSet(lambda, NAN, 0.5), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_lambdaSet(lambda, 1, NAN), mjgERR_NOT_FINITE);
  assert_true(lambda[0] == 7 && lambda[1] == 7);
  assert_int_equal(mjg_lambdaSet(lambda, 1, 1), 0);
  assert_int_equal(mjg_lambdaSet(lambda, 1, -1), 1);
  assert_true(isnan(mjg_lambdaStick(1e308, 0.5)) && isnan(mjg_lambdaStick(NAN, 0.5)));
  assert_true(mjg_lambdaStick(1, 1) == INFINITY && mjg_lambdaStick(-1, -1) == -INFINITY);
  assert_true(isnan(mjg_PhiScalar(2, 1, 0.5)) && isnan(mjg_PhiScalar(NAN, 1, 0.5)));
  assert_true(isnan(mjg_preslidingCompliance(-1, 1e-3)) &&
              isnan(mjg_preslidingCompliance(NAN, 1e-3)) && isnan(mjg_preslidingCompliance(1, 0)));
  assert_true(mjg_preslidingCompliance(DBL_TRUE_MIN, 1e-3) == INFINITY);
  assert_true(mjg_preslidingCompliance(0, 1e-3) == 0 &&
              mjg_preslidingCompliance(INFINITY, 1e-3) == 0);

  // torques of a sound gear
  mjgTransmission gear;
  mjg_defaultTransmission(&gear);
  gear.coulomb = 1;
  assert_int_equal(mjg_sticks(&gear, NAN, 0), mjgERR_NOT_FINITE);
  assert_int_equal(mjg_sticks(&gear, 0, INFINITY), mjgERR_NOT_FINITE);
  assert_true(isnan(mjg_breakawayMotor(&gear, NAN, 1)) &&
              isnan(mjg_breakawayLoad(&gear, INFINITY, 1)));

  // the bound itself holds a joint, (23): a larger torque moves it
  assert_int_equal(mjg_sticks(&gear, 1, 0), 1);
  assert_int_equal(mjg_sticks(&gear, -1, 0), 1);
  assert_int_equal(mjg_sticks(&gear, 1 + DBL_EPSILON, 0), 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gears),     cmocka_unit_test(tables),   cmocka_unit_test(problems),
      cmocka_unit_test(diagonals), cmocka_unit_test(settings), cmocka_unit_test(joints),
      cmocka_unit_test(scalars),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Promises of mjgear.h for all functions: null pointers, invalid sizes and numbers are refused, and
// nothing is written. Every function of the public headers is here.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "mjgear_backlash.h"
#include "mjgear_paper.h"
#include "mjgear_report.h"

// functions that were called, for the test that none is left out
static const char* called[200];
static int ncalled = 0;

static void note(const char* call) {
  if (ncalled < (int)(sizeof(called) / sizeof(*called))) {
    called[ncalled++] = call;
  }
}

// a call that must be refused, as an int, as a number, as a pointer, and one that returns nothing
#define REFUSED(call)    note(#call), assert_int_equal(call, mjgERR_ARGUMENT)
#define NO_NUMBER(call)  note(#call), assert_true(isnan(call))
#define NO_POINTER(call) note(#call), assert_null(call)
#define NOTHING(call)    note(#call), call

// a call with only valid arguments
#define FINE(call) note(#call), assert_true((call) >= 0)


static void scalars(void** state) {
  double a = 7, b = 8;
  REFUSED(mjg_efficiencies(NULL, &b, 0.1, 0.2));
  REFUSED(mjg_efficiencies(&a, NULL, 0.1, 0.2));
  REFUSED(mjg_coefficients(NULL, &b, 0.9, 0.8));
  REFUSED(mjg_coefficients(&a, NULL, 0.9, 0.8));
  REFUSED(mjg_lambdaSet(NULL, 1, 0.5));
  REFUSED(mjg_stepScalar(NULL, &b, 0, 0, 0, 0, 0, 1, 1, 1));
  FINE(mjg_stepScalar(&a, NULL, 0, 0, 0, 0, 0, 1, 1, 1));
  a = 7;
  NOTHING(mjg_addPresliding(NULL, &b, 1, 1));
  NOTHING(mjg_addPresliding(&a, NULL, 1, 1));
  REFUSED(mjg_screw(NULL, &b, 0.1, 0, 0.1));
  REFUSED(mjg_screw(&a, NULL, 0.1, 0, 0.1));
  assert_true(a == 7 && b == 8);

  // numbers alone: nothing to be null
  FINE(mjg_rho(0.1, 0.1, 1, 0) - 0.1);
  FINE(mjg_phi(1, 1, 0.1, 0.1, 0));
  FINE(mjg_lambdaStick(1, 0.5));
  FINE(mjg_PhiScalar(1, 1, 0.5));
  FINE(mjg_preslidingCompliance(1, 1));
  FINE(mjg_preslidingVelocity(1, 1, 1, 1));
  FINE(mjg_preslidingSlip(1, 1, 1, 1));
  FINE(mjg_arcmin(1));
  FINE(mjg_alphaFromRestitution(0.5, 1));
  FINE(mjg_restitutionFromAlpha(0.5, 1));
}


static void names(void** state) {
  static const char* const list[] = {"alpha", NULL, "beta"};
  FINE(*mjg_version());
  FINE(*mjg_statusString(INT_MIN));
  NO_POINTER(mjg_solverName(-1));
  REFUSED(mjg_solverFromName(NULL));
  NO_POINTER(mjg_keyInfo(-1));
  NO_POINTER(mjg_gapKeyInfo(-1));
  REFUSED(mjg_keyFromName(NULL));
  REFUSED(mjg_keyNearest(NULL));
  REFUSED(mjg_nearest(NULL, list, 3));
  REFUSED(mjg_nearest("alpha", NULL, 3));
  assert_int_equal(mjg_nearest("betta", list, 3), 2);
  NO_POINTER(mjg_typeName(mjgNTYPE));
  REFUSED(mjg_typeFromName(NULL));
  REFUSED(mjg_presetFromName(NULL));
  NO_POINTER(mjg_backlashName(mjgNBACKLASH));
  REFUSED(mjg_backlashModel(NULL));
  FINE(mjg_presetCount());
}


static void solving(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem p;
  uint64_t seed = 1;
  oracleDraw draw = {.n = 2, .gamma_max = 0.9};
  oracle_draw(&p, &draw, &seed);
  mjgProblem* problem = &p.problem;
  mjgSolution* solution = &room.solution;
  NOTHING(mjg_defaultSettings(NULL));
  assert_true(mjg_memsize(2, 2) > 0);
  note("mjg_memsize()");
  NO_POINTER(mjg_create(NULL, 1 << 20, 2, 2));
  REFUSED(mjg_solve(NULL, NULL, problem, &room.settings, room.work));
  REFUSED(mjg_solve(solution, NULL, NULL, &room.settings, room.work));
  REFUSED(mjg_solve(solution, NULL, problem, NULL, room.work));
  REFUSED(mjg_solve(solution, NULL, problem, &room.settings, NULL));
  FINE(mjg_solve(solution, NULL, problem, &room.settings, room.work));
  mjgCertificate certificate;
  REFUSED(mjg_certify(NULL, NULL, problem, solution, 1e-9, room.work));
  REFUSED(mjg_certify(&certificate, NULL, NULL, solution, 1e-9, room.work));
  REFUSED(mjg_certify(&certificate, NULL, problem, NULL, 1e-9, room.work));
  REFUSED(mjg_certify(&certificate, NULL, problem, solution, 1e-9, NULL));

  // every array of a result, and of a problem without an alternative form
  double** numbers[] = {&solution->t, &solution->v, &solution->lambda};
  for (int i = 0; i < 3; i++) {
    double* kept = *numbers[i];
    *numbers[i] = NULL;
    REFUSED(mjg_solve(solution, NULL, problem, &room.settings, room.work));
    REFUSED(mjg_certify(&certificate, NULL, problem, solution, 1e-9, room.work));
    *numbers[i] = kept;
  }
  solution->mode = NULL;
  REFUSED(mjg_solve(solution, NULL, problem, &room.settings, room.work));
  solution->mode = room.mode;
  const double** data[] = {&problem->v, &problem->A, &problem->phi, &problem->alpha,
                           &problem->beta};
  problem->P = NULL;
  for (int i = 0; i < 5; i++) {
    const double* kept = *data[i];
    *data[i] = NULL;
    REFUSED(mjg_solve(solution, NULL, problem, &room.settings, room.work));
    REFUSED(mjg_certify(&certificate, NULL, problem, solution, 1e-9, room.work));
    *data[i] = kept;
  }
  closeRoom(&room);
}


static void paper(void** state) {
  Room room;
  openRoom(&room);
  double M[4] = {2, 0.5, 0.5, 1}, x[2] = {0.1, 0.2}, y[2] = {7, 7}, P[4] = {7};
  mjgJoints joints = {x, x, x};
  mjgSettings* settings = &room.settings;
  mjgWorkspace* work = room.work;
  REFUSED(mjg_lambda(NULL, NULL, x, M, 2, 0, 0, 1e-9, work));
  REFUSED(mjg_lambda(y, NULL, NULL, M, 2, 0, 0, 1e-9, work));
  REFUSED(mjg_lambda(y, NULL, x, NULL, 2, 0, 0, 1e-9, work));
  REFUSED(mjg_lambda(y, NULL, x, M, 2, 0, 0, 1e-9, NULL));
  REFUSED(mjg_Phi(NULL, x, x, M, 2, work));
  REFUSED(mjg_Phi(y, NULL, x, M, 2, work));
  REFUSED(mjg_Phi(y, x, NULL, M, 2, work));
  REFUSED(mjg_Phi(y, x, x, NULL, 2, work));
  REFUSED(mjg_Phi(y, x, x, M, 2, NULL));
  REFUSED(mjg_axproj(NULL, NULL, x, M, x, M, 2, settings, work));
  REFUSED(mjg_axproj(y, NULL, NULL, M, x, M, 2, settings, work));
  REFUSED(mjg_axproj(y, NULL, x, NULL, x, M, 2, settings, work));
  REFUSED(mjg_axproj(y, NULL, x, M, NULL, M, 2, settings, work));
  REFUSED(mjg_axproj(y, NULL, x, M, x, NULL, 2, settings, work));
  REFUSED(mjg_axproj(y, NULL, x, M, x, M, 2, NULL, work));
  REFUSED(mjg_axproj(y, NULL, x, M, x, M, 2, settings, NULL));
  REFUSED(mjg_P(NULL, M, &joints, 2));
  REFUSED(mjg_P(P, NULL, &joints, 2));
  REFUSED(mjg_P(P, M, NULL, 2));
  REFUSED(mjg_P(P, M, &joints, -1));
  REFUSED(mjg_step(NULL, NULL, NULL, M, x, x, x, &joints, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, NULL, x, x, x, &joints, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, M, NULL, x, x, &joints, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, M, x, NULL, x, &joints, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, M, x, x, NULL, &joints, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, M, x, x, x, NULL, 1e-3, 2, settings, work));
  REFUSED(mjg_step(y, NULL, NULL, M, x, x, x, &joints, 1e-3, 2, NULL, work));
  REFUSED(mjg_step(y, NULL, NULL, M, x, x, x, &joints, 1e-3, 2, settings, NULL));
  mjgJoints missing[] = {{NULL, x, x}, {x, NULL, x}, {x, x, NULL}};
  for (int i = 0; i < 3; i++) {
    REFUSED(mjg_P(P, M, &missing[i], 2));
    REFUSED(mjg_step(y, NULL, NULL, M, x, x, x, &missing[i], 1e-3, 2, settings, work));
  }
  assert_true(y[0] == 7 && y[1] == 7 && P[0] == 7);

  // without joints nothing need be there
  FINE(mjg_lambda(NULL, NULL, NULL, NULL, 0, 0, 0, 1e-9, work));
  FINE(mjg_Phi(NULL, NULL, NULL, NULL, 0, work));
  FINE(mjg_axproj(NULL, NULL, NULL, NULL, NULL, NULL, 0, settings, work));
  FINE(mjg_P(NULL, NULL, NULL, 0));
  FINE(mjg_step(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1e-3, 0, settings, work));
  mjgSolution none = {0};
  FINE(mjg_step(NULL, &none, NULL, NULL, NULL, NULL, NULL, NULL, 1e-3, 0, settings, work));
  closeRoom(&room);
}


static void refusals(mjgReport* report, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NOTHING(mjg_vrefuse(report, format, arguments));
  va_end(arguments);
}


static void catalogue(void** state) {
  mjgTransmission gear;
  mjgDescription description;
  mjgReport report;
  mjgFacts facts;
  char text[80] = "";
  double a = 7, b = 7, c = 7;
  mjg_defaultTransmission(&gear);
  mjg_defaultDescription(&description);
  mjg_startReport(&report, text, sizeof(text));
  NOTHING(mjg_defaultTransmission(NULL));
  NOTHING(mjg_frictionAt(NULL, &b, &c, &gear, 0, 0, 0, 0));
  NOTHING(mjg_frictionAt(&a, NULL, &c, &gear, 0, 0, 0, 0));
  NOTHING(mjg_frictionAt(&a, &b, NULL, &gear, 0, 0, 0, 0));
  NOTHING(mjg_frictionAt(&a, &b, &c, NULL, 0, 0, 0, 0));
  assert_true(a == 7 && b == 7 && c == 7);
  REFUSED(mjg_checkTransmission(NULL, &gear));
  REFUSED(mjg_checkTransmission(&report, NULL));
  REFUSED(mjg_sticks(NULL, 0, 0));
  NO_NUMBER(mjg_breakawayMotor(NULL, 0, 1));
  NO_NUMBER(mjg_breakawayLoad(NULL, 0, 1));
  NO_NUMBER(mjg_breakawayMotor(&gear, 0, 0));
  NO_NUMBER(mjg_breakawayLoad(&gear, 0, 2));
  NOTHING(mjg_explain(NULL, &gear, 0, -1));
  NOTHING(mjg_explain(&facts, NULL, 0, -1));
  NOTHING(mjg_defaultDescription(NULL));
  NOTHING(mjg_give(NULL, mjgKEY_MU, 1));
  NOTHING(mjg_forget(NULL, mjgKEY_MU));
  NOTHING(mjg_startReport(NULL, text, sizeof(text)));
  NOTHING(mjg_refuse(NULL, "%d", 1));
  refusals(NULL, "%d", 1);
  refusals(&report, NULL);
  REFUSED(mjg_transmission(NULL, &report, &description));
  REFUSED(mjg_transmission(&gear, NULL, &description));
  REFUSED(mjg_transmission(&gear, &report, NULL));
  REFUSED(mjg_warnAssumed(NULL, &description));
  REFUSED(mjg_warnAssumed(&report, NULL));
  REFUSED(mjg_describe(NULL, &report, &gear));
  REFUSED(mjg_describe(&description, NULL, &gear));
  REFUSED(mjg_describe(&description, &report, NULL));
  assert_int_equal(report.count, 0);
  assert_string_equal(text, "");
  REFUSED(mjg_preset(NULL, 0));
  NO_NUMBER(mjg_readNumber(NULL, NULL));

  const mjgKeyInfo* info = mjg_keyInfo(mjgKEY_COULOMB);
  REFUSED(mjg_readQuantity(NULL, &report, info, "1"));
  REFUSED(mjg_readQuantity(&a, NULL, info, "1"));
  REFUSED(mjg_readQuantity(&a, &report, NULL, "1"));
  REFUSED(mjg_readQuantity(&a, &report, info, NULL));
  assert_true(a == 7 && report.count == 0);
  mjgTable table;
  REFUSED(mjg_readTable(NULL, &report, 0, "0 1"));
  REFUSED(mjg_readTable(&table, NULL, 0, "0 1"));
  REFUSED(mjg_readTable(&table, &report, mjgNTABLE, "0 1"));
  REFUSED(mjg_readTable(&table, &report, 0, NULL));
  REFUSED(mjg_tableFromName(NULL));
  NO_POINTER(mjg_tableName(-1));

  // a report without text counts
  mjgReport mute;
  mjg_startReport(&mute, NULL, 100);
  mjg_refuse(&mute, "%d", 1);
  assert_int_equal(mute.count, 1);
}


static void backlash(void** state) {
  mjgBacklash law = {.stiffness = 100};
  mjgCoupling coupling = {.law = &law, .h = 1e-3}, lawless = {.h = 1e-3};
  mjgCouplingStep step = {.T = 7};
  double a = 7, b = 7;
  note("mjg_backlashError()");
  assert_non_null(mjg_backlashError(NULL));
  NO_NUMBER(mjg_backlashTorque(&a, &b, NULL, 0, 0));
  FINE(mjg_backlashTorque(NULL, NULL, &law, 0, 0));
  NO_NUMBER(mjg_backlashTouch(NULL, 1));
  NO_NUMBER(mjg_gapRate(&a, NULL, 0, 0, 0));
  NO_NUMBER(mjg_backlashEnergy(NULL, 0, 0, 0));
  NO_NUMBER(mjg_couplingBlend(NULL, 1, 1));
  NOTHING(mjg_couplingRest(NULL, &b, &law, 0, 0));
  NOTHING(mjg_couplingRest(&a, NULL, &law, 0, 0));
  NOTHING(mjg_couplingRest(&a, &b, NULL, 0, 0));
  NOTHING(mjg_couplingResolve(NULL, &coupling, 0, 1));
  NOTHING(mjg_couplingResolve(&step, NULL, 0, 1));
  NOTHING(mjg_couplingResolve(&step, &lawless, 0, 1));
  assert_true(a == 7 && b == 7 && step.T == 7);
}


// sizes of blocks that contradict the number of joints are refused, and nothing is read or written
static void blocks(void** state) {
  Room room;
  openRoom(&room);
  double v[2] = {1, 1}, A[4] = {1, 0, 0, 1}, zero[2] = {0};
  static const int wrong[][2] = {{1, 0}, {2, 1}, {0, 0}, {1 << 30, 2}, {-1, 3}, {INT_MAX, INT_MAX}};
  for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
    mjgProblem p = {.n = 2,
                    .nblock = 2,
                    .block = wrong[k],
                    .v = v,
                    .A = A,
                    .phi = v,
                    .alpha = zero,
                    .beta = zero};
    mjgCertificate certificate;
    assert_int_equal(mjg_solve(&room.solution, NULL, &p, &room.settings, room.work),
                     mjgERR_ARGUMENT);
    assert_int_equal(mjg_certify(&certificate, NULL, &p, &room.solution, 1e-9, room.work),
                     mjgERR_ARGUMENT);
  }
  closeRoom(&room);
}


// every function that a public header declares is called above
static void noneLeftOut(void** state) {
  static const char* const header[] = {"mjgear.h",      "mjgear_paper.h",  "mjgear_catalogue.h",
                                       "mjgear_text.h", "mjgear_report.h", "mjgear_backlash.h"};
  int declared = 0;
  for (size_t k = 0; k < sizeof(header) / sizeof(*header); k++) {
    char path[1024], line[1024];
    snprintf(path, sizeof(path), "%s/core/%s", MJGEAR_SOURCE_DIR, header[k]);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
      // a declaration begins a line with its type, and its name ends at the parenthesis
      char* name = strstr(line, "mjg_");
      size_t length = name ? strcspn(name, "( \n") : 0;
      if (!name || line[0] == ' ' || line[0] == '/' || name[length] != '(') {
        continue;
      }
      declared++;
      int found = 0;
      for (int i = 0; i < ncalled && !found; i++) {
        const char* inside = strstr(called[i], "mjg_");
        found = inside && !strncmp(inside, name, length + 1);
      }
      if (!found) {
        fail_msg("%s: %.*s is not called here", header[k], (int)length, name);
      }
    }
    fclose(file);
  }
  assert_true(declared > 60);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars), cmocka_unit_test(names),       cmocka_unit_test(solving),
      cmocka_unit_test(paper),   cmocka_unit_test(catalogue),   cmocka_unit_test(backlash),
      cmocka_unit_test(blocks),  cmocka_unit_test(noneLeftOut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

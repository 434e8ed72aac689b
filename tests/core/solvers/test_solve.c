// mjg_solve: every solver against the enumeration of tests/core/oracle.c, closed forms, and refusals.

#include <math.h>
#include <string.h>

#include "fewer.h"
#include "fixture.h"


// A solved result is one of the solutions of enumeration, in the paper's own form, and no joint
// gains energy. The exact methods never fail.
static void randomProblems(void** state) {
  const int nproblem = fewer(10500);
  Room room;
  openRoom(&room);
  static oracleProblem p;
  static double all[oracleMAXSOLUTION][oracleMAXN];
  int failed[2][6] = {{0}}, foreign[6] = {0}, kind[2] = {0}, several = 0;
  uint64_t seed = 1;
  for (int k = 0; k < nproblem; k++) {
    oracleDraw draw = {.n = 1 + k % 4,
                       .gamma_max = k % 3 ? 3 : 0.999,
                       .decades = 8,
                       .rest = k % 5 == 0,
                       .coulomb = k % 7 == 0};
    oracle_draw(&p, &draw, &seed);
    int count = oracle_enumerate(all, &p.problem);
    assert_true(count >= 1);
    several += count > 1;
    int ill = 0;

    for (int solver = mjgENUMERATION; solver >= mjgNEWTON; solver--) {
      int iterative = solver == mjgPROJECTION;
      mjg_defaultSettings(&room.settings);
      room.settings.solver = solver;
      room.settings.tolerance = iterative ? 1e-9 : 1e-12;
      room.settings.iterations = iterative ? 2000 : 0;
      int status = mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work);
      assert_int_equal(status, room.info.status);
      assert_in_range(status, mjgSOLVED, mjgITERATION_LIMIT);
      if (solver == mjgENUMERATION) {
        // enumeration alone finds all solutions, and they equal the oracle's
        assert_int_equal(status, count > 1 ? mjgJAMMED : mjgSOLVED);
        continue;
      }
      if (solver == mjgLEMKE) {
        ill = status == mjgJAMMED;
        kind[ill]++;
        assert_true(ill || count == 1);
      }
      if (status > mjgJAMMED) {
        failed[ill][solver]++;
        continue;
      }

      double residual = oracle_residual(&p.problem, room.t, room.v);
      assert_true(residual <= 10 * room.settings.tolerance);
      double nearest = INFINITY;
      for (int j = 0; j < count; j++) {
        nearest = fmin(nearest, distance(room.t, all[j], &p.problem));
      }
      foreign[solver] += nearest > 1e-6;
      for (int i = 0; i < draw.n; i++) {
        assert_true(room.t[i] * room.v[i] >= 0);
        assert_int_equal(room.mode[i], (room.v[i] > 0) - (room.v[i] < 0));
      }
    }
  }
  print_message("%d problems, %d of them not known to be well posed, %d with several solutions\n",
                nproblem, kind[1], several);
  for (int solver = 0; solver < mjgENUMERATION; solver++) {
    print_message("  %-13s not solved: %d well posed, %d others; farther than 1e-6 from any: %d\n",
                  mjg_solverName(solver), failed[0][solver], failed[1][solver], foreign[solver]);
  }
  assert_int_equal(failed[0][mjgNEWTON] + failed[1][mjgNEWTON], 0);
  assert_int_equal(failed[0][mjgLEMKE] + failed[1][mjgLEMKE], 0);
  assert_in_range(failed[0][mjgGAUSS_SEIDEL] + failed[1][mjgGAUSS_SEIDEL], 0, nproblem / 200);
  assert_int_equal(foreign[mjgNEWTON] + foreign[mjgLEMKE] + foreign[mjgGAUSS_SEIDEL], 0);
  closeRoom(&room);
}


// n = 1 is (44): against mjg_stepScalar, which test_scalar compares with the paper
static void oneJoint(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 5;
  for (int k = 0; k < fewer(20000); k++) {
    double gamma_u = oracle_uniform(&seed, 0, 1.5), gamma_v = oracle_uniform(&seed, 0, 3);
    double m = k % 11 ? pow(10, oracle_uniform(&seed, -3, 3)) : 0;
    double M = pow(10, oracle_uniform(&seed, -3, 3)), h = pow(10, oracle_uniform(&seed, -4, -2));
    double f_u = oracle_normal(&seed), f_v = oracle_normal(&seed);
    double v = k % 4 ? h / (m + M) * oracle_normal(&seed) : 0;
    double expected, t;
    mjg_stepScalar(&expected, &t, v, f_u, f_v, gamma_u, gamma_v, m, M, h);

    double A = h / (m + M), acc = (f_u - f_v) / (m + M), vstar = v + h * acc;
    double phi = (gamma_u + gamma_v) * (f_u - m * acc), alpha = (gamma_u + gamma_v) * m / h;
    mjgProblem p = {.n = 1, .v = &vstar, .A = &A, .phi = &phi, .alpha = &alpha, .beta = &gamma_v};
    for (int solver = mjgNEWTON; solver <= mjgENUMERATION; solver++) {
      if (solver == mjgPROJECTION) {
        continue;
      }
      room.settings.solver = solver;
      int status = mjg_solve(&room.solution, NULL, &p, &room.settings, room.work);
      assert_in_range(status, mjgSOLVED, mjgJAMMED);
      double size = fabs(v) + A * (fabs(t) + fabs(f_u) + fabs(f_v));
      assert_true(fabs(room.v[0] - expected) <= 1e-12 * size);
      assert_int_equal(room.v[0] == 0, expected == 0);
    }
  }
  closeRoom(&room);
}


// a problem of two joints that the tests below vary
typedef struct Two_ {
  double v[2], A[4], phi[2], alpha[2], beta[2], coulomb[2], ratio[2], v0[2];
  mjgProblem p;
} Two;


static void openTwo(Two* two) {
  *two = (Two){.v = {1, -2},
               .A = {2, 0.5, 0.5, 1},
               .phi = {0.3, 0.4},
               .alpha = {0.1, 0.2},
               .beta = {0.2, 0.3},
               .coulomb = {0, 0},
               .ratio = {1, 1}};
  two->p = (mjgProblem){
      .n = 2, .v = two->v, .A = two->A, .phi = two->phi, .alpha = two->alpha, .beta = two->beta};
}


// Without load there is no friction. With P = 0 and a constant bound it is the relay problem with a
// known solution: joint 0 is held by 0.5 of its 10, joint 1 slips with its full bound.
static void classicalFriction(void** state) {
  Room room;
  openRoom(&room);
  Two two;
  openTwo(&two);
  memset(two.phi, 0, sizeof(two.phi));
  memset(two.alpha, 0, sizeof(two.alpha));
  memset(two.beta, 0, sizeof(two.beta));
  assert_int_equal(mjg_solve(&room.solution, NULL, &two.p, &room.settings, room.work), 0);
  assert_true(room.t[0] == 0 && room.t[1] == 0 && room.v[0] == 1 && room.v[1] == -2);

  double bound[2] = {10, 0.5};
  two.p.coulomb = bound;
  for (int solver = mjgNEWTON; solver <= mjgENUMERATION; solver++) {
    room.settings.solver = solver;
    room.settings.tolerance = 1e-10;
    assert_int_equal(mjg_solve(&room.solution, NULL, &two.p, &room.settings, room.work), 0);
    assert_near(room.t[0], 0.625, 1e-9);
    assert_near(room.t[1], -0.5, 1e-9);
    assert_true(room.v[0] == 0);
    assert_near(room.v[1], -2 - 0.5 * 0.625 + 0.5, 1e-9);
    assert_true(room.mode[0] == 0 && room.mode[1] == -1);
  }
  closeRoom(&room);
}


// scaling torques, velocities and each joint's own unit scales the result and nothing else
static void unitsDoNotMatter(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem p;
  uint64_t seed = 3;
  for (int k = 0; k < fewer(2000); k++) {
    oracleDraw draw = {.n = 4, .gamma_max = 2, .decades = 0, .coulomb = k % 2};
    oracle_draw(&p, &draw, &seed);
    assert_in_range(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work), 0, 1);
    double t[4];
    int mode[4];
    memcpy(t, room.t, sizeof(t));
    memcpy(mode, room.mode, sizeof(mode));

    // powers of two, so that the scaled problem is the same to the last bit
    double torque = ldexp(1, (int)oracle_uniform(&seed, -150, 150));
    double speed = ldexp(1, (int)oracle_uniform(&seed, -150, 150));
    double unit[4];
    for (int i = 0; i < 4; i++) {
      unit[i] = ldexp(1, (int)oracle_uniform(&seed, -30, 30));
    }
    for (int i = 0; i < 4; i++) {
      p.v[i] *= speed / unit[i];
      p.phi[i] *= torque * unit[i];
      p.coulomb[i] *= torque * unit[i];
      p.alpha[i] *= torque / speed * unit[i] * unit[i];
      for (int j = 0; j < 4; j++) {
        p.A[4 * i + j] *= speed / torque / unit[i] / unit[j];
      }
    }
    assert_in_range(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work), 0, 1);
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(room.t[i] - t[i] * torque * unit[i]) <=
                  1e-9 * torque * unit[i] * fabs(t[i]));
      assert_int_equal(room.mode[i], mode[i]);
    }
  }
  closeRoom(&room);
}


// a stuck joint resists with up to its static bound, one that slips has the sliding bound
static void staticRatio(void** state) {
  Room room;
  openRoom(&room);

  // bound 1, ratio 1.5, A = 1: held to 1.5, then the friction drops to 1
  double A = 1, phi = 1, zero = 0, ratio = 1.5, v, v0 = 0;
  mjgProblem p = {.n = 1,
                  .v = &v,
                  .A = &A,
                  .phi = &phi,
                  .alpha = &zero,
                  .beta = &zero,
                  .static_ratio = &ratio,
                  .v0 = &v0};
  const struct {
    double v0, vstar, t;
  } cases[] = {
      {0, 0.9, 0.9}, {0, 1.4, 1.4},   {0, 1.6, 1},   {0, -1.4, -1.4}, {0, -1.6, -1},  {1, 1.4, 1},
      {1, 0.9, 0.9}, {1, -1.4, -1.4}, {1, -1.6, -1}, {-1, -1.4, -1},  {-1, 1.4, 1.4}, {-1, 1.6, 1},
  };
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
    v0 = cases[k].v0;
    v = cases[k].vstar;
    for (int solver = mjgNEWTON; solver <= mjgENUMERATION; solver++) {
      room.settings.solver = solver;
      assert_int_equal(mjg_solve(&room.solution, NULL, &p, &room.settings, room.work), 0);
      assert_near(room.t[0], cases[k].t, 1e-11);
      assert_int_equal(room.v[0] == 0, fabs(cases[k].t - cases[k].vstar) < 1e-9);
      mjgCertificate certificate;
      mjg_certify(&certificate, NULL, &p, &room.solution, 1e-10, room.work);
      assert_int_equal(certificate.valid, 1);
    }
  }
  closeRoom(&room);
}


// blocks are solved as if each were alone
static void blocks(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem part[3], whole;
  uint64_t seed = 9;
  for (int k = 0; k < 500; k++) {
    int size[] = {3, 1, 4}, first = 0, entry = 0;
    double expected[8];
    for (int j = 0; j < 3; j++) {
      oracleDraw draw = {.n = size[j], .gamma_max = 2, .decades = 2};
      oracle_draw(&part[j], &draw, &seed);
      assert_in_range(mjg_solve(&room.solution, NULL, &part[j].problem, &room.settings, room.work),
                      0, 1);
      for (int i = 0; i < size[j]; i++, first++) {
        expected[first] = room.t[i];
        whole.v[first] = part[j].v[i];
        whole.phi[first] = part[j].phi[i];
        whole.alpha[first] = part[j].alpha[i];
        whole.beta[first] = part[j].beta[i];
      }
      for (int i = 0; i < size[j] * size[j]; i++) {
        whole.A[entry++] = part[j].A[i];
      }
    }
    whole.problem = (mjgProblem){.n = 8,
                                 .nblock = 3,
                                 .block = size,
                                 .v = whole.v,
                                 .A = whole.A,
                                 .phi = whole.phi,
                                 .alpha = whole.alpha,
                                 .beta = whole.beta};
    assert_in_range(mjg_solve(&room.solution, NULL, &whole.problem, &room.settings, room.work), 0,
                    1);
    for (int i = 0; i < 8; i++) {
      assert_true(room.t[i] == expected[i]);
    }

    // the same with P unchanged, block behind block
    double P[3 * 3 + 1 + 4 * 4];
    for (int j = 0, from = 0, at = 0; j < 3; from += size[j++]) {
      for (int i = 0; i < size[j]; i++) {
        for (int l = 0; l < size[j]; l++, at++) {
          P[at] = whole.alpha[from + i] * whole.A[at] - (i == l ? whole.beta[from + i] : 0);
        }
      }
    }
    whole.problem.P = P;
    whole.problem.alpha = whole.problem.beta = NULL;
    assert_in_range(mjg_solve(&room.solution, NULL, &whole.problem, &room.settings, room.work), 0,
                    1);
    for (int i = 0; i < 8; i++) {
      assert_true(fabs(room.t[i] - expected[i]) <= 1e-8 * (fabs(expected[i]) + 1));
    }
    mjgCertificate certificate;
    mjg_certify(&certificate, NULL, &whole.problem, &room.solution, 1e-10, room.work);
    assert_int_equal(certificate.valid, 1);
  }
  closeRoom(&room);
}


// joints without mutual influence are solved separately, anywhere in a block
static void decoupledJoints(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem part[2], whole;
  uint64_t seed = 13;
  for (int k = 0; k < 500; k++) {
    // joints 0, 2, 4 and 1, 3 of one block
    double expected[5];
    memset(&whole, 0, sizeof(whole));
    for (int m = 0; m < 2; m++) {
      oracleDraw draw = {.n = 3 - m, .gamma_max = 2, .decades = 2};
      oracle_draw(&part[m], &draw, &seed);
      assert_in_range(mjg_solve(&room.solution, NULL, &part[m].problem, &room.settings, room.work),
                      0, 1);
      for (int i = 0; i < 3 - m; i++) {
        int to = 2 * i + m;
        expected[to] = room.t[i];
        whole.v[to] = part[m].v[i];
        whole.phi[to] = part[m].phi[i];
        for (int j = 0; j < 3 - m; j++) {
          whole.A[5 * to + 2 * j + m] = part[m].A[(3 - m) * i + j];
          whole.P[5 * to + 2 * j + m] = part[m].P[(3 - m) * i + j];
        }
        whole.alpha[to] = part[m].alpha[i];
        whole.beta[to] = part[m].beta[i];
      }
    }
    whole.problem = (mjgProblem){.n = 5,
                                 .v = whole.v,
                                 .A = whole.A,
                                 .phi = whole.phi,
                                 .P = k % 2 ? whole.P : NULL,
                                 .alpha = whole.alpha,
                                 .beta = whole.beta};
    assert_in_range(mjg_solve(&room.solution, NULL, &whole.problem, &room.settings, room.work), 0,
                    1);
    for (int i = 0; i < 5; i++) {
      assert_near(room.t[i], expected[i], 1e-9 * fabs(expected[i]));
    }
  }
  closeRoom(&room);
}


// a result is a start: the next solve takes one factorization
static void warmStart(void** state) {
  Room room;
  openRoom(&room);
  static oracleProblem p;
  uint64_t seed = 11;
  for (int k = 0; k < fewer(2000); k++) {
    oracleDraw draw = {.n = 7, .gamma_max = 0.99, .decades = 4};
    oracle_draw(&p, &draw, &seed);
    room.settings.warm_start = 0;
    assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work), 0);
    for (int i = 0; i < 7; i++) {
      p.v[i] *= 1 + 1e-9;
    }
    room.settings.warm_start = 1;
    assert_int_equal(mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work),
                     0);
    assert_int_equal(room.info.factorizations, 1);
  }
  closeRoom(&room);
}


// a refusal has its code and leaves the outputs unchanged
static void refusals(void** state) {
  Room room;
  openRoom(&room);
  Two two;
  openTwo(&two);
  double before[2] = {7, 8};
  const mjgProblem good = two.p;

#define EXPECT(code)                                                                             \
  do {                                                                                           \
    for (int i = 0; i < 2; i++) {                                                                \
      room.t[i] = room.v[i] = room.lambda[i] = before[i];                                        \
      room.mode[i] = 9;                                                                          \
    }                                                                                            \
    mjgInfo info = {.status = 77};                                                               \
    assert_int_equal(mjg_solve(&room.solution, &info, &two.p, &room.settings, room.work), code); \
    assert_int_equal(info.status, 77);                                                           \
    assert_memory_equal(room.t, before, sizeof(before));                                         \
    assert_memory_equal(room.v, before, sizeof(before));                                         \
    assert_memory_equal(room.lambda, before, sizeof(before));                                    \
    assert_int_equal(room.mode[0], 9);                                                           \
    openTwo(&two);                                                                               \
    two.p = good;                                                                                \
    mjg_defaultSettings(&room.settings);                                                         \
  } while (0)

  double* numbers[] = {two.v, two.A + 1, two.phi, two.alpha, two.beta};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
    numbers[k][0] = NAN;
    EXPECT(mjgERR_NOT_FINITE);
    numbers[k][0] = -INFINITY;
    EXPECT(mjgERR_NOT_FINITE);
  }
  double bad[2] = {NAN, 1};
  two.p.coulomb = bad;
  EXPECT(mjgERR_NOT_FINITE);
  two.p.static_ratio = bad;
  EXPECT(mjgERR_NOT_FINITE);
  two.p.v0 = bad;
  EXPECT(mjgERR_NOT_FINITE);
  bad[0] = -1;
  two.p.coulomb = bad;
  EXPECT(mjgERR_ARGUMENT);
  bad[0] = 0.9;
  two.p.static_ratio = bad;
  EXPECT(mjgERR_ARGUMENT);
  two.A[3] = 0;
  EXPECT(mjgERR_NOT_PD);
  two.A[0] = -1;
  EXPECT(mjgERR_NOT_PD);
  two.p.n = -1;
  EXPECT(mjgERR_ARGUMENT);
  two.p.v = NULL;
  EXPECT(mjgERR_ARGUMENT);
  two.p.alpha = NULL;
  EXPECT(mjgERR_ARGUMENT);
  two.p.nblock = 2;
  EXPECT(mjgERR_ARGUMENT);
  int wrong[2] = {1, 2};
  two.p.nblock = 2;
  two.p.block = wrong;
  EXPECT(mjgERR_ARGUMENT);
  two.p.nblock = 1;
  two.p.block = wrong;
  EXPECT(mjgERR_ARGUMENT);
  room.settings.solver = 99;
  EXPECT(mjgERR_ARGUMENT);
  const double tolerances[] = {NAN, -1e-12, 1, 2, INFINITY};
  for (size_t k = 0; k < sizeof(tolerances) / sizeof(*tolerances); k++) {
    room.settings.tolerance = tolerances[k];
    EXPECT(mjgERR_ARGUMENT);
  }
  room.settings.iterations = -1;
  EXPECT(mjgERR_ARGUMENT);

  // a warm start with a NaN
  for (int k = 0; k < 4; k++) {
    double start[2] = {1, 1};
    start[k % 2] = k < 2 ? NAN : INFINITY;
    memcpy(room.t, start, sizeof(start));
    room.settings.warm_start = 1;
    assert_int_equal(mjg_solve(&room.solution, NULL, &two.p, &room.settings, room.work),
                     mjgERR_NOT_FINITE);
    assert_memory_equal(room.t, start, sizeof(start));
    room.settings.warm_start = 0;
    assert_true(mjg_solve(&room.solution, NULL, &two.p, &room.settings, room.work) >= 0);
  }

  // too large for the method, too large for the workspace
  static oracleProblem p;
  uint64_t seed = 1;
  oracleDraw draw = {.n = mjgMAXENUM + 1, .gamma_max = 1};
  oracle_draw(&p, &draw, &seed);
  room.settings.solver = mjgENUMERATION;
  assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                   mjgERR_SIZE);
  size_t size = mjg_memsize(4, 4);
  void* memory = malloc(size);
  mjgWorkspace* small = mjg_create(memory, size, 4, 4);
  mjg_defaultSettings(&room.settings);
  assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, small),
                   mjgERR_WORKSPACE);
  free(memory);

  // as many joints as there is room for, but in one block and not in several
  oracleProblem four;
  oracle_draw(&four, &(oracleDraw){.n = 4, .gamma_max = 1}, &seed);
  size = mjg_memsize(4, 2);
  memory = malloc(size);
  small = mjg_create(memory, size, 4, 2);
  assert_int_equal(mjg_solve(&room.solution, NULL, &four.problem, &room.settings, small),
                   mjgERR_WORKSPACE);
  free(memory);

  // nothing to do is not an error
  mjgProblem none = {0};
  mjgSolution nowhere = {0};
  assert_int_equal(mjg_solve(&nowhere, &room.info, &none, &room.settings, room.work), mjgSOLVED);
  assert_true(room.info.residual == 0);
  closeRoom(&room);
}


// names to numbers and back, and unknown names
static void names(void** state) {
  for (int solver = 0; solver < mjgNSOLVER; solver++) {
    assert_int_equal(mjg_solverFromName(mjg_solverName(solver)), solver);
  }
  assert_string_equal(mjg_solverName(mjgNEWTON), "newton");
  assert_null(mjg_solverName(-1));
  assert_null(mjg_solverName(mjgNSOLVER));
  assert_int_equal(mjg_solverFromName("Newton"), -1);
  assert_int_equal(mjg_solverFromName(NULL), -1);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(randomProblems),
      cmocka_unit_test(oneJoint),
      cmocka_unit_test(classicalFriction),
      cmocka_unit_test(unitsDoNotMatter),
      cmocka_unit_test(names),
      cmocka_unit_test(staticRatio),
      cmocka_unit_test(blocks),
      cmocka_unit_test(decoupledJoints),
      cmocka_unit_test(warmStart),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

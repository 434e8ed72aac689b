// invalid arguments, beyond the refusals of test_solve.c

#include <math.h>

#include "fixture.h"
#include "mjgear_backlash.h"


// without joints there is nothing to do, but blocks that do not fit are refused
static void noJoints(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  int empty[2] = {0, 0}, wrong[2] = {1, -1};
  mjgProblem problem = {0};
  mjgSolution solution = {0};
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work), mjgSOLVED);
  problem.nblock = 2;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work),
                   mjgERR_ARGUMENT);
  problem.block = wrong;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work),
                   mjgERR_ARGUMENT);
  problem.block = empty;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, room.work), mjgSOLVED);
  closeRoom(&room);
}


// a problem of a joint with friction and a coupling
typedef struct Pair_ {
  double v[2], A[4], phi[2], P[4], alpha[2], beta[2], coulomb[2], ratio[2], v0[2];
  mjgBacklash law;
  mjgCoupling coupling;
  const mjgCoupling* row[2];
  mjgProblem problem;
} Pair;


static void openPair(Pair* p, int flg_P) {
  *p = (Pair){.v = {1, -2},
              .A = {1, .3, .3, 2},
              .phi = {.5, 0},
              .P = {.2, .06, 0, 0},
              .alpha = {.2, 0},
              .beta = {0, 0},
              .coulomb = {.1, 0},
              .ratio = {1.5, 1},
              .v0 = {.1, 0},
              .law = {.model = mjgDEADZONE, .stiffness = 100},
              .coupling = {.law = &p->law, .h = 1e-3, .theta_d = .01}};
  p->row[1] = &p->coupling;
  p->problem = (mjgProblem){.n = 2,
                            .v = p->v,
                            .A = p->A,
                            .phi = p->phi,
                            .P = flg_P ? p->P : NULL,
                            .alpha = p->alpha,
                            .beta = p->beta,
                            .coulomb = p->coulomb,
                            .static_ratio = p->ratio,
                            .v0 = p->v0,
                            .coupling = p->row};
}


// members of a coupling's row that the header calls unused are not read by any call
static void unusedEntries(void** state) {
  (void)state;
  for (int flg_P = 0; flg_P < 2; flg_P++) {
    Room clean, room;
    openRoom(&clean);
    openRoom(&room);
    clean.settings.want_sigma_max = room.settings.want_sigma_max = 1;
    mjgCertificate certificate, other;
    Pair p;
    openPair(&p, flg_P);
    assert_int_equal(
        mjg_solve(&clean.solution, &clean.info, &p.problem, &clean.settings, clean.work),
        mjgSOLVED);
    assert_int_equal(
        mjg_certify(&certificate, NULL, &p.problem, &clean.solution, 1e-12, clean.work), mjgSOLVED);
    p.phi[1] = p.P[2] = p.P[3] = p.alpha[1] = p.beta[1] = p.coulomb[1] = p.v0[1] = NAN;
    p.ratio[1] = 0;
    assert_int_equal(mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work),
                     mjgSOLVED);
    assert_memory_equal(clean.t, room.t, 2 * sizeof(double));
    assert_memory_equal(clean.v, room.v, 2 * sizeof(double));
    assert_memory_equal(&clean.info, &room.info, sizeof(room.info));
    assert_int_equal(mjg_certify(&other, NULL, &p.problem, &room.solution, 1e-12, room.work),
                     mjgSOLVED);
    assert_true(other.valid && other.residual == certificate.residual);
    assert_true(other.sigma_max == certificate.sigma_max);
    assert_true(other.residual_paper == certificate.residual_paper);

    // sigma_max equals the value of the joint with friction
    assert_near(room.info.sigma_max, .2, 1e-15);
    assert_near(other.sigma_max, .2, 1e-15);
    p.phi[0] = NAN;
    assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                     mjgERR_NOT_FINITE);
    closeRoom(&clean);
    closeRoom(&room);
  }
}


// a rotor so light that numbers overflow is refused
static void lightRotor(void** state) {
  (void)state;
  Room room;
  openRoom(&room);
  Pair p;
  openPair(&p, 0);
  p.coupling.torque = 1;
  p.coupling.inertia = 5e-324;
  assert_int_equal(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work),
                   mjgERR_ARGUMENT);
  p.coupling.inertia = mjgMINROTOR;
  assert_true(mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work) >= 0);
  for (int i = 0; i < 2; i++) {
    assert_true(isfinite(room.t[i]) && isfinite(room.v[i]) && isfinite(room.lambda[i]));
  }
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noJoints),
      cmocka_unit_test(unusedEntries),
      cmocka_unit_test(lightRotor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The certificate accepts solutions and names the mistake of other results.

#include <float.h>
#include <math.h>

#include "draw.h"
#include "fixture.h"


// Returns the residual of joint i in the form (67): y = v* - v+ is A times the friction of the
// directions of motion.
static double paperResidual(const mjgProblem* p, const mjgSolution* s, int i) {
  double y = 0, size_y = fabs(p->v[i]) + fabs(s->v[i]);
  for (int j = 0; j < p->n; j++) {
    double cj = p->coulomb ? p->coulomb[j] : 0, limit = fabs(s->lambda[j]) + cj;
    double sign = (s->v[j] > 0) - (s->v[j] < 0);
    if (sign == 0) {
      limit *= p->static_ratio ? p->static_ratio[j] : 1;
      sign = limit > 0 ? fmax(-1, fmin(1, s->t[j] / limit)) : 0;
    }
    double term = p->A[i * p->n + j] * sign * limit;
    y += term;
    size_y += fabs(term);
  }
  return fabs(p->v[i] - s->v[i] - y) / (size_y + DBL_MIN);
}


static void acceptsSolutions(void** state) {
  Room room;
  openRoom(&room);
  uint64_t seed = 1;
  static oracleProblem p;
  for (int k = 0; k < 5000; k++) {
    oracleDraw draw = {
        .n = 1 + k % 8, .gamma_max = k % 2 ? 0.99 : 2.5, .decades = 8, .coulomb = k % 3 == 0};
    oracle_draw(&p, &draw, &seed);
    int status = mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work);
    mjgCertificate c;
    assert_int_equal(mjg_certify(&c, NULL, &p.problem, &room.solution, 1e-11, room.work), 0);
    assert_int_equal(c.valid, 1);
    assert_int_equal(c.nviolated, 0);
    assert_int_equal(c.well_posed, status == mjgSOLVED);
    assert_true(c.residual <= 1e-11 && c.power >= 0);
    for (int i = 0; i < draw.n; i++) {
      assert_true(paperResidual(&p.problem, &room.solution, i) <= 1e-9);
    }

    // the other form of P
    p.problem.P = p.P;
    mjgCertificate other;
    assert_int_equal(mjg_certify(&other, NULL, &p.problem, &room.solution, 1e-9, room.work), 0);
    assert_int_equal(other.valid, 1);
  }
  closeRoom(&room);
}


// two joints, A = 1, bounds 1 and 2: joint 0 slips with t = 1, joint 1 is held by 1.5
static void namesWhatIsWrong(void** state) {
  Room room;
  openRoom(&room);
  double v[2] = {3, 1.5}, A[4] = {1, 0, 0, 1}, phi[2] = {1, 2}, zero[2] = {0, 0};
  mjgProblem p = {.n = 2, .v = v, .A = A, .phi = phi, .alpha = zero, .beta = zero};
  const struct {
    double t[2], v[2], lambda[2];
    int mode[2];
    int worst, nviolated, passive;
  } cases[] = {
      {{1, 1.5}, {2, 0}, {1, 2}, {1, 0}, -2, 0, 1},
      {{1.1, 1.5}, {1.9, 0}, {1, 2}, {1, 0}, 0, 1, 1},  // too much friction
      {{-1, 1.5}, {4, 0}, {1, 2}, {1, 0}, 0, 1, 0},     // friction that drives
      {{1, 1.5}, {2.1, 0}, {1, 2}, {1, 0}, 0, 1, 1},    // velocity of another friction
      {{1, 1.5}, {2, 0}, {1, 2.1}, {1, 0}, 1, 1, 1},    // another load
      {{1, 1}, {2, 0.5}, {1, 2}, {1, 1}, 1, 1, 1},      // moves with less than its bound
      {{1, 1.5}, {2, 0}, {1, 2}, {1, 1}, 1, 1, 1},      // mode and velocity differ
      {{1, 1.5}, {2, 1e-3}, {1, 2}, {1, 1}, 1, 1, 1},   // creeps
      {{NAN, 1.5}, {2, 0}, {1, 2}, {1, 0}, 0, 2, 0},
      {{1, INFINITY}, {2, 0}, {1, 2}, {1, 0}, 0, 2, 0},
      {{3, 1.5}, {0, 0}, {1, 2}, {0, 0}, 0, 1, 1},  // held by more than its bound
  };
  int negative = 0;
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
    for (int i = 0; i < 2; i++) {
      room.t[i] = cases[k].t[i];
      room.v[i] = cases[k].v[i];
      room.lambda[i] = cases[k].lambda[i];
      room.mode[i] = cases[k].mode[i];
    }
    mjgCertificate c;
    int violated[2];
    assert_int_equal(mjg_certify(&c, violated, &p, &room.solution, 1e-9, room.work), mjgSOLVED);
    assert_int_equal(c.nviolated, cases[k].nviolated);
    assert_int_equal(c.passive, cases[k].passive);
    assert_true(c.power >= 0 || !c.passive);
    negative += c.power < 0;
    assert_int_equal(c.valid, cases[k].worst == -2);
    if (cases[k].worst >= 0) {
      assert_int_equal(c.worst, cases[k].worst);
      assert_int_equal(violated[c.worst], 1);
      assert_int_equal(violated[1 - c.worst], c.nviolated == 2);
    } else {
      assert_near(c.power, 2, 1e-15);
      assert_true(c.well_posed);
    }
  }

  assert_true(negative > 0);
  mjgCertificate c;
  assert_int_equal(mjg_certify(NULL, NULL, &p, &room.solution, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_certify(&c, NULL, &p, NULL, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_certify(&c, NULL, NULL, &room.solution, 1e-9, room.work), mjgERR_ARGUMENT);
  assert_int_equal(mjg_certify(&c, NULL, &p, &room.solution, NAN, room.work), mjgERR_ARGUMENT);
  mjgProblem none = {0};
  assert_int_equal(mjg_certify(&c, NULL, &none, &room.solution, 1e-9, room.work), mjgSOLVED);
  assert_true(c.valid && c.worst == -1);
  closeRoom(&room);
}


// a number of any size: ordinary, far away, without digits, or zero
static double anySize(void) {
  double kind = draw(0, 1), sign = draw(0, 1) < 0.5 ? -1 : 1;
  return kind < 0.3   ? draw(-2, 2)
         : kind < 0.5 ? sign * pow(10, draw(-12, 12))
         : kind < 0.6 ? 0
         : kind < 0.7 ? sign * pow(10, draw(-323.9, -300))
                      : sign * pow(10, draw(-100, 100));
}


// Solved results are certified for all numbers: loads at round-off, alpha and beta up to 1e100
static void solvedIsCertified(void** state) {
  Room room;
  openRoom(&room);
  int solved = 0;
  for (int k = 0; k < 6000; k++) {
    enum {
      most = 4
    };
    int n = 1 + k % most;
    double A[most * most], v[most], phi[most], alpha[most], beta[most], c[most], ratio[most];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        A[i * n + j] = A[j * n + i] = i == j ? draw(1, 2) : draw(-0.3, 0.3);
      }
      v[i] = k % 4 == 1 ? anySize() : draw(-1, 1);
      phi[i] = k % 4 <= 1 ? anySize() : draw(-1, 1);
      alpha[i] = k % 4 == 2 ? anySize() : draw(0, 0.5);
      beta[i] = k % 4 >= 2 && draw(0, 1) < 0.4 ? anySize() : draw(0, 2);
      c[i] = draw(0, 1) < 0.5 ? 0 : fabs(anySize());
      ratio[i] = draw(1, 1.5);
    }
    mjgProblem p = {.n = n,
                    .v = v,
                    .A = A,
                    .phi = phi,
                    .alpha = alpha,
                    .beta = beta,
                    .coulomb = c,
                    .static_ratio = ratio};
    mjg_defaultSettings(&room.settings);
    room.settings.solver = k % 5 ? mjgNEWTON : k / 5 % 2 ? mjgLEMKE : mjgGAUSS_SEIDEL;
    int status = mjg_solve(&room.solution, &room.info, &p, &room.settings, room.work);
    if (status != mjgSOLVED && status != mjgJAMMED) {
      continue;
    }
    solved++;
    mjgCertificate certificate;
    assert_int_equal(mjg_certify(&certificate, NULL, &p, &room.solution, 1e-12, room.work), 0);
    if (!certificate.valid) {
      fail_msg("problem %d: status %d, residual %g, but certificate %g of row %d", k, status,
               room.info.residual, certificate.residual, certificate.worst);
    }
  }
  assert_true(solved > 4000);
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solvedIsCertified),
      cmocka_unit_test(acceptsSolutions),
      cmocka_unit_test(namesWhatIsWrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

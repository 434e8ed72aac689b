// Friction and couplings in one problem: certificates, and chains of couplings stepped in time.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear.h"
#include "mjgear_backlash.h"

#define MAXN 8


static double uniform(double lo, double hi) {
  return lo + (hi - lo) * rand() / RAND_MAX;
}


static double decades(double lo, double hi) {
  return pow(10, uniform(lo, hi));
}


typedef struct Random_ {
  int n;
  double A[MAXN * MAXN], P[MAXN * MAXN], v[MAXN], phi[MAXN], alpha[MAXN], beta[MAXN], c[MAXN];
  mjgBacklash law[MAXN];
  mjgCoupling coupling[MAXN];
  const mjgCoupling* row[MAXN];
  double t[MAXN], v_next[MAXN], lambda[MAXN];
  int mode[MAXN];
  mjgProblem problem;
  mjgSolution solution;
} Random;


// W of n bodies in a random metric, gears on some rows, couplings on others
static void makeRandom(Random* r, int flg_P) {
  int n = r->n = 1 + rand() % MAXN;
  double h = decades(-3.5, -2), L[MAXN][MAXN], scale[MAXN];
  for (int i = 0; i < n; i++) {
    scale[i] = decades(-1, 1);
    for (int j = 0; j < n; j++) {
      L[i][j] = uniform(-1, 1);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = i == j ? 0.3 : 0;
      for (int k = 0; k < n; k++) {
        sum += L[i][k] * L[j][k];
      }
      r->A[i * n + j] = h * sum * scale[i] * scale[j];
    }
  }
  for (int i = 0; i < n; i++) {
    double W = r->A[i * n + i] / h, gu = uniform(0, 0.9), gv = uniform(0, 0.95);
    double force = h * W;
    r->v[i] = uniform(-1, 1);
    r->phi[i] = uniform(-1, 1) / force;
    r->alpha[i] = (gu + gv) * uniform(0, 0.5) / W / h;
    r->beta[i] = gv;
    r->c[i] = rand() % 2 ? uniform(0, 1) / force : 0;
    r->row[i] = NULL;
    if (rand() % 2) {
      continue;
    }
    mjgBacklash* law = &r->law[i];
    *law = (mjgBacklash){.model = rand() % mjgNBACKLASH,
                         .half_gap = decades(-4, -1),
                         .stiffness = decades(1, 6),
                         .damping = rand() % 2 ? decades(-1, 3) : 0,
                         .shaft_inertia = decades(-4, -1) / W,
                         .exponent = 1.5,
                         .restitution = 0.5};
    if (law->model == mjgTORSION) {
      law->half_gap = 0;
      law->hysteresis = rand() % 2 ? decades(-4, -1) : 0;
    }
    law->rubber = uniform(0, 1) * law->half_gap;
    mjgCoupling* c = &r->coupling[i];
    *c = (mjgCoupling){.law = law, .h = h, .omega_d = uniform(-1, 1), .static_ratio = 1};
    c->theta_d = uniform(-1.5, 1.5) * law->half_gap;
    mjg_couplingRest(&c->theta_b, &c->omega_s, law, c->theta_d, c->omega_d);
    if (rand() % 2) {
      c->inertia = decades(-3, 0) / W;
      c->velocity = uniform(-1, 1);
      c->torque = uniform(-1, 1) * c->inertia / h;
      c->gamma_u = uniform(0, 0.9);
      c->gamma_v = uniform(0, 0.95);
      c->coulomb = rand() % 2 ? uniform(0, 1) * c->inertia / h : 0;
    }
    c->blend = mjg_couplingBlend(law, c->inertia > 0 ? h / c->inertia + h * W : h * W, h);
    r->row[i] = c;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      r->P[i * n + j] = r->alpha[i] * r->A[i * n + j] - (i == j ? r->beta[i] : 0);
    }
  }
  r->problem = (mjgProblem){.n = n,
                            .v = r->v,
                            .A = r->A,
                            .phi = r->phi,
                            .P = flg_P ? r->P : NULL,
                            .alpha = r->alpha,
                            .beta = r->beta,
                            .coulomb = r->c,
                            .coupling = r->row};
  r->solution = (mjgSolution){r->t, r->v_next, r->lambda, r->mode};
}


// workspace for n rows in memory that the caller frees
static mjgWorkspace* workspace(void** memory, int n) {
  size_t size = mjg_memsize(n, n);
  *memory = malloc(size);
  mjgWorkspace* work = mjg_create(*memory, size, n, n);
  assert_non_null(work);
  return work;
}


// every row of every result obeys its law, cold and warm, with P given or made from A
static void certified(void** state) {
  (void)state;
  srand(3);
  void* memory;
  mjgWorkspace* work = workspace(&memory, MAXN);
  int fallbacks = 0, couplings = 0;
  long factorizations = 0;
  for (int run = 0; run < 20000; run++) {
    Random r;
    makeRandom(&r, run % 2);
    mjgSettings settings;
    mjg_defaultSettings(&settings);
    mjgInfo info;
    int status = mjg_solve(&r.solution, &info, &r.problem, &settings, work);
    mjgCertificate certificate;
    assert_int_equal(mjg_certify(&certificate, NULL, &r.problem, &r.solution, 1e-8, work),
                     mjgSOLVED);
    if (status != mjgSOLVED || !certificate.valid) {
      print_error("run %d: status %d, residual %g, row %d\n", run, status, certificate.residual,
                  certificate.worst);
      fail();
    }
    fallbacks += info.fallbacks;
    factorizations += info.factorizations;
    for (int i = 0; i < r.n; i++) {
      couplings += r.row[i] != NULL;
    }

    // warm start finds the same
    double before[MAXN];
    memcpy(before, r.t, sizeof before);
    settings.warm_start = 1;
    assert_int_equal(mjg_solve(&r.solution, &info, &r.problem, &settings, work), mjgSOLVED);
    for (int i = 0; i < r.n; i++) {
      assert_true(fabs(r.t[i] - before[i]) * r.A[i * r.n + i] <= 1e-7 * (fabs(r.v[i]) + 1));
    }
  }
  print_message("  %d couplings in 20000 problems, %d fallbacks, %.1f factorizations a problem\n",
                couplings, fallbacks, (double)factorizations / 20000);
  assert_true(fallbacks < 200);
  free(memory);
}


// one coupling alone is mjg_couplingResolve
static void alone(void** state) {
  (void)state;
  srand(4);
  void* memory;
  mjgWorkspace* work = workspace(&memory, 1);
  for (int run = 0; run < 2000;) {
    Random r;
    makeRandom(&r, 0);
    if (r.n > 1 || !r.row[0]) {
      continue;
    }
    mjgSettings settings;
    mjg_defaultSettings(&settings);
    assert_int_equal(mjg_solve(&r.solution, NULL, &r.problem, &settings, work), mjgSOLVED);
    mjgCouplingStep step;
    mjg_couplingResolve(&step, r.row[0], r.v[0], r.A[0]);
    double T = r.row[0]->inertia > 0 ? -step.T : step.T;
    assert_true(fabs(r.t[0] - T) <= 1e-12 * fabs(T));
    assert_int_equal(r.mode[0], step.mode);
    run++;
  }
  free(memory);
}


// form (b), motor with gear friction and load as two bodies, equals form (a) with the same motor
// as a rotor: the same step, solved in one problem and in one scalar law
static void formsAgree(void** state) {
  (void)state;
  srand(5);
  void* memory;
  mjgWorkspace* work = workspace(&memory, 2);
  const double h = 1e-3;
  for (int run = 0; run < 4000; run++) {
    double m = decades(-4, 0), M = decades(-2, 1), gu = uniform(0, 0.8), gv = uniform(0, 0.95);
    double w = uniform(-2, 2), v = uniform(-2, 2), tau = uniform(-3, 3) * m / h;
    mjgBacklash law = {.model = run % mjgNBACKLASH,
                       .half_gap = 1e-3,
                       .stiffness = decades(2, 6),
                       .damping = decades(-1, 2),
                       .rubber = 1e-3,
                       .shaft_inertia = decades(-5, -3),
                       .exponent = 1.5,
                       .restitution = 1};
    if (law.model == mjgTORSION) {
      law.half_gap = law.rubber = 0;
      law.hysteresis = 1e-3;
    }
    mjgCoupling a = {.law = &law, .h = h, .theta_d = uniform(-2e-3, 2e-3), .omega_d = w - v};
    a.blend = mjg_couplingBlend(&law, h * (1 / m + 1 / M), h);
    mjg_couplingRest(&a.theta_b, &a.omega_s, &law, a.theta_d, a.omega_d);
    mjgCoupling b = a;
    a.inertia = m;
    a.velocity = w;
    a.torque = tau;
    a.gamma_u = gu;
    a.gamma_v = gv;
    a.coulomb = 0.1 * m / h;
    a.static_ratio = 1;
    mjgCouplingStep step;
    mjg_couplingResolve(&step, &a, v, h / M);

    // rows: friction on the motor, the gap between motor and load
    double A[4] = {h / m, h / m, h / m, h / m + h / M};
    double vhat[2] = {w + h / m * tau, w + h / m * tau - v};
    double phi[2] = {0, 0}, alpha[2] = {(gu + gv) * m / h, 0}, beta[2] = {gv, 0};
    double c[2] = {a.coulomb, 0}, v0[2] = {w, 0};
    const mjgCoupling* row[2] = {NULL, &b};
    double t[2], next[2], lambda[2];
    int mode[2];
    mjgProblem problem = {.n = 2,
                          .v = vhat,
                          .A = A,
                          .phi = phi,
                          .alpha = alpha,
                          .beta = beta,
                          .coulomb = c,
                          .v0 = v0,
                          .coupling = row};
    mjgSolution solution = {t, next, lambda, mode};
    mjgSettings settings;
    mjg_defaultSettings(&settings);
    assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgSOLVED);
    double scale = fabs(step.T) + fabs(step.friction) + m / h * (fabs(w) + fabs(v));
    assert_true(fabs(t[1] - step.T) <= 1e-8 * scale);
    assert_true(fabs(t[0] - step.friction) <= 1e-8 * scale);
    assert_int_equal(mode[0], step.mode);
  }
  free(memory);
}


// bad couplings are refused
static void refusals(void** state) {
  (void)state;
  void* memory;
  mjgWorkspace* work = workspace(&memory, 1);
  mjgBacklash law = {.model = mjgDEADZONE, .stiffness = 1};
  mjgCoupling good = {.law = &law, .h = 1e-3, .inertia = 1, .static_ratio = 1}, bad = good;
  const mjgCoupling* row[1] = {&bad};
  double one = 1, zero = 0, t, v, lambda;
  int mode;
  mjgProblem problem = {
      .n = 1, .v = &one, .A = &one, .phi = &zero, .alpha = &zero, .beta = &zero, .coupling = row};
  mjgSolution solution = {&t, &v, &lambda, &mode};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgSOLVED);
  bad.h = 0;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_ARGUMENT);
  bad = good;
  bad.law = NULL;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_ARGUMENT);
  bad = good;
  bad.theta_d = NAN;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_NOT_FINITE);
  bad = good;
  bad.yield = -1;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_ARGUMENT);
  bad = good;
  bad.yield = INFINITY;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_NOT_FINITE);
  bad = good;
  bad.blend = 1;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, work), mjgERR_ARGUMENT);
  free(memory);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(certified),
      cmocka_unit_test(alone),
      cmocka_unit_test(formsAgree),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// The paper's projection and Korpelevich's method: they find the solution if their fixed point
// converges or the inequality is monotone; otherwise they report that they did not

#include "solvers/solvers.h"

#include <math.h>

#include "against_oracle.h"


static void wellPosed(void** state) {
  assert_int_equal(againstOracle(mjgPROJECTION, 0.4, 200, 1e-8), 0);
  assert_int_equal(againstOracle(mjgEXTRAGRADIENT, 0.4, 200, 1e-8), 0);
}


static void illPosed(void** state) {
  assert_true(againstOracle(mjgPROJECTION, 2, 60, 1e-6) < 60);
  assert_true(againstOracle(mjgEXTRAGRADIENT, 2, 60, 1e-6) < 60);
}


// the load that belongs to directions of motion, lambda = phi + P [s] (|lambda| + c), by both methods
static void loads(void** state) {
  Room room;
  openRoom(&room);
  mjgiBlock* b = &room.work->block;
  uint64_t seed = 4;
  for (int k = 0; k < 500; k++) {
    // a block in its own units with a small P
    int n = b->n = 1 + k % 6;
    b->flg_P = k % 2;
    double s[6];
    for (int i = 0; i < n; i++) {
      s[i] = oracle_uniform(&seed, -1, 1);
      b->v[i] = oracle_normal(&seed);
      b->phi[i] = oracle_normal(&seed);
      b->c[i] = oracle_uniform(&seed, 0, 1);
      b->rp[i] = 1;
      b->rm[i] = 1.2;
      b->alpha[i] = b->flg_P ? 0 : oracle_uniform(&seed, -0.2, 0.2);
      b->beta[i] = b->flg_P ? 0 : oracle_uniform(&seed, 0, 0.3);
      b->lambda[i] = b->phi[i];
      for (int j = 0; j < n; j++) {
        b->A[i * n + j] = i == j ? 1 : oracle_uniform(&seed, -0.1, 0.1);
        b->P[i * n + j] = oracle_uniform(&seed, -0.1, 0.1);
      }
      b->p[i] = b->flg_P ? b->P[i * n + i] : b->alpha[i] - b->beta[i];
    }
    double first[6] = {0};
    for (int flg_newton = 0; flg_newton < 2; flg_newton++) {
      assert_int_equal(mjgi_viEvaluate(b, s, flg_newton, 1000, 1e-14), 1);
      for (int i = 0; i < n; i++) {
        double lambda = b->phi[i];
        for (int j = 0; j < n; j++) {
          double P = b->flg_P ? b->P[i * n + j]
                              : b->alpha[i] * b->A[i * n + j] - (i == j ? b->beta[i] : 0);
          double r = s[j] > 0 ? 1 : 1.2;
          lambda += P * s[j] * r * (fabs(b->lambda[j]) + b->c[j]);
        }
        assert_near(b->lambda[i], lambda, 1e-12);
        assert_near(b->lambda[i], flg_newton ? first[i] : b->lambda[i], 1e-12);
        first[i] = b->lambda[i];
      }
    }
  }
  closeRoom(&room);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wellPosed), cmocka_unit_test(illPosed),
                                     cmocka_unit_test(loads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

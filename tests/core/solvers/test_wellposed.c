// Uniqueness: a well-posed problem has one solution, and its determinants have one sign.

#include "solvers/solvers.h"

#include <math.h>

#include "fixture.h"


// unit diagonal as mjgi_wellPosed wants it
static void normalize(double* A, double* alpha, const oracleProblem* p) {
  int n = p->problem.n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i * n + j] = p->A[i * n + j] / sqrt(p->A[i * n + i] * p->A[j * n + j]);
    }
    A[i * n + i] = 1;
    alpha[i] = p->alpha[i] * p->A[i * n + i];
  }
}


// determinant by expansion, n <= 4
static double determinant(const double* M, int n) {
  if (n == 1) {
    return M[0];
  }
  double sum = 0;
  for (int k = 0; k < n; k++) {
    double minor[9];
    for (int i = 1; i < n; i++) {
      for (int j = 0, to = 0; j < n; j++) {
        if (j != k) {
          minor[(i - 1) * (n - 1) + to++] = M[i * n + j];
        }
      }
    }
    sum += (k % 2 ? -1 : 1) * M[k] * determinant(minor, n - 1);
  }
  return sum;
}


// The criterion against its definition: the rows A_i, e_i - P_i, e_i + P_i in all 3^n combinations.
// Sufficient always; where alpha > 0 it is nearly necessary, which the counts show.
static void determinantsHaveOneSign(void** state) {
  uint64_t seed = 1;
  static oracleProblem p;
  int known = 0, missed = 0, ill = 0;
  for (int k = 0; k < 4000; k++) {
    int n = 1 + k % 4;
    oracleDraw draw = {.n = n, .gamma_max = k % 2 ? 1.5 : 3, .decades = 2};
    oracle_draw(&p, &draw, &seed);
    double A[16], alpha[4], S[16];
    normalize(A, alpha, &p);
    // rotors of one size, so that gamma_v > 1 may be well posed, too
    for (int i = 0; i < n; i++) {
      alpha[i] = k % 3 ? alpha[i] : oracle_uniform(&seed, -1, 3);
    }
    int claimed = mjgi_wellPosed(A, alpha, p.beta, n, S);

    int ncode = 1, one_sign = 1;
    for (int i = 0; i < n; i++) {
      ncode *= 3;
    }
    for (int code = 0; code < ncode; code++) {
      double M[16];
      for (int i = 0, rest = code; i < n; i++, rest /= 3) {
        int sign = rest % 3 - 1;
        for (int j = 0; j < n; j++) {
          double P = alpha[i] * A[i * n + j] - (i == j ? p.beta[i] : 0);
          M[i * n + j] = sign == 0 ? A[i * n + j] : (i == j) - sign * P;
        }
      }
      one_sign &= determinant(M, n) > 0;
    }
    known += claimed;
    missed += one_sign && !claimed;
    ill += !one_sign;
    assert_true(one_sign || !claimed);
  }
  print_message("well posed and known: %d, well posed and not known: %d, ill posed: %d\n", known,
                missed, ill);
  assert_true(known > 500 && ill > 500 && missed < known / 10);
}


// the condition for one joint: |P| < 1
static void oneJoint(void** state) {
  double A = 1, S;
  for (int k = 0; k < 2000; k++) {
    double alpha = (k % 40 - 10) / 5.0 + 0.01, beta = (double)(k / 40) / 10 - 2 + 0.005;
    double P = alpha - beta;
    assert_int_equal(mjgi_wellPosed(&A, &alpha, &beta, 1, &S), fabs(P) < 1);
  }
}


// gears with 0 <= gamma < 1 are well posed for any sigma_max(P)
static void backdrivable(void** state) {
  uint64_t seed = 2;
  static oracleProblem p;
  Room room;
  openRoom(&room);
  int large = 0;
  for (int k = 0; k < 3000; k++) {
    oracleDraw draw = {.n = 1 + k % 12, .gamma_max = 0.999, .decades = 8};
    oracle_draw(&p, &draw, &seed);
    double A[144], alpha[12], S[144];
    normalize(A, alpha, &p);
    assert_int_equal(mjgi_wellPosed(A, alpha, p.beta, draw.n, S), 1);
    assert_int_equal(mjg_solve(&room.solution, &room.info, &p.problem, &room.settings, room.work),
                     mjgSOLVED);

    // no column is longer than sigma_max
    double longest = 0;
    for (int j = 0; j < draw.n; j++) {
      double length = 0;
      for (int i = 0; i < draw.n; i++) {
        length = hypot(length, p.P[i * draw.n + j]);
      }
      longest = fmax(longest, length);
    }
    large += longest > 1;
  }
  print_message("sigma_max(P) > 1 in %d of 3000\n", large);
  assert_true(large > 300);
  closeRoom(&room);
}


// the factors are found again, and a P of another form is recognized
static void factors(void** state) {
  uint64_t seed = 3;
  static oracleProblem p;
  for (int k = 0; k < 1000; k++) {
    int n = 2 + k % 6;
    oracleDraw draw = {.n = n, .gamma_max = 2, .decades = 0};
    oracle_draw(&p, &draw, &seed);
    double alpha[12], beta[12];
    assert_int_equal(mjgi_factorP(alpha, beta, p.A, p.P, n), 1);
    for (int i = 0; i < n; i++) {
      assert_near(alpha[i], p.alpha[i], 1e-9 * p.alpha[i]);
      assert_near(beta[i], p.beta[i], 1e-9 * (1 + p.alpha[i] * p.A[i * n + i]));
    }
    if (n > 2) {
      p.P[1] += 1e-3 * fabs(p.P[2]) + 1e-3;
      assert_int_equal(mjgi_factorP(alpha, beta, p.A, p.P, n), 0);
    }
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(determinantsHaveOneSign),
      cmocka_unit_test(oneJoint),
      cmocka_unit_test(backdrivable),
      cmocka_unit_test(factors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

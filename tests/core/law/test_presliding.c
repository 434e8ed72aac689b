// Joints that yield before they slip: the inclusion, written here independently, in random steps
// with random gears; energy of the spring and work of friction; the limit of infinite stiffness;
// all solvers.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "mjgear.h"

#define N 4

// some joints in one step, as a robot has it
typedef struct Step_ {
  int n;
  double h;
  double A[N * N], v[N], phi[N], alpha[N], beta[N], c[N];  // problem of joints that stick
  double stiffness[N], t_last[N];
  double t[N], next[N], slip[N], lambda[N];  // result; next: velocity of the joint
  int mode[N];
} Step;


// A = scale M^-1 of a symmetric positive definite matrix, by Gauss and Jordan; M is overwritten
static void invert(double* A, double* M, int n, double scale) {
  for (int i = 0; i < n * n; i++) {
    A[i] = i % (n + 1) ? 0 : scale;
  }
  for (int k = 0; k < n; k++) {
    double pivot = M[k * (n + 1)];
    for (int j = 0; j < n; j++) {
      M[k * n + j] /= pivot;
      A[k * n + j] /= pivot;
    }
    for (int i = 0; i < n; i++) {
      double factor = M[i * n + k];
      for (int j = 0; j < n && i != k; j++) {
        M[i * n + j] -= factor * M[k * n + j];
        A[i * n + j] -= factor * A[k * n + j];
      }
    }
  }
}


static void drawStep(Step* s, double worst_gamma) {
  *s = (Step){.n = 1 + (int)draw(0, N - 1e-9), .h = pow(10, draw(-4, -2))};

  // A = h (L L' + [m])^-1: links and rotors
  double L[N * N] = {0}, M[N * N], m[N];
  int n = s->n;
  for (int i = 0; i < n; i++) {
    m[i] = pow(10, draw(-3, 1));
    for (int j = 0; j <= i; j++) {
      L[i * n + j] = i == j ? draw(0.3, 3) : draw(-1, 1);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      M[i * n + j] = i == j ? m[i] : 0;
      for (int k = 0; k < n; k++) {
        M[i * n + j] += L[i * n + k] * L[j * n + k];
      }
    }
  }
  invert(s->A, M, n, s->h);
  for (int i = 0; i < s->n; i++) {
    double gamma_u = draw(0, 0.9), gamma_v = draw(0, worst_gamma), g = gamma_u + gamma_v;
    s->v[i] = draw(-2, 2) * pow(10, draw(-3, 0));
    s->phi[i] = g * draw(-10, 10);
    s->alpha[i] = g * m[i] / s->h;
    s->beta[i] = gamma_v;
    s->c[i] = draw(0, 1) < 0.3 ? 0 : draw(0, 5);
    s->stiffness[i] = pow(10, draw(2, 7));
    s->t_last[i] = draw(-8, 8);
  }
}


static int solve(Step* s, int solver) {
  int n = s->n;
  double A[N * N], P[N * N], v[N];
  memcpy(A, s->A, sizeof A);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      P[i * n + j] = s->alpha[i] * A[i * n + j] - (i == j ? s->beta[i] : 0);
    }
    v[i] = s->v[i];
    mjg_addPresliding(v + i, A + i * (n + 1), mjg_preslidingCompliance(s->stiffness[i], s->h),
                      s->t_last[i]);
  }
  const mjgProblem problem = {.n = n, .v = v, .A = A, .phi = s->phi, .P = P, .coulomb = s->c};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = solver;
  memset(s->t, 0, sizeof s->t);
  memset(s->mode, 0, sizeof s->mode);
  mjgSolution solution = {s->t, s->slip, s->lambda, s->mode};
  double memory[8192];
  int status = mjg_solve(&solution, NULL, &problem, &settings,
                         mjg_create(memory, sizeof memory, s->n, s->n));
  for (int i = 0; i < s->n; i++) {
    s->next[i] = mjg_preslidingVelocity(
        s->slip[i], s->t[i], mjg_preslidingCompliance(s->stiffness[i], s->h), s->t_last[i]);
  }
  return status;
}


// distance from the inclusion, from t and the data of the joint that sticks alone
static double residual(const Step* s) {
  double most = 0;
  for (int i = 0; i < s->n; i++) {
    double v = s->v[i], load = s->phi[i] - s->beta[i] * s->t[i], size = fabs(s->v[i]);
    double terms = fabs(s->phi[i]) + fabs(s->beta[i] * s->t[i]);
    for (int j = 0; j < s->n; j++) {
      double part = s->A[i * s->n + j] * s->t[j];
      v -= part;
      load += s->alpha[i] * part;
      terms += fabs(s->alpha[i] * part);
      size += fabs(part);
    }

    // the spring holds t, and yields by (t - t_last)/sigma over the step
    double yields = (s->t[i] - s->t_last[i]) / (s->stiffness[i] * s->h), slip = v - yields;
    double bound = fabs(load) + s->c[i], own = s->A[i * (s->n + 1)] + 1 / (s->stiffness[i] * s->h);
    double torque = fabs(s->t[i]) + fabs(s->t_last[i]) + terms + s->c[i];
    size += torque * own;

    // t is the bound in the direction of slip, or less without slip: t = clip(t + slip/own) with the bound
    double trial = s->t[i] + slip / own;
    double clipped = trial > bound ? bound : trial < -bound ? -bound : trial;
    most = fmax(most, fabs(s->t[i] - clipped) / (torque + size / own));
    most = fmax(most, fabs(v - s->next[i]) / size);
  }
  return most;
}


//---------------------------------- tests ---------------------------------------------------------

static void inclusion(void** state) {
  Step s;
  for (int k = 0; k < 100000; k++) {
    drawStep(&s, 0.95);
    assert_int_equal(solve(&s, mjgNEWTON), mjgSOLVED);
    assert_true(residual(&s) < 1e-10);
    for (int i = 0; i < s.n; i++) {
      // friction takes the work of the joint that the spring does not store
      double given = s.h * s.t[i] * s.next[i], lost = s.h * s.t[i] * s.slip[i];
      double stored = 0.5 * (s.t[i] * s.t[i] - s.t_last[i] * s.t_last[i]) / s.stiffness[i];
      assert_true(lost >= 0);

      // a joint yields by the change of its torque over its stiffness; the rest of its motion is
      // slip
      double yields = (s.t[i] - s.t_last[i]) / (s.stiffness[i] * s.h), next = s.next[i];
      double compliance = mjg_preslidingCompliance(s.stiffness[i], s.h);
      double slip = mjg_preslidingSlip(next, s.t[i], compliance, s.t_last[i]);
      assert_true(fabs(slip - (next - yields)) <= 1e-12 * (fabs(next) + fabs(yields)));
      assert_true(given >= stored + lost - 1e-12 * (fabs(given) + fabs(stored) + lost));
      assert_true((s.mode[i] == 0) == (s.slip[i] == 0));
    }
  }
}


// self-locking gears: on the law, or with another status than solved
static void selfLocking(void** state) {
  Step s;
  int solved = 0;
  for (int k = 0; k < 20000; k++) {
    drawStep(&s, 3);
    int status = solve(&s, mjgNEWTON);
    assert_true(status >= 0);
    if (status == mjgSOLVED || status == mjgJAMMED) {
      solved++;
      assert_true(residual(&s) < 1e-10);
    }
  }
  assert_true(solved >= 19990);
}


static void solversAgree(void** state) {
  static const int solvers[] = {mjgGAUSS_SEIDEL, mjgLEMKE, mjgENUMERATION};
  Step a, b;
  for (int k = 0; k < 3000; k++) {
    drawStep(&a, 0.95);
    assert_true(solve(&a, mjgNEWTON) >= 0);
    b = a;
    assert_true(solve(&b, solvers[k % 3]) >= 0);
    for (int i = 0; i < a.n; i++) {
      assert_true(fabs(a.t[i] - b.t[i]) <= 1e-8 * (1 + fabs(a.t[i])));
    }
  }
}


// the stiffer, the nearer to the joint that sticks; infinite stiffness is that joint to the bit
static void stickIsTheLimit(void** state) {
  for (int k = 0; k < 2000; k++) {
    Step rigid, s;
    drawStep(&rigid, 0.95);
    for (int i = 0; i < rigid.n; i++) {
      rigid.stiffness[i] = k % 2 ? INFINITY : 0;
    }
    assert_int_equal(solve(&rigid, mjgNEWTON), mjgSOLVED);
    for (double stiffness = 1e8; stiffness < 1e15; stiffness *= 1e3) {
      s = rigid;
      double away = 0, yields = 0;
      for (int i = 0; i < s.n; i++) {
        s.stiffness[i] = stiffness;
      }
      assert_int_equal(solve(&s, mjgNEWTON), mjgSOLVED);
      for (int i = 0; i < s.n; i++) {
        away = fmax(away, fabs(s.next[i] - rigid.next[i]));
        yields += fabs(s.t[i] - s.t_last[i]) / (stiffness * s.h);
      }

      // no more than their yielding, times the effect of one joint's motion on another
      assert_true(away < 30 * yields + 1e-11);
    }

    // to the bit
    double P[N * N];
    for (int i = 0; i < rigid.n; i++) {
      for (int j = 0; j < rigid.n; j++) {
        P[i * rigid.n + j] =
            rigid.alpha[i] * rigid.A[i * rigid.n + j] - (i == j ? rigid.beta[i] : 0);
      }
    }
    mjgProblem problem = {
        .n = rigid.n, .v = rigid.v, .A = rigid.A, .phi = rigid.phi, .P = P, .coulomb = rigid.c};
    mjgSettings settings;
    mjg_defaultSettings(&settings);
    double t[N] = {0}, v[N], lambda[N], memory[8192];
    int mode[N] = {0};
    mjgSolution solution = {t, v, lambda, mode};
    assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings,
                               mjg_create(memory, sizeof memory, rigid.n, rigid.n)),
                     mjgSOLVED);
    assert_memory_equal(t, rigid.t, sizeof(double) * (size_t)rigid.n);
    assert_memory_equal(v, rigid.next, sizeof(double) * (size_t)rigid.n);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inclusion),
      cmocka_unit_test(selfLocking),
      cmocka_unit_test(solversAgree),
      cmocka_unit_test(stickIsTheLimit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

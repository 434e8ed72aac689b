#include "paper.h"

#include <math.h>

#define INNER 1000


// lambda := phi + P [s] |lambda| until it moves by less than a part of the tolerance; 0 if it does not
static int iterateLoad(double* lambda, double* next, const double* P, const double* phi,
                       const double* s, int n, double tolerance) {
  for (int k = 0; k < INNER; k++) {
    double change = 0, size = 0;
    for (int i = 0; i < n; i++) {
      double sum = phi[i];
      for (int j = 0; j < n; j++) {
        sum += P[i * n + j] * s[j] * fabs(lambda[j]);
      }
      next[i] = sum;
      change = fmax(change, fabs(sum - lambda[i]));
      size = fmax(size, fabs(sum));
    }
    for (int i = 0; i < n; i++) {
      lambda[i] = next[i];
    }
    if (change <= 0.01 * tolerance * size) {
      return 1;
    }
    if (!isfinite(change)) {
      return 0;
    }
  }
  return 0;
}


int mjg_paperSolve(double* t, double* memory, const mjgProblem* problem, double c, int outer,
                   double tolerance) {
  int n = problem->n;
  double *P = memory, *s = P + n * n, *lambda = s + n, *next = lambda + n;
  for (int i = 0; i < n; i++) {
    s[i] = 0;
    lambda[i] = problem->phi[i];
    for (int j = 0; j < n; j++) {
      P[i * n + j] =
          problem->P ? problem->P[i * n + j]
                     : problem->alpha[i] * problem->A[i * n + j] - (i == j ? problem->beta[i] : 0);
    }
  }
  for (int k = 1; k <= outer; k++) {
    if (!iterateLoad(lambda, next, P, problem->phi, s, n, tolerance)) {
      return -1;
    }
    for (int i = 0; i < n; i++) {
      t[i] = s[i] * fabs(lambda[i]);
    }

    // a joint is right if it stands still, or if its friction is full and opposes its motion
    double residual = 0;
    for (int i = 0; i < n; i++) {
      double v = problem->v[i], size = fabs(v);
      for (int j = 0; j < n; j++) {
        double term = problem->A[i * n + j] * t[j];
        v -= term;
        size += fabs(term);
      }
      next[i] = v;
      if (!(fabs(s[i]) == 1 && s[i] * v >= 0) && lambda[i] != 0 && v != 0) {
        residual = fmax(residual, fabs(v) / size);
      }
    }
    if (residual <= tolerance) {
      return k;
    }

    // s - c F(s), and -F(s) is the velocity
    for (int i = 0; i < n; i++) {
      s[i] = fmax(-1, fmin(1, s[i] + c * next[i]));
    }
  }
  return -1;
}


double mjg_paperStep(const mjgProblem* problem) {
  int n = problem->n;
  double a = 0, b = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      sum += fabs(problem->A[i * n + j]);
    }
    a = fmax(a, sum);
    b = fmax(b, fabs(problem->phi[i]));
  }
  return b > 0 ? 1 / (a * b) : 1 / a;
}


double mjg_paperBestStep(double* t, double* memory, const mjgProblem* problem, int outer,
                         double tolerance) {
  double best = 0;

  // from the middle outwards: early convergence cuts the others short
  for (int k = 0; k < 25; k++) {
    int power = 4 + (k % 2 ? (k + 1) / 2 : -k / 2);
    double c = ldexp(mjg_paperStep(problem), power);
    int used = mjg_paperSolve(t, memory, problem, c, outer, tolerance);
    if (used > 0 && used < outer) {
      outer = used;
      best = c;
    }
  }
  return best;
}

// Couplings beside friction in one block.
//
// A coupling is a law x = X(vhat) of its row's line v+ = vhat - A_ii x, increasing, with kinks
// where the gap closes. Its tangent is a linear equation, which is eliminated; the friction
// solvers solve the remaining problem exactly. This is Newton on the couplings alone. A step that
// does not bring the couplings closer to their laws is shortened; if that fails, each coupling
// takes its own law's torque, and Newton continues.

#include "solvers/solvers.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "mjgear_backlash.h"
#include "solvers/dense.h"

enum {
  mjgiTANGENTS = 100  // Newton steps
};

// shortest share of a step
static const double kShortest = 1.0 / 256;


// distance from the laws at which Newton ends: above round-off of the lines, below the caller's
// tolerance
static const double kExact = 1e-13;


// a block with couplings
typedef struct Split_ {
  const mjgProblem* problem;  // couplings of this block's rows
  const mjgSettings* settings;
  mjgiMethod method;  // for friction
  mjgWorkspace* work;
  mjgInfo* info;
  int n, nf;
  const int* row;         // rows with friction, behind them couplings            (n)
  double* x;              // torques                                              (n)
  double* law;            // X of the couplings at x                              (n)
  double* slope;          // and its derivative                                   (n)
  double* constant;       // x_i + slope_i sum_j A_ij x_j = constant_i, j != i    (n)
  mjgSolution* solution;  // lambda and mode of the couplings at x
  mjgSolution friction;   // results of the rows with friction                    (nf)
  int status;
  double
      distance;  // largest distance of a coupling from its law, relative to the terms of its line
} Split;


// Evaluate the laws at x. Returns the squared distance from them, in velocities.
static double evaluate(Split* s) {
  const double *A = s->problem->A, *x = s->x;
  double merit = 0;
  s->distance = 0;
  for (int c = s->nf; c < s->n; c++) {
    int i = s->row[c];
    const mjgCoupling* coupling = s->problem->coupling[i];
    double vhat = s->problem->v[i], a = A[i * s->n + i], size = fabs(vhat) + fabs(a * x[i]);
    for (int j = 0; j < s->n; j++) {
      double term = j == i ? 0 : A[i * s->n + j] * x[j];
      vhat -= term;
      size += fabs(term);
    }
    mjgCouplingStep step;
    mjg_couplingResolve(&step, coupling, vhat, a);
    double sign = coupling->inertia > 0 ? -1 : 1;
    s->law[i] = sign * step.T;
    s->slope[i] = sign * step.dT;
    s->solution->v[i] = vhat - a * x[i];
    s->solution->lambda[i] = step.lambda;
    s->solution->mode[i] = step.mode;

    // NaN if the law overflows
    double gap = x[i] - s->law[i], share = gap == 0 ? 0 : fabs(gap * a) / size;
    s->distance = share < INFINITY ? fmax(s->distance, share) : INFINITY;
    merit += gap * gap * fabs(a);
  }
  return merit;
}


// Returns the sum over the couplings c of M_ic x_c; entries of x are stride apart.
static double overCouplings(const Split* s, const double* M, int i, const double* x, int stride) {
  double sum = 0;
  for (int c = s->nf; c < s->n; c++) {
    sum += M[i * s->n + s->row[c]] * x[s->row[c] * stride];
  }
  return sum;
}


// Solve for friction with the couplings on their lines, x_c = K_cf x_f + g_c.
static void solveFriction(Split* s, const double* g) {
  int n = s->n, nf = s->nf;
  const mjgProblem* p = s->problem;
  mjgWorkspace* w = s->work;
  double *K = w->coupled_matrix[0], *A = w->coupled_matrix[1], *P = w->coupled_matrix[2];
  double *v = w->coupled_vector[1], *phi = w->coupled_vector[2], **vector = w->coupled_vector + 3;
  for (int a = 0; a < nf; a++) {
    int i = s->row[a];
    double drift = overCouplings(s, p->A, i, g, 1);
    v[a] = p->v[i] - drift;
    phi[a] = p->phi[i] + (p->P ? overCouplings(s, p->P, i, g, 1) : p->alpha[i] * drift);
    for (int b = 0; b < nf; b++) {
      int j = s->row[b];
      A[a * nf + b] = p->A[i * n + j] + overCouplings(s, p->A, i, K + j, n);
      P[a * nf + b] = p->P ? p->P[i * n + j] + overCouplings(s, p->P, i, K + j, n) : 0;
    }
    s->friction.t[a] = s->x[i];
  }
  const double* numbers[] = {p->alpha, p->beta, p->coulomb, p->static_ratio, p->v0};
  for (int k = 0; k < 5; k++) {
    for (int a = 0; a < nf && numbers[k]; a++) {
      vector[k][a] = numbers[k][s->row[a]];
    }
  }
  mjgProblem reduced = {.n = nf,
                        .v = v,
                        .A = A,
                        .phi = phi,
                        .P = p->P ? P : NULL,
                        .alpha = vector[0],
                        .beta = vector[1],
                        .coulomb = p->coulomb ? vector[2] : NULL,
                        .static_ratio = p->static_ratio ? vector[3] : NULL,
                        .v0 = p->v0 ? vector[4] : NULL};
  mjgInfo info = *s->info;
  info.status = mjgSOLVED;
  mjgi_solveFriction(&s->friction, &info, &reduced, s->settings, s->method, w);
  s->status = info.status;
  info.status = s->info->status;
  *s->info = info;
}


// Returns the constant less the line's terms at x, without x_i.
static double onLine(const Split* s, int i, double constant) {
  for (int j = 0; j < s->n; j++) {
    constant -= j == i ? 0 : s->slope[i] * s->problem->A[i * s->n + j] * s->x[j];
  }
  return constant;
}


// Solve for x with the couplings on lines of slope and constant: x_c = K_cf x_f + K_cc constant,
// K the inverse of their equations with x_f = x_f. Returns 0 if the lines are singular.
static int solveLines(Split* s) {
  int n = s->n, nf = s->nf;
  const int* row = s->row;
  double *K = s->work->coupled_matrix[0], *g = s->work->coupled_vector[0];
  memset(K, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n && s->problem->coupling[i]; j++) {
      K[i * n + j] = s->slope[i] * s->problem->A[i * n + j];
    }
    K[i * n + i] = 1;
  }
  s->info->factorizations++;
  if (!mjgi_inverse(K, s->work->coupled_pivot, n)) {
    return 0;
  }
  for (int c = nf; c < n; c++) {
    g[row[c]] = overCouplings(s, K, row[c], s->constant, 1);
  }
  if (nf > 0) {
    solveFriction(s, g);
  }
  for (int a = 0; a < nf; a++) {
    s->x[row[a]] = s->friction.t[a];
  }
  for (int c = nf; c < n; c++) {
    s->x[row[c]] = g[row[c]];
    for (int a = 0; a < nf; a++) {
      s->x[row[c]] += K[row[c] * n + row[a]] * s->friction.t[a];
    }
  }

  // one refinement: stops are stiff
  for (int c = nf; c < n; c++) {
    g[row[c]] = onLine(s, row[c], s->constant[row[c]]) - s->x[row[c]];
  }
  for (int c = nf; c < n; c++) {
    s->x[row[c]] += overCouplings(s, K, row[c], g, 1);
  }
  return 1;
}


// Newton on the couplings from x.
static void newton(Split* s, double tolerance) {
  int n = s->n;
  double *keep = s->work->coupled_vector[8], *goal = s->work->coupled_vector[9];
  size_t bytes = (size_t)n * sizeof(double);

  // the first step always counts: friction does not fit the couplings yet
  double merit = INFINITY;
  evaluate(s);
  for (int k = 0; k < mjgiTANGENTS; k++) {
    memcpy(keep, s->x, bytes);
    for (int c = s->nf; c < n; c++) {
      int i = s->row[c];
      s->constant[i] = s->law[i] - onLine(s, i, 0);
    }
    if (!solveLines(s)) {
      return;
    }
    memcpy(goal, s->x, bytes);
    double next = evaluate(s), step = 1;

    // shorter steps, each with friction solved
    while (s->distance > tolerance && !(next < merit) && step > kShortest) {
      step /= 2;
      for (int j = 0; j < n; j++) {
        s->slope[j] = 0;
        s->constant[j] = keep[j] + step * (goal[j] - keep[j]);
      }
      solveLines(s);
      next = evaluate(s);
    }
    if (s->distance <= tolerance) {
      return;
    }

    // if that fails each coupling takes its own law's torque
    merit = next < merit ? next : INFINITY;
    for (int c = s->nf; c < n && merit == INFINITY; c++) {
      s->x[s->row[c]] = s->law[s->row[c]];
    }
    if (merit == INFINITY) {
      evaluate(s);
    }
  }
}


// Returns an error relative to its terms; infinite if they overflow.
static double relative(double error, double size) {
  double ratio = fabs(error) < DBL_MIN ? 0 : fabs(error) / size;
  return ratio < INFINITY ? ratio : INFINITY;
}


// Returns the largest relative residual of the friction rows in the given problem. The
// reduced problem, which the friction solvers solve, loses digits that cancel between A
// and the lines of the couplings.
static double frictionResidual(const Split* s) {
  const mjgProblem* p = s->problem;
  double worst = 0;
  for (int a = 0; a < s->nf; a++) {
    int i = s->row[a];
    double w = 0, load = 0, size_w = 0, size_load = 0;
    for (int j = 0; j < s->n; j++) {
      double term = p->A[i * s->n + j] * s->x[j], share = p->P ? p->P[i * s->n + j] * s->x[j] : 0;
      w += term;
      size_w += fabs(term);
      load += share;
      size_load += fabs(share);
    }
    if (!p->P) {
      load = p->alpha[i] * w - p->beta[i] * s->x[i];
      size_load = fabs(p->alpha[i]) * size_w + fabs(p->beta[i] * s->x[i]);
    }
    double error_v = s->friction.v[a] - (p->v[i] - w);
    double error_load = s->friction.lambda[a] - (p->phi[i] + load);
    worst = fmax(worst, relative(error_v, fabs(p->v[i]) + size_w));
    worst = fmax(worst, relative(error_load, fabs(p->phi[i]) + size_load + fabs(s->x[i])));
  }
  return worst;
}


void mjgi_solveCoupled(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                       const mjgSettings* settings, mjgiMethod method, mjgWorkspace* work) {
  // rows with friction, then couplings
  int n = problem->n, nf = 0, nc = 0, *row = work->coupled_row;
  for (int i = 0; i < n; i++) {
    if (problem->coupling[i]) {
      row[n - ++nc] = i;
    } else {
      row[nf++] = i;
    }
  }
  double** vector = work->coupled_vector;
  Split split = {.problem = problem,
                 .settings = settings,
                 .method = method,
                 .work = work,
                 .info = info,
                 .n = n,
                 .nf = nf,
                 .row = row,
                 .x = solution->t,
                 .law = vector[10],
                 .slope = vector[11],
                 .constant = vector[12],
                 .solution = solution,
                 .friction = {vector[13], vector[14], vector[15], work->coupled_mode}};
  Split* s = &split;
  for (int i = 0; i < n && !settings->warm_start; i++) {
    s->x[i] = 0;
  }
  newton(s, fmin(kExact, settings->tolerance));
  s->distance = fmax(s->distance, frictionResidual(s));

  for (int a = 0; a < nf; a++) {
    solution->v[row[a]] = s->friction.v[a];
    solution->lambda[row[a]] = s->friction.lambda[a];
    solution->mode[row[a]] = s->friction.mode[a];
  }
  info->residual = fmax(info->residual, s->distance);
  if (!(s->distance <= settings->tolerance)) {
    info->status = mjgITERATION_LIMIT;
  } else if (s->status > info->status) {
    info->status = s->status;
  }
  if (mjgi_replaceOverflow(solution, problem, s->distance)) {
    info->residual = INFINITY;
    info->status = mjgITERATION_LIMIT;
  }
}

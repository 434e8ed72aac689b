// Couplings beside friction in one block.
//
// A coupling is a law x = X(vhat) of its row's line v+ = vhat - A_ii x: increasing, and with
// breaks where the gap closes. At its tangent it is one more linear equation, which is eliminated:
// what remains is a friction problem of the other rows, that the friction solvers solve exactly. The
// result gives new lines and new tangents: Newton on the couplings alone, with friction as exact as
// ever in each iterate. Steps that do not bring the couplings closer to their laws are shortened;
// where that does not help each coupling takes what its own law says, and Newton goes on from there.

#include "solvers/solvers.h"

#include <math.h>
#include <string.h>

#include "mjgear_backlash.h"
#include "solvers/dense.h"

enum {
  mjgiTANGENTS = 100  // Newton steps
};

// shortest share of a step
static const double kShortest = 1.0 / 256;


// distance from the laws at which Newton ends: no finer than rounding in the lines allows, and finer than what
// the caller asks for, because another step costs little
static const double kExact = 1e-13;


// a block with couplings
typedef struct Split_ {
  const mjgProblem* problem;  // of the rows of this block
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


// laws at x; returns the distance from them in velocities that a unit of A makes, squared
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

    // a law that overflows is not zero
    double gap = x[i] - s->law[i], share = gap == 0 ? 0 : fabs(gap * a) / size;
    s->distance = share < INFINITY ? fmax(s->distance, share) : INFINITY;
    merit += gap * gap * fabs(a);
  }
  return merit;
}


// friction where the couplings are on their lines
static void solveFriction(Split* s, const double* g) {
  int n = s->n, nf = s->nf;
  const mjgProblem* p = s->problem;
  mjgWorkspace* w = s->work;
  const double* K = w->coupled_matrix[0];
  double *A = w->coupled_matrix[1], *P = w->coupled_matrix[2], **vector = w->coupled_vector;
  double *v = vector[1], *phi = vector[2], *alpha = vector[3], *beta = vector[4];
  double *coulomb = vector[5], *ratio = vector[6], *v0 = vector[7];
  const int *friction = s->row, *coupling = s->row + nf;
  for (int a = 0; a < nf; a++) {
    int i = friction[a];
    double drift = 0, load = 0;
    for (int c = 0; c < n - nf; c++) {
      drift += p->A[i * n + coupling[c]] * g[c];
      load += p->P ? p->P[i * n + coupling[c]] * g[c] : 0;
    }
    v[a] = p->v[i] - drift;
    phi[a] = p->phi[i] + (p->P ? load : p->alpha[i] * drift);
    for (int b = 0; b < nf; b++) {
      int j = friction[b];
      double sum = p->A[i * n + j], sum_P = p->P ? p->P[i * n + j] : 0;
      for (int c = 0; c < n - nf; c++) {
        double share = K[coupling[c] * n + j];
        sum += p->A[i * n + coupling[c]] * share;
        sum_P += p->P ? p->P[i * n + coupling[c]] * share : 0;
      }
      A[a * nf + b] = sum;
      P[a * nf + b] = sum_P;
    }
    alpha[a] = p->P ? 0 : p->alpha[i];
    beta[a] = p->P ? 0 : p->beta[i];
    coulomb[a] = p->coulomb ? p->coulomb[i] : 0;
    ratio[a] = p->static_ratio ? p->static_ratio[i] : 1;
    v0[a] = p->v0 ? p->v0[i] : 0;
    s->friction.t[a] = s->x[i];
  }
  mjgProblem reduced = {.n = nf,
                        .v = v,
                        .A = A,
                        .phi = phi,
                        .P = p->P ? P : NULL,
                        .alpha = alpha,
                        .beta = beta,
                        .coulomb = coulomb,
                        .static_ratio = ratio,
                        .v0 = v0};
  mjgInfo info = *s->info;
  info.status = mjgSOLVED;
  mjgi_solveFriction(&s->friction, &info, &reduced, s->settings, s->method, w);
  s->status = info.status;
  info.status = s->info->status;
  *s->info = info;
}


// x where the couplings are on lines, by slope and constant: with K the inverse of their equations beside x_f = x_f they
// are x_c = K_cf x_f + K_cc constant, and what is left is friction. Returns 0 if the lines are singular
static int solveLines(Split* s) {
  int n = s->n, nf = s->nf;
  const mjgProblem* p = s->problem;
  mjgWorkspace* w = s->work;
  double *K = w->coupled_matrix[0], *g = w->coupled_vector[0];
  const int *friction = s->row, *coupling = s->row + nf;
  memset(K, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int c = 0; c < n - nf; c++) {
    for (int j = 0, i = coupling[c]; j < n; j++) {
      K[i * n + j] = s->slope[i] * p->A[i * n + j];
    }
  }
  for (int i = 0; i < n; i++) {
    K[i * n + i] = 1;
  }
  s->info->factorizations++;
  if (!mjgi_inverse(K, w->coupled_pivot, n)) {
    return 0;
  }
  for (int c = 0; c < n - nf; c++) {
    g[c] = 0;
    for (int d = 0; d < n - nf; d++) {
      g[c] += K[coupling[c] * n + coupling[d]] * s->constant[coupling[d]];
    }
  }

  if (nf > 0) {
    solveFriction(s, g);
  }
  for (int a = 0; a < nf; a++) {
    s->x[friction[a]] = s->friction.t[a];
  }
  for (int c = 0; c < n - nf; c++) {
    double sum = g[c];
    for (int a = 0; a < nf; a++) {
      sum += K[coupling[c] * n + friction[a]] * s->friction.t[a];
    }
    s->x[coupling[c]] = sum;
  }

  // once more for what is left: stops are stiff
  for (int c = 0; c < n - nf; c++) {
    int i = coupling[c];
    g[c] = s->constant[i] - s->x[i];
    for (int j = 0; j < n; j++) {
      g[c] -= j == i ? 0 : s->slope[i] * p->A[i * n + j] * s->x[j];
    }
  }
  for (int c = 0; c < n - nf; c++) {
    for (int d = 0; d < n - nf; d++) {
      s->x[coupling[c]] += K[coupling[c] * n + coupling[d]] * g[d];
    }
  }
  return 1;
}


// Newton on the couplings, from x to where they are on their laws or as far as it gets
static void newton(Split* s, double tolerance) {
  int n = s->n;
  double *keep = s->work->coupled_vector[8], *goal = s->work->coupled_vector[9];
  size_t bytes = (size_t)n * sizeof(double);

  // the first step is free: friction does not fit to the couplings yet
  double merit = INFINITY;
  evaluate(s);
  for (int k = 0; k < mjgiTANGENTS; k++) {
    memcpy(keep, s->x, bytes);
    for (int c = s->nf; c < n; c++) {
      int i = s->row[c];
      s->constant[i] = s->law[i];
      for (int j = 0; j < n; j++) {
        s->constant[i] += j == i ? 0 : s->slope[i] * s->problem->A[i * n + j] * s->x[j];
      }
    }
    if (!solveLines(s)) {
      return;
    }
    memcpy(goal, s->x, bytes);
    double next = evaluate(s), step = 1;

    // shorter steps, with friction solved for the couplings of each
    for (int i = 0; s->distance > tolerance && !(next < merit) && step > kShortest; i++) {
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

    // where that does not help each coupling takes what its own law says
    merit = next < merit ? next : INFINITY;
    for (int c = s->nf; c < n && merit == INFINITY; c++) {
      s->x[s->row[c]] = s->law[s->row[c]];
    }
    if (merit == INFINITY) {
      evaluate(s);
    }
  }
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

  // rows with friction are where the last lines have left them
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

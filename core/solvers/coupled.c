// Couplings beside friction in one block.
//
// A coupling is a law x = X(vhat) of its row's line v+ = vhat - A_ii x: increasing, and with
// breaks where the gap closes. At its tangent it is one more linear equation, which is eliminated:
// what remains is a friction problem of the other rows, that the friction solvers solve exactly. The
// result gives new lines and new tangents: Newton on the couplings alone, with friction as exact as
// ever in each iterate. Steps that do not bring the couplings closer to their laws are shortened;
// where that does not help couplings are solved one by one.

#include "solvers/solvers.h"

#include <math.h>
#include <string.h>

#include "mjgear_backlash.h"
#include "solvers/dense.h"
#include "solvers/simd.h"

enum {
  mjgiTANGENTS = 50,    // Newton steps
  mjgiSHORTENINGS = 8,  // halvings of a step
  mjgiROUNDS = 5,       // couplings one by one, between two attempts of Newton's
  mjgiATTEMPTS = 100    // attempts of both
};

// distance from the laws at which Newton ends: no finer than rounding in the lines allows, and finer than what
// the caller asks for, because another step costs little
static const double kExact = 1e-13;


// a block taken apart: rows with friction first, then couplings
typedef struct Split_ {
  const mjgProblem* problem;
  const mjgSettings* settings;
  mjgWorkspace* work;
  mjgInfo* info;
  int first, n, nf, nc;
  const double *A, *P;
  const int* row;  // rows of the block in the order of the parts          (n)
  double* x;       // torques in that order                                (n)
  double* law;     // X of the couplings at x                              (nc)
  double* slope;   // and its derivative                                   (nc)
  int known;       // law and slope are those of x
  mjgSolution
      friction;  // results of the rows with friction, behind them lambda and mode of the couplings at x  (n)
  mjgiMethod method;  // for friction
  int status;
} Split;


static double entryA(const Split* s, int i, int j) {
  return s->A[s->row[i] * s->n + s->row[j]];
}


// entry of P whichever form it has; of friction rows only
static double entryP(const Split* s, int i, int j) {
  int row = s->row[i];
  if (s->P) {
    return s->P[row * s->n + s->row[j]];
  }
  return s->problem->alpha[s->first + row] * entryA(s, i, j) -
         (i == j ? s->problem->beta[s->first + row] : 0);
}


static const mjgCoupling* coupling(const Split* s, int c) {
  return s->problem->coupling[s->first + s->row[s->nf + c]];
}


// X and slope of coupling c at its line, its lambda and mode
static double resolve(double* slope, Split* s, int c, double vhat) {
  const mjgCoupling* k = coupling(s, c);
  mjgCouplingStep step;
  mjg_couplingResolve(&step, k, vhat, entryA(s, s->nf + c, s->nf + c));
  double sign = k->inertia > 0 ? -1 : 1;
  *slope = sign * step.dT;
  s->friction.lambda[s->nf + c] = step.lambda;
  s->friction.mode[s->nf + c] = step.mode;
  return sign * step.T;
}


// velocity of coupling c without its own torque
static double line(const Split* s, int c) {
  int i = s->nf + c;
  double v = s->problem->v[s->first + s->row[i]];
  for (int j = 0; j < s->n; j++) {
    v -= j == i ? 0 : entryA(s, i, j) * s->x[j];
  }
  return v;
}


// laws at x; returns the distance from them in velocities that a unit of A makes, squared
static double evaluate(Split* s) {
  double merit = 0;
  for (int c = 0; c < s->nc; c++) {
    s->law[c] = resolve(&s->slope[c], s, c, line(s, c));
    double a = fabs(entryA(s, s->nf + c, s->nf + c)), gap = s->x[s->nf + c] - s->law[c];
    merit += gap * gap * a;
  }
  s->known = 1;
  return merit;
}


// largest distance of a coupling from its law, relative to the terms that its line is made of
static double distance(const Split* s) {
  double worst = 0;
  for (int c = 0; c < s->nc; c++) {
    int i = s->nf + c;
    double size = fabs(s->problem->v[s->first + s->row[i]]);
    for (int j = 0; j < s->n; j++) {
      size += fabs(entryA(s, i, j) * s->x[j]);
    }
    double gap = fabs((s->x[i] - s->law[c]) * entryA(s, i, i));
    double share = gap == 0 ? 0 : gap / size;
    if (!(share < INFINITY)) {
      return INFINITY;  // a law that overflows is not zero
    }
    worst = fmax(worst, share);
  }
  return worst;
}


// friction for given couplings x_c = g - G x_f, G nullable; sets x_f
static void solveFriction(Split* s, const double* g, const double* G) {
  int nf = s->nf, nc = s->nc;
  const mjgProblem* p = s->problem;
  mjgWorkspace* w = s->work;
  double *A = w->coupled_matrix[2], *P = w->coupled_matrix[3];
  double *v = w->coupled_vector[4], *phi = w->coupled_vector[5];
  double *alpha = w->coupled_vector[6], *beta = w->coupled_vector[7];
  double *coulomb = w->coupled_vector[8], *ratio = w->coupled_vector[9];
  double* v0 = w->coupled_vector[10];
  if (nf == 0) {
    return;
  }

  for (int i = 0; i < nf; i++) {
    int row = s->first + s->row[i];
    v[i] = p->v[row];
    phi[i] = p->phi[row];
    for (int c = 0; c < nc; c++) {
      v[i] -= entryA(s, i, nf + c) * g[c];
      phi[i] += entryP(s, i, nf + c) * g[c];
    }
    for (int j = 0; j < nf; j++) {
      double a = entryA(s, i, j), b = entryP(s, i, j);
      for (int c = 0; G && c < nc; c++) {
        a -= entryA(s, i, nf + c) * G[c * nf + j];
        b -= entryP(s, i, nf + c) * G[c * nf + j];
      }
      A[i * nf + j] = a;
      P[i * nf + j] = b;
    }
    alpha[i] = s->P ? 0 : p->alpha[row];
    beta[i] = s->P ? 0 : p->beta[row];
    coulomb[i] = p->coulomb ? p->coulomb[row] : 0;
    ratio[i] = p->static_ratio ? p->static_ratio[row] : 1;
    v0[i] = p->v0 ? p->v0[row] : 0;
    s->friction.t[i] = s->x[i];
  }

  mjgProblem reduced = {.n = nf,
                        .v = v,
                        .A = A,
                        .phi = phi,
                        .P = s->P ? P : NULL,
                        .alpha = alpha,
                        .beta = beta,
                        .coulomb = coulomb,
                        .static_ratio = ratio,
                        .v0 = v0};
  mjgInfo info = {.sigma_max = -1};
  mjgi_solveFriction(&s->friction, &info, &reduced, 0, nf, A, reduced.P, s->settings, s->method,
                     w);
  memcpy(s->x, s->friction.t, (size_t)nf * sizeof(double));
  s->status = info.status;
  s->info->iterations =
      info.iterations > s->info->iterations ? info.iterations : s->info->iterations;
  s->info->factorizations += info.factorizations;
  s->info->fallbacks += info.fallbacks;
  s->info->residual = fmax(s->info->residual, info.residual);
}


// couplings on their tangents, x_c = g - G x_f:
//   x_c = law + slope (change of the line), (I + S B) x_c = law + S (B x_c + A_cf x_f) - S A_cf x_f'
// with B the part of A_cc off the diagonal. Returns 0 if that is singular.
static int tangents(Split* s, double* g, double* G) {
  int nf = s->nf, nc = s->nc, ld = mjgi_simdEnd(nc);
  double* K = s->work->coupled_matrix[0];
  double* column = s->work->coupled_vector[3];
  for (int c = 0; c < nc; c++) {
    g[c] = s->law[c];
    for (int j = 0; j < s->n; j++) {
      double a = j == nf + c ? 0 : s->slope[c] * entryA(s, nf + c, j);
      g[c] += a * s->x[j];
      if (j < nf) {
        G[c * nf + j] = a;
      } else {
        K[c * ld + j - nf] = j == nf + c ? 1 : a;
      }
    }
  }
  int* pivot = s->work->coupled_pivot;
  if (!mjgi_lu(K, g, pivot, nc)) {
    return 0;
  }
  for (int j = 0; j < nf; j++) {
    for (int c = 0; c < nc; c++) {
      column[c] = G[c * nf + j];
    }
    mjgi_luSolve(column, K, pivot, nc);
    for (int c = 0; c < nc; c++) {
      G[c * nf + j] = column[c];
    }
  }
  return 1;
}


// Newton on the couplings; 1 if solved
static int newton(Split* s, double tolerance) {
  int nf = s->nf, nc = s->nc;
  double *g = s->work->coupled_vector[1], *keep = s->work->coupled_vector[2];
  double* goal = s->work->coupled_vector[11];
  double* G = s->work->coupled_matrix[1];
  size_t bytes = (size_t)s->n * sizeof(double);

  // the first step is free: friction does not fit to the couplings yet
  double merit = INFINITY;
  evaluate(s);
  for (int k = 0; k < mjgiTANGENTS; k++) {
    memcpy(keep, s->x, bytes);
    if (!tangents(s, g, G)) {
      return 0;
    }
    s->info->factorizations++;
    solveFriction(s, g, G);
    for (int c = 0; c < nc; c++) {
      s->x[nf + c] = g[c];
      for (int j = 0; j < nf; j++) {
        s->x[nf + c] -= G[c * nf + j] * s->x[j];
      }
    }
    memcpy(goal, s->x, bytes);
    double next = evaluate(s);
    if (distance(s) <= tolerance) {
      return 1;
    }

    // shorter steps, with friction solved for the couplings of each
    double step = 1;
    for (int i = 0; !(next < merit); i++) {
      if (i == mjgiSHORTENINGS) {
        memcpy(s->x, keep, bytes);
        s->known = 0;
        return 0;
      }
      step /= 2;
      for (int c = 0; c < nc; c++) {
        s->x[nf + c] = keep[nf + c] + step * (goal[nf + c] - keep[nf + c]);
      }
      solveFriction(s, s->x + nf, NULL);
      next = evaluate(s);
      if (distance(s) <= tolerance) {
        return 1;
      }
    }
    merit = next;
  }
  return 0;
}


// couplings one by one, friction after each round; 1 if solved
static int oneByOne(Split* s, double tolerance) {
  for (int k = 0; k < mjgiROUNDS; k++) {
    for (int c = 0; c < s->nc; c++) {
      double slope;
      s->x[s->nf + c] = resolve(&slope, s, c, line(s, c));
    }
    solveFriction(s, s->x + s->nf, NULL);
    evaluate(s);
    if (distance(s) <= tolerance) {
      return 1;
    }
  }
  return 0;
}


// write the results of the block
static void store(mjgSolution* solution, Split* s) {
  for (int i = 0; i < s->nf; i++) {
    int row = s->first + s->row[i];
    solution->t[row] = s->x[i];
    solution->v[row] = s->friction.v[i];
    solution->lambda[row] = s->friction.lambda[i];
    solution->mode[row] = s->friction.mode[i];
  }
  if (!s->known) {
    evaluate(s);
  }
  for (int c = 0; c < s->nc; c++) {
    int i = s->nf + c, row = s->first + s->row[i];
    solution->t[row] = s->x[i];
    solution->v[row] = line(s, c) - entryA(s, i, i) * s->x[i];
    solution->lambda[row] = s->friction.lambda[i];
    solution->mode[row] = s->friction.mode[i];
  }
}


void mjgi_solveCoupled(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem, int first,
                       int n, const double* A, const double* P, const mjgSettings* settings,
                       mjgiMethod method, mjgWorkspace* work) {
  // rows with friction, then couplings
  int nf = 0, nc = 0;
  for (int i = 0; i < n; i++) {
    nf += !problem->coupling[first + i];
  }
  for (int i = 0, f = 0; i < n; i++) {
    work->coupled_row[problem->coupling[first + i] ? nf + nc++ : f++] = i;
  }
  Split split = {.problem = problem,
                 .settings = settings,
                 .work = work,
                 .method = method,
                 .info = info,
                 .first = first,
                 .n = n,
                 .nf = nf,
                 .nc = nc,
                 .A = A,
                 .P = P,
                 .row = work->coupled_row,
                 .x = work->coupled_vector[0],
                 .law = work->coupled_vector[12],
                 .slope = work->coupled_vector[13],
                 .friction = {.t = work->coupled_vector[14],
                              .v = work->coupled_vector[15],
                              .lambda = work->coupled_vector[16],
                              .mode = work->coupled_mode}};
  Split* s = &split;
  for (int i = 0; i < n; i++) {
    s->x[i] = settings->warm_start ? solution->t[first + s->row[i]] : 0;
  }

  double tolerance = fmin(kExact, settings->tolerance);
  for (int k = 0; k < mjgiATTEMPTS; k++) {
    if (newton(s, tolerance) || distance(s) <= settings->tolerance || oneByOne(s, tolerance)) {
      break;
    }
    info->fallbacks += k == 0;
  }
  double residual = distance(s);
  info->residual = fmax(info->residual, residual);
  if (s->status != mjgSOLVED || !(residual <= settings->tolerance)) {
    info->status = s->status == mjgSOLVED || !(residual <= settings->tolerance) ? mjgITERATION_LIMIT
                                                                                : s->status;
  }
  store(solution, s);
  if (mjgi_replaceOverflow(solution, problem, first, n, residual)) {
    info->residual = INFINITY;
    info->status = mjgITERATION_LIMIT;
  }
}

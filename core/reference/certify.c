// The certificate: what is true of a result. Residuals, power and modes are found anew from t, in the units of
// the caller, without the law and the solvers of the core but for couplings, whose law is
// mjg_couplingResolve. Whether there is one solution, and sigma_max, are the solvers' own tests.

#include <float.h>
#include <math.h>

#include "mjgear_backlash.h"
#include "solvers/check.h"
#include "solvers/solvers.h"


// one block of a problem with the part of the solution that belongs to it
typedef struct Part_ {
  int n;
  const double *A, *P, *v, *phi, *alpha, *beta, *coulomb, *ratio, *v0;
  const double *t, *v_next, *lambda;
  const int* mode;
  const mjgCoupling* const* coupling;
} Part;


static int isCoupling(const Part* p, int i) {
  return p->coupling && p->coupling[i];
}


// error relative to size, 0 if there is none, or one that only numbers without digits (denormals) have
static double relative(double error, double size) {
  if (fabs(error) < DBL_MIN) {
    return 0;
  }
  double ratio = fabs(error) / size;
  return isnan(ratio) ? INFINITY : ratio;
}


// one more term of a sum and of the size of its terms
static void add(double* sum, double* size, double term) {
  *sum += term;
  *size += fabs(term);
}


// residual of a row that is a coupling: its line, and the law at that line
static double checkCoupling(const Part* p, int i) {
  double v = p->v[i], size = fabs(v), a = p->A[i * p->n + i];
  for (int j = 0; j < p->n; j++) {
    add(&v, &size, -p->A[i * p->n + j] * p->t[j]);
  }
  mjgCouplingStep step;
  mjg_couplingResolve(&step, p->coupling[i], v + a * p->t[i], a);
  double law = p->coupling[i]->inertia > 0 ? -step.T : step.T;
  double residual = relative(p->v_next[i] - v, size);
  return fmax(residual, relative(a * (p->t[i] - law), size));
}


// residual of joint i, also in the form of (67)
static double checkJoint(double* paper, const Part* p, int i) {
  // v+ and lambda that t makes, and the size of the terms they are made of
  double w = 0, size_w = 0, load = 0, size_load = 0;
  for (int j = 0; j < p->n; j++) {
    add(&w, &size_w, p->A[i * p->n + j] * p->t[j]);
    if (p->P) {
      add(&load, &size_load, p->P[i * p->n + j] * p->t[j]);
    }
  }
  if (!p->P) {
    load = p->alpha[i] * w - p->beta[i] * p->t[i];
    size_load = fabs(p->alpha[i]) * size_w + fabs(p->beta[i] * p->t[i]);
  }
  double v = p->v[i] - w, size_v = fabs(p->v[i]) + size_w;
  double lambda = p->phi[i] + load, size_t = fabs(p->phi[i]) + size_load + fabs(p->t[i]);
  double c = p->coulomb ? p->coulomb[i] : 0;
  double bound = fabs(lambda) + c;
  size_t += c;

  // a joint that moves has its sliding bound, against its motion; one that stands has at most its
  // static bound, or the sliding one in the direction in which it moved before
  double moves = p->v_next[i], error_t;
  if (moves != 0) {
    error_t = p->t[i] - (moves > 0 ? bound : -bound);
  } else {
    double v0 = p->v0 ? p->v0[i] : 0;
    double limit = p->ratio && !(p->t[i] * v0 > 0) ? p->ratio[i] * bound : bound;
    error_t = fmax(0, fabs(p->t[i]) - limit);
  }
  double residual = relative(moves - v, size_v);
  residual = fmax(residual, relative(p->lambda[i] - lambda, size_t));
  residual = fmax(residual, relative(error_t, size_t));
  if (p->mode[i] != (moves > 0) - (moves < 0) || !isfinite(moves) || !isfinite(size_v) ||
      !isfinite(size_t)) {
    residual = INFINITY;
  }

  // (67): y = v* - v+ is A times the friction that directions s of motion make, where a joint that
  // stands may take any s in [-1, 1]
  double y = 0, size_y = fabs(p->v[i]) + fabs(moves);
  for (int j = 0; j < p->n; j++) {
    double cj = p->coulomb ? p->coulomb[j] : 0, limit = fabs(p->lambda[j]) + cj;
    double s = (p->v_next[j] > 0) - (p->v_next[j] < 0);
    if (isCoupling(p, j)) {
      add(&y, &size_y, p->A[i * p->n + j] * p->t[j]);
      continue;
    }
    if (s == 0) {
      limit *= p->ratio ? p->ratio[j] : 1;
      s = limit > 0 ? fmax(-1, fmin(1, p->t[j] / limit)) : 0;
    }
    add(&y, &size_y, p->A[i * p->n + j] * s * limit);
  }
  *paper = relative(p->v[i] - moves - y, size_y);
  return residual;
}


// 1 if the block is known to have one solution
static int isWellPosed(const Part* p, const mjgProblem* problem, int first, mjgiBlock* b) {
  int n = p->n;
  for (int i = 0; i < n; i++) {
    if (!(p->A[i * n + i] > 0)) {
      return 0;
    }
  }
  mjgi_loadBlock(b, problem, first, n, p->A, p->P, NULL);
  for (int i = 0; i < n; i++) {
    if (isCoupling(p, i)) {
      b->alpha[i] = b->beta[i] = 0;
      b->rp[i] = b->rm[i] = 1;
      for (int j = 0; p->P && j < n; j++) {
        b->P[i * n + j] = 0;
      }
    }
  }
  return mjgi_isWellPosed(b);
}


// rows first .. first + n - 1
static Part partOf(const mjgProblem* problem, const mjgSolution* solution, int first, int n,
                   const double* A, const double* P) {
  return (Part){.n = n,
                .A = A,
                .P = P,
                .v = problem->v + first,
                .phi = problem->phi + first,
                .alpha = problem->alpha ? problem->alpha + first : NULL,
                .beta = problem->beta ? problem->beta + first : NULL,
                .coulomb = problem->coulomb ? problem->coulomb + first : NULL,
                .ratio = problem->static_ratio ? problem->static_ratio + first : NULL,
                .v0 = problem->v0 ? problem->v0 + first : NULL,
                .t = solution->t + first,
                .v_next = solution->v + first,
                .lambda = solution->lambda + first,
                .mode = solution->mode + first,
                .coupling = problem->coupling ? problem->coupling + first : NULL};
}


int mjg_certify(mjgCertificate* certificate, int* violated, const mjgProblem* problem,
                const mjgSolution* solution, double tolerance, mjgWorkspace* work) {
  if (!certificate || !solution || !(tolerance >= 0)) {
    return mjgERR_ARGUMENT;
  }
  int status = mjgi_checkProblem(problem, work);
  if (status != mjgSOLVED) {
    return status;
  }
  int n = problem->n;
  if (n > 0 && (!solution->t || !solution->v || !solution->lambda || !solution->mode)) {
    return mjgERR_ARGUMENT;
  }

  mjgCertificate sum = {.worst = -1, .passive = 1, .well_posed = 1};
  int nblock = problem->nblock > 0 ? problem->nblock : (n > 0);
  const double *A = problem->A, *P = problem->P;
  for (int k = 0, first = 0; k < nblock; k++) {
    int size = problem->nblock > 0 ? problem->block[k] : n;
    Part part = partOf(problem, solution, first, size, A, P);
    for (int i = 0; i < size; i++) {
      int joint = first + i;
      int coupled = isCoupling(&part, i);
      double paper = 0, residual;
      residual = coupled ? checkCoupling(&part, i) : checkJoint(&paper, &part, i);
      sum.residual_paper = fmax(sum.residual_paper, paper);
      if (sum.worst < 0 || residual > sum.residual) {
        sum.residual = residual;
        sum.worst = joint;
      }
      sum.nviolated += residual > tolerance;
      if (violated) {
        violated[joint] = residual > tolerance;
      }

      // a shaft may give back what it holds
      double power = coupled ? 0 : solution->t[joint] * solution->v[joint];
      sum.power += power;
      sum.passive &= power >= 0;
    }
    mjgiBlock* b = &work->block;
    sum.well_posed &= isWellPosed(&part, problem, first, b);
    sum.sigma_max = fmax(sum.sigma_max, mjgi_blockSigmaMax(b, problem, first, size, A, P));

    first += size;
    A += (size_t)size * (size_t)size;
    P = P ? P + (size_t)size * (size_t)size : NULL;
  }
  sum.valid = sum.nviolated == 0 && sum.passive;
  *certificate = sum;
  return mjgSOLVED;
}

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
  mjgProblem problem;
  mjgSolution solution;
} Part;


static int isCoupling(const Part* p, int i) {
  return p->problem.coupling && p->problem.coupling[i];
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
  double v = p->problem.v[i], size = fabs(v), a = p->problem.A[i * p->problem.n + i];
  for (int j = 0; j < p->problem.n; j++) {
    add(&v, &size, -p->problem.A[i * p->problem.n + j] * p->solution.t[j]);
  }
  mjgCouplingStep step;
  mjg_couplingResolve(&step, p->problem.coupling[i], v + a * p->solution.t[i], a);
  double law = p->problem.coupling[i]->inertia > 0 ? -step.T : step.T;
  double residual = relative(p->solution.v[i] - v, size);
  return fmax(residual, relative(a * (p->solution.t[i] - law), size));
}


// residual of joint i, also in the form of (67)
static double checkJoint(double* paper, const Part* p, int i) {
  // v+ and lambda that t makes, and the size of the terms they are made of
  double w = 0, size_w = 0, load = 0, size_load = 0;
  for (int j = 0; j < p->problem.n; j++) {
    add(&w, &size_w, p->problem.A[i * p->problem.n + j] * p->solution.t[j]);
    if (p->problem.P) {
      add(&load, &size_load, p->problem.P[i * p->problem.n + j] * p->solution.t[j]);
    }
  }
  if (!p->problem.P) {
    load = p->problem.alpha[i] * w - p->problem.beta[i] * p->solution.t[i];
    size_load = fabs(p->problem.alpha[i]) * size_w + fabs(p->problem.beta[i] * p->solution.t[i]);
  }
  double v = p->problem.v[i] - w, size_v = fabs(p->problem.v[i]) + size_w;
  double lambda = p->problem.phi[i] + load,
         size_t = fabs(p->problem.phi[i]) + size_load + fabs(p->solution.t[i]);
  double c = p->problem.coulomb ? p->problem.coulomb[i] : 0;
  double bound = fabs(lambda) + c;
  size_t += c;

  // a joint that moves has its sliding bound, against its motion; one that stands has at most its
  // static bound, or the sliding one in the direction in which it moved before
  double moves = p->solution.v[i], error_t;
  if (moves != 0) {
    error_t = p->solution.t[i] - (moves > 0 ? bound : -bound);
  } else {
    double v0 = p->problem.v0 ? p->problem.v0[i] : 0;
    double limit = p->problem.static_ratio && !(p->solution.t[i] * v0 > 0)
                       ? p->problem.static_ratio[i] * bound
                       : bound;
    error_t = fmax(0, fabs(p->solution.t[i]) - limit);
  }
  double residual = relative(moves - v, size_v);
  residual = fmax(residual, relative(p->solution.lambda[i] - lambda, size_t));
  residual = fmax(residual, relative(error_t, size_t));
  if (p->solution.mode[i] != (moves > 0) - (moves < 0) || !isfinite(moves) || !isfinite(size_v) ||
      !isfinite(size_t)) {
    residual = INFINITY;
  }

  // (67): y = v* - v+ is A times the friction that directions s of motion make, where a joint that
  // stands may take any s in [-1, 1]
  double y = 0, size_y = fabs(p->problem.v[i]) + fabs(moves);
  for (int j = 0; j < p->problem.n; j++) {
    double cj = p->problem.coulomb ? p->problem.coulomb[j] : 0,
           limit = fabs(p->solution.lambda[j]) + cj;
    double s = (p->solution.v[j] > 0) - (p->solution.v[j] < 0);
    if (isCoupling(p, j)) {
      add(&y, &size_y, p->problem.A[i * p->problem.n + j] * p->solution.t[j]);
      continue;
    }
    if (s == 0) {
      limit *= p->problem.static_ratio ? p->problem.static_ratio[j] : 1;
      s = limit > 0 ? fmax(-1, fmin(1, p->solution.t[j] / limit)) : 0;
    }
    add(&y, &size_y, p->problem.A[i * p->problem.n + j] * s * limit);
  }
  *paper = relative(p->problem.v[i] - moves - y, size_y);
  return residual;
}


// 1 if the block is known to have one solution
static int isWellPosed(const Part* p, mjgiBlock* b) {
  int n = p->problem.n;
  for (int i = 0; i < n; i++) {
    if (!(p->problem.A[i * n + i] > 0)) {
      return 0;
    }
  }
  mjgi_loadBlock(b, &p->problem, NULL);
  for (int i = 0; i < n; i++) {
    if (isCoupling(p, i)) {
      b->alpha[i] = b->beta[i] = 0;
      b->rp[i] = b->rm[i] = 1;
      for (int j = 0; p->problem.P && j < n; j++) {
        b->P[i * n + j] = 0;
      }
    }
  }
  return mjgi_isWellPosed(b);
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
  Part part;
  for (mjgiCursor at = {0}; mjgi_nextBlock(&part.problem, &at, problem);) {
    part.solution = mjgi_blockSolution(solution, at.first);
    for (int i = 0; i < part.problem.n; i++) {
      int joint = at.first + i;
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
    sum.well_posed &= isWellPosed(&part, &work->block);
    sum.sigma_max = fmax(sum.sigma_max, mjgi_blockSigmaMax(&work->block, &part.problem));
  }
  sum.valid = sum.nviolated == 0 && sum.passive;
  *certificate = sum;
  return mjgSOLVED;
}

// The certificate of a result, from t in the caller's units, without the core's law and solvers.
// Uniqueness is the solvers' own test.

#include <float.h>
#include <math.h>

#include "solvers/solvers.h"


// Returns the error relative to size; 0 for denormal errors.
static double relative(double error, double size) {
  if (fabs(error) < DBL_MIN) {
    return 0;
  }
  double ratio = fabs(error) / size;
  return isnan(ratio) ? INFINITY : ratio;
}


// Add a term to a sum and to the size of its terms.
static void add(double* sum, double* size, double term) {
  *sum += term;
  *size += fabs(term);
}


// residual of joint i by the definition of the problem
static double checkJoint(const mjgProblem* p, const mjgSolution* s, int i) {
  // v+ and lambda from t, and the size of their terms
  double w = 0, size_w = 0, load = 0, size_load = 0;
  for (int j = 0; j < p->n; j++) {
    add(&w, &size_w, p->A[i * p->n + j] * s->t[j]);
    if (p->P) {
      add(&load, &size_load, p->P[i * p->n + j] * s->t[j]);
    }
  }
  if (!p->P) {
    load = p->alpha[i] * w - p->beta[i] * s->t[i];
    size_load = fabs(p->alpha[i]) * size_w + fabs(p->beta[i] * s->t[i]);
  }
  double v = p->v[i] - w, size_v = fabs(p->v[i]) + size_w;
  double lambda = p->phi[i] + load, size_t = fabs(p->phi[i]) + size_load + fabs(s->t[i]);
  double c = p->coulomb ? p->coulomb[i] : 0;
  double bound = fabs(lambda) + c;
  size_t += c;

  // friction opposes motion with the sliding bound; at rest it is at most the static bound, or the
  // sliding bound in the former direction of motion
  double moves = s->v[i], error_t;
  if (moves != 0) {
    error_t = s->t[i] - (moves > 0 ? bound : -bound);
  } else {
    double v0 = p->v0 ? p->v0[i] : 0;
    double limit = p->static_ratio && !(s->t[i] * v0 > 0) ? p->static_ratio[i] * bound : bound;
    error_t = fmax(0, fabs(s->t[i]) - limit);
  }
  double residual = relative(moves - v, size_v);
  residual = fmax(residual, relative(s->lambda[i] - lambda, size_t));
  residual = fmax(residual, relative(error_t, size_t));
  if (s->mode[i] != (moves > 0) - (moves < 0) || !isfinite(moves) || !isfinite(size_v) ||
      !isfinite(size_t)) {
    residual = INFINITY;
  }
  return residual;
}


int mjg_certify(mjgCertificate* certificate, int* violated, const mjgProblem* problem,
                const mjgSolution* solution, double tolerance, mjgWorkspace* work) {
  if (!certificate || !(tolerance >= 0)) {
    return mjgERR_ARGUMENT;
  }
  int largest, status = mjgi_checkProblem(&largest, problem, solution, work);
  if (status != mjgSOLVED) {
    return status;
  }

  mjgCertificate sum = {.worst = -1, .passive = 1, .well_posed = 1};
  mjgProblem block;
  for (mjgiCursor at = {0}; mjgi_nextBlock(&block, &at, problem);) {
    mjgSolution part = mjgi_blockSolution(solution, at.first);
    for (int i = 0; i < block.n; i++) {
      int joint = at.first + i;
      double residual = checkJoint(&block, &part, i);
      if (sum.worst < 0 || residual > sum.residual) {
        sum.residual = residual;
        sum.worst = joint;
      }
      sum.nviolated += residual > tolerance;
      if (violated) {
        violated[joint] = residual > tolerance;
      }

      double power = solution->t[joint] * solution->v[joint];
      sum.power += power;
      sum.passive &= power >= 0;
    }
    mjgi_loadBlock(&work->block, &block, NULL);
    sum.well_posed &= mjgi_isWellPosed(&work->block);
  }
  sum.valid = sum.nviolated == 0 && sum.passive;
  *certificate = sum;
  return mjgSOLVED;
}

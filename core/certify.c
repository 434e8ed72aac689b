// The certificate: what is true of a result. It shares no code with the solvers, works in the units
// of the caller, and finds lambda, v+ and the bounds anew from t.

#include <math.h>

#include "block.h"
#include "dense.h"


int mjg_certify(mjgCertificate* certificate, int* violated, const mjgProblem* problem,
                const mjgSolution* solution, double tolerance, mjgWorkspace* work) {
  if (!certificate || !problem || !solution || !work || problem->n < 0 || problem->nblock < 0 ||
      !(tolerance >= 0)) {
    return mjgERR_ARGUMENT;
  }
  int n = problem->n;
  *certificate = (mjgCertificate){.worst = -1, .passive = 1, .well_posed = 1, .valid = 1};
  if (n == 0) {
    return mjgSOLVED;
  }
  if (!problem->v || !problem->A || !problem->phi || (problem->nblock > 0 && !problem->block) ||
      (!problem->P && (!problem->alpha || !problem->beta)) || !solution->t || !solution->v ||
      !solution->lambda || !solution->mode) {
    return mjgERR_ARGUMENT;
  }

  int nblock = problem->nblock > 0 ? problem->nblock : 1;
  const double* A = problem->A;
  const double* P = problem->P;
  for (int k = 0, first = 0; k < nblock; k++) {
    int size = problem->nblock > 0 ? problem->block[k] : n;
    if (size < 0 || size > n - first) {
      return mjgERR_ARGUMENT;
    }
    if (size > work->nmax) {
      return mjgERR_WORKSPACE;
    }
    const double* t = solution->t + first;

    for (int i = 0; i < size; i++) {
      int joint = first + i;

      // v+ and lambda from t, and the sizes of the terms they are made of
      double w = 0, size_w = 0, load = 0, size_load = 0;
      for (int j = 0; j < size; j++) {
        w += A[i * size + j] * t[j];
        size_w += fabs(A[i * size + j] * t[j]);
      }
      if (P) {
        for (int j = 0; j < size; j++) {
          load += P[i * size + j] * t[j];
          size_load += fabs(P[i * size + j] * t[j]);
        }
      } else {
        load = problem->alpha[joint] * w - problem->beta[joint] * t[i];
        size_load = fabs(problem->alpha[joint]) * size_w + fabs(problem->beta[joint] * t[i]);
      }
      double v = problem->v[joint] - w;
      double lambda = problem->phi[joint] + load;
      double c = problem->coulomb ? problem->coulomb[joint] : 0;
      double size_v = fabs(problem->v[joint]) + size_w;
      double size_t = fabs(problem->phi[joint]) + size_load + c + fabs(t[i]);

      // the reported velocity and load are the ones that t makes
      double error_v = fabs(solution->v[joint] - v);
      double error_t = fabs(solution->lambda[joint] - lambda);

      // a joint that moves has exactly its sliding bound, against its motion; one that stands
      // has at most its static bound, or the sliding one in the direction it came from
      double bound = fabs(lambda) + c;
      double moves = solution->v[joint];
      if (moves > 0) {
        error_t = fmax(error_t, fabs(t[i] - bound));
      } else if (moves < 0) {
        error_t = fmax(error_t, fabs(t[i] + bound));
      } else {
        double ratio = problem->static_ratio ? problem->static_ratio[joint] : 1;
        double v0 = problem->v0 ? problem->v0[joint] : 0;
        double limit = t[i] * v0 > 0 ? bound : ratio * bound;
        error_t = fmax(error_t, fabs(t[i]) - limit);
      }
      int mode = (moves > 0) - (moves < 0);

      double residual = 0;
      if (error_v > 0) {
        residual = error_v / size_v;
      }
      if (error_t > 0) {
        residual = fmax(residual, error_t / size_t);
      }
      if (solution->mode[joint] != mode || !isfinite(t[i]) || !isfinite(v) || !isfinite(lambda) ||
          !isfinite(moves) || !isfinite(solution->lambda[joint])) {
        residual = INFINITY;
      }

      // account
      if (certificate->worst < 0 || residual > certificate->residual) {
        certificate->residual = residual;
        certificate->worst = joint;
      }
      certificate->nviolated += !(residual <= tolerance);
      if (violated) {
        violated[joint] = !(residual <= tolerance);
      }
      certificate->power += t[i] * moves;
      if (!(t[i] * moves >= 0)) {
        certificate->passive = 0;
      }
    }
    if (P) {
      certificate->sigma_max =
          fmax(certificate->sigma_max, mjg_sigmaMax(P, size, work->block.x, work->block.y));
    }
    first += size;
    A += (size_t)size * (size_t)size;
    P = P ? P + (size_t)size * (size_t)size : NULL;
  }
  certificate->residual_paper = certificate->residual;
  certificate->valid = certificate->nviolated == 0 && certificate->passive;
  return mjgSOLVED;
}

// mjg_solve, with its certificate and the definition

#include "fuzz.h"
#include "inclusion.h"


typedef struct Arrays_ {
  double v[MAXN], A[MAXNN], phi[MAXN], P[MAXNN], alpha[MAXN], beta[MAXN], coulomb[MAXN],
      static_ratio[MAXN], v0[MAXN];
  int block[MAXBLK];
} Arrays;


// problem over the arrays; most are such as mechanics gives, some are not even consistent
static void takeProblem(mjgProblem* problem, Arrays* arrays, Input* input) {
  memset(problem, 0, sizeof(*problem));
  memset(arrays, 0, sizeof(*arrays));
  problem->nblock = takeInteger(input, MAXBLK + 1);
  if (problem->nblock) {
    for (int b = 0; b < problem->nblock; b++) {
      arrays->block[b] = 1 + takeInteger(input, 2 + (b == 0));
      problem->n += arrays->block[b];
    }
    problem->block = arrays->block;
  } else {
    problem->n = takeInteger(input, MAXN + 1);
  }
  double *A = arrays->A, *P = arrays->P;
  for (int b = 0; b < (problem->nblock ? problem->nblock : 1); b++) {
    int size = problem->nblock ? problem->block[b] : problem->n;
    takeMatrix(A, size, input);
    takeNumbers(P, size * size, input);
    A += size * size;
    P += size * size;
  }
  int n = problem->n, optional = takeInteger(input, 256);
  takeNumbers(arrays->v, n, input);
  takeNumbers(arrays->phi, n, input);
  takeNumbers(arrays->alpha, n, input);
  takeNumbers(arrays->beta, n, input);
  takeNumbers(arrays->coulomb, n, input);
  takeNumbers(arrays->static_ratio, n, input);
  takeNumbers(arrays->v0, n, input);
  if (optional & 1) {
    for (int i = 0; i < n; i++) {
      arrays->coulomb[i] = fabs(arrays->coulomb[i]);
      arrays->static_ratio[i] = 1 + fabs(arrays->static_ratio[i]);
      arrays->alpha[i] = fabs(arrays->alpha[i]);
      arrays->beta[i] = fabs(arrays->beta[i]);
    }
  }
  problem->v = maybe(arrays->v, input);
  problem->A = maybe(arrays->A, input);
  problem->phi = maybe(arrays->phi, input);
  problem->P = optional & 2 ? arrays->P : NULL;
  problem->alpha = maybe(arrays->alpha, input);
  problem->beta = maybe(arrays->beta, input);
  problem->coulomb = optional & 4 ? arrays->coulomb : NULL;
  problem->static_ratio = optional & 8 ? arrays->static_ratio : NULL;
  problem->v0 = optional & 16 ? arrays->v0 : NULL;

  // sizes that contradict each other, none larger than the arrays
  if ((optional & 0xe0) == 0xe0) {
    switch (takeInteger(input, 5)) {
      case 0:
        problem->n = -1;
        break;
      case 1:
        problem->nblock = -1;
        break;
      case 2:
        problem->block = NULL;
        break;
      case 3:
        arrays->block[0] = -arrays->block[0];
        break;
      default:
        arrays->block[0] = 0;
    }
  }
}


// returns 1 if products of the data stay within the range of a double, which accuracy
// needs
static int areTame(const double* values, int count) {
  for (int i = 0; values && i < count; i++) {
    double size = fabs(values[i]);
    if (size != 0 && !(size > 1e-60 && size < 1e60)) {
      return 0;
    }
  }
  return 1;
}


static int isTame(const mjgProblem* problem) {
  int n = problem->n, entries = problem->nblock ? 0 : n * n;
  for (int b = 0; b < problem->nblock; b++) {
    entries += problem->block[b] * problem->block[b];
  }
  return areTame(problem->v, n) && areTame(problem->A, entries) && areTame(problem->phi, n) &&
         areTame(problem->P, entries) && areTame(problem->alpha, n) && areTame(problem->beta, n) &&
         areTame(problem->coulomb, n) && areTame(problem->static_ratio, n);
}


// properties of a result that is not an error
static void checkResult(const mjgProblem* problem, const mjgSettings* settings,
                        const Output* output, int status, mjgWorkspace* work) {
  int n = problem->n;
  mjgSolution solution = {(double*)output->t, (double*)output->v, (double*)output->lambda,
                          (int*)output->mode};
  CLAIM(output->info.status == status, "info says %d, the call %d", output->info.status, status);
  CLAIM(output->info.iterations >= 0 && output->info.factorizations >= 0 &&
            output->info.fallbacks >= 0 && output->info.residual >= 0,
        "%d iterations, %d factorizations, %d fallbacks, residual %g", output->info.iterations,
        output->info.factorizations, output->info.fallbacks, output->info.residual);
  claimFinite(output->t, n, "t", status);
  claimFinite(output->v, n, "v", status);
  claimFinite(output->lambda, n, "lambda", status);

  // no energy, and modes that agree with the velocities, for any status
  mjgInclusion inclusion;
  mjg_inclusion(&inclusion, problem, &solution);
  CLAIM(!(inclusion.power < 0), "status %d, solver %d, power %g", status, settings->solver,
        inclusion.power);
  CLAIM(inclusion.nmode == 0, "status %d, solver %d, %d modes", status, settings->solver,
        inclusion.nmode);
  int tame = isTame(problem) && areTame(output->t, n) && areTame(output->lambda, n);
  if ((status != mjgSOLVED && status != mjgJAMMED) || !tame) {
    return;
  }

  // a solved result is certified and satisfies the inclusion, up to round-off
  double tolerance = 2 * settings->tolerance + 1e-14 * (n + 1);
  mjgCertificate certificate;
  int violated[MAXN];
  int error = mjg_certify(&certificate, violated, problem, &solution, tolerance, work);
  CLAIM(error >= 0, "certify says %d", error);
  CLAIM(certificate.valid,
        "solver %d, status %d, tolerance %g: certificate with residual %g, power %g",
        settings->solver, status, settings->tolerance, certificate.residual, certificate.power);
  CLAIM(certificate.nviolated == 0 && certificate.passive, "solver %d, %d violated",
        settings->solver, certificate.nviolated);
  CLAIM(inclusion.residual <= tolerance,
        "solver %d, status %d, residual %g (v %g, lambda %g, t %g), certificate %g, info %g",
        settings->solver, status, inclusion.residual, inclusion.velocity, inclusion.load,
        inclusion.friction, certificate.residual, output->info.residual);
}


static void fuzzSolve(Input* input) {
  mjgSettings settings;
  mjgProblem problem;
  Arrays arrays;
  Output output, before, second;
  takeSettings(&settings, input);
  int offset = takeInteger(input, 16), start = takeInteger(input, 4);
  takeProblem(&problem, &arrays, input);

  // outputs hold a pattern, or a start that may be anything
  memset(&output, 0x5a, sizeof(output));
  takeNumbers(output.t, MAXN, input);
  for (int i = 0; i < MAXN; i++) {
    output.mode[i] = takeInteger(input, start == 3 ? 256 : 3) - 1;
  }
  before = output;
  second = output;
  Arrays arrays_before = arrays;

  int n = problem.n > 0 ? problem.n : 0, nmax = 0;
  for (int b = 0; b < problem.nblock && problem.block; b++) {
    nmax = problem.block[b] > nmax ? problem.block[b] : nmax;
  }
  nmax = problem.nblock > 0 && nmax < n ? nmax : n;
  if (takesLong(&settings, nmax)) {
    return;
  }

  // a workspace for one joint less must be refused, not overrun
  int smaller = n > 0 && nmax > 0 && takeInteger(input, 32) == 31;
  Space space = makeSpace(n - smaller, nmax - smaller, offset, 0);
  mjgSolution solution = {output.t, output.v, output.lambda, output.mode};
  mjgSettings settings_before = settings;
  int status = mjg_solve(&solution, &output.info, &problem, &settings, space.work);
  claimStatus(status);
  CLAIM(!memcmp(&arrays, &arrays_before, sizeof(arrays)), "status %d: arrays changed", status);
  CLAIM(!memcmp(&settings, &settings_before, sizeof(settings)), "status %d: settings changed",
        status);
  CLAIM(!(smaller && n > 0) || status < 0, "status %d in a workspace that is too small", status);
  if (status < 0) {
    CLAIM(!memcmp(&output, &before, sizeof(output)), "status %d, but outputs changed", status);
  } else {
    checkResult(&problem, &settings, &output, status, space.work);
  }

  // the same again after other contents of the workspace
  Space other = makeSpace(n - smaller, nmax - smaller, 0, 0xff);
  solution = (mjgSolution){second.t, second.v, second.lambda, second.mode};
  int again = mjg_solve(&solution, &second.info, &problem, &settings, other.work);
  CLAIM(again == status && !memcmp(&output, &second, sizeof(output)),
        "solver %d: the workspace's former content changes the result (status %d, %d)",
        settings.solver, status, again);
  free(space.memory);
  free(other.memory);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  fuzzSolve(&input);
  return 0;
}

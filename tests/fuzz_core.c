// Fuzzer of the core's public calls. Bytes become arguments of every kind, also such as no caller
// should pass; what the header promises of every call must hold:
//   no crash, no access beyond the arrays, the inputs unchanged
//   a known status; after an error all outputs are as they were
//   otherwise finite outputs; what counts as solved is certified and solves the inclusion
//   no joint creates energy; a stuck joint's velocity is exactly 0
//   the result does not depend on what the workspace held before

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inclusion.h"
#include "mjgear.h"

#define MAXN   10
#define MAXBLK 4
#define MAXNN  (MAXN * MAXN)


//---------------------------------- claims --------------------------------------------------------

#define CLAIM(condition, ...)                                           \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "%s:%d: %s\n  ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                     \
      fputc('\n', stderr);                                              \
      abort();                                                          \
    }                                                                   \
  } while (0)


// is it a status that the header names, with a text
static void claimStatus(int status) {
  CLAIM(status >= mjgERR_SIZE && status <= mjgNO_SOLUTION, "status %d", status);
  CLAIM(mjg_statusString(status) && mjg_statusString(status)[0], "status %d", status);
}


static void claimFinite(const double* values, int n, const char* name, int status) {
  for (int i = 0; i < n; i++) {
    CLAIM(isfinite(values[i]), "status %d, %s[%d] = %g", status, name, i, values[i]);
  }
}


//---------------------------------- bytes to arguments --------------------------------------------

typedef struct Input_ {
  const uint8_t* bytes;
  size_t size;
} Input;


static unsigned takeByte(Input* input) {
  if (!input->size) {
    return 0;
  }
  input->size--;
  return *input->bytes++;
}


// an integer in 0 .. count - 1
static int takeInteger(Input* input, int count) {
  return (int)takeByte(input) % count;
}


// mostly tame numbers, sometimes special ones, sometimes any bits
static double takeNumber(Input* input) {
  static const double special[] = {0.0,
                                   -0.0,
                                   NAN,
                                   INFINITY,
                                   -INFINITY,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   DBL_TRUE_MIN,
                                   1e12,
                                   1e-12,
                                   1e100,
                                   1e-100,
                                   1e200,
                                   1 + DBL_EPSILON,
                                   1 - DBL_EPSILON,
                                   1e-300,
                                   1.0 / 3,
                                   1e6,
                                   -1e-6,
                                   1e300,
                                   -1e150,
                                   1e-15};
  const unsigned nspecial = sizeof(special) / sizeof(special[0]);
  unsigned byte = takeByte(input);
  if (byte < 224) {
    return ((double)byte - 96) / 32;
  }
  if (byte < 224 + nspecial) {
    return special[byte - 224];
  }
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++) {
    bits = bits << 8 | takeByte(input);
  }
  double number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}


static void takeNumbers(double* numbers, int n, Input* input) {
  for (int i = 0; i < n; i++) {
    numbers[i] = takeNumber(input);
  }
}


// one of the arrays, or a null pointer in one of 32 cases
static const double* maybe(const double* array, Input* input) {
  return takeInteger(input, 32) == 31 ? NULL : array;
}


// any matrix, or one that is symmetric with a dominant diagonal, as mechanics gives
static void takeMatrix(double* A, int n, Input* input) {
  int kind = takeInteger(input, 4);
  takeNumbers(A, n * n, input);
  if (kind == 0) {
    return;
  }
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      A[i * n + j] = kind == 1 || i <= j ? A[i * n + j] : A[j * n + i];
      sum += i == j ? 0 : fabs(A[i * n + j]) + fabs(A[j * n + i]);
    }
    A[i * n + i] = fabs(A[i * n + i]) + sum + 1e-3;
  }
}


static void takeSettings(mjgSettings* settings, Input* input) {
  static const double tolerances[] = {1e-12, 1e-9, 1e-6, 1e-3, 0, -1, NAN, 1e-15};
  mjg_defaultSettings(settings);
  settings->solver = takeInteger(input, 8) - (takeInteger(input, 16) == 15);
  settings->warm_start = takeInteger(input, 2);
  settings->want_sigma_max = takeInteger(input, 2);
  int iterations = takeInteger(input, 256);
  settings->iterations = iterations < 128 ? 0 : iterations < 255 ? iterations - 127 : -1;
  int tolerance = takeInteger(input, 64);
  settings->tolerance = tolerances[tolerance < 56 ? tolerance % 3 : tolerance - 56];

  // methods that converge slowly get a limit, so that the fuzzer sees many problems
  int slow = settings->solver == mjgPROJECTION || settings->solver == mjgEXTRAGRADIENT ||
             settings->solver == mjgGAUSS_SEIDEL;
  if (slow && settings->iterations == 0) {
    settings->iterations = 50;
  }
}


// enumeration of many modes takes too long to be repeated often
static int takesLong(const mjgSettings* settings, int n) {
  return settings->solver == mjgENUMERATION && n > 4 && n <= mjgMAXENUM;
}


//---------------------------------- workspace -----------------------------------------------------

// a workspace in exactly the memory that it asks for, at an odd address, full of a pattern
typedef struct Space_ {
  unsigned char* memory;
  mjgWorkspace* work;
} Space;


static Space makeSpace(int n, int nmax, int offset, int pattern) {
  Space space;
  size_t size = mjg_memsize(n, nmax);
  CLAIM(size > 0 && size < 1 << 24, "memsize(%d, %d) = %zu", n, nmax, size);
  space.memory = malloc(size + (size_t)offset);
  if (!space.memory) {
    abort();
  }
  memset(space.memory, pattern, size + (size_t)offset);
  CLAIM(!mjg_create(space.memory + offset, size - 1, n, nmax), "memory of %zu bytes", size - 1);
  space.work = mjg_create(space.memory + offset, size, n, nmax);
  CLAIM(space.work, "memory of %zu bytes", size);
  return space;
}


//---------------------------------- solve ---------------------------------------------------------

// everything that a call may write
typedef struct Output_ {
  double t[MAXN], v[MAXN], lambda[MAXN];
  int mode[MAXN];
  mjgInfo info;
} Output;

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


// do products of the data stay within the range of a double, so that there is accuracy to speak of?
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


// what is true of a result that is not an error
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
  CLAIM(output->info.sigma_max == -1 || settings->want_sigma_max, "sigma_max %g",
        output->info.sigma_max);
  claimFinite(output->t, n, "t", status);
  claimFinite(output->v, n, "v", status);
  claimFinite(output->lambda, n, "lambda", status);

  // no energy, and modes that say what the velocities do, whatever the status
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

  // what counts as solved is certified and solves the inclusion, up to rounding
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


//---------------------------------- one joint -----------------------------------------------------

static void fuzzScalar(Input* input) {
  double x[11], pair[2] = {1, 2}, single = 3;
  takeNumbers(x, 11, input);

  // efficiencies and coefficients are inverse to each other
  int status = mjg_efficiencies(&pair[0], &pair[1], x[0], x[1]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(pair[0] == 1 && pair[1] == 2, "status %d, but outputs changed", status);
  }
  pair[0] = 1;
  pair[1] = 2;
  status = mjg_coefficients(&pair[0], &pair[1], x[0], x[1]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(pair[0] == 1 && pair[1] == 2, "status %d, but outputs changed", status);
  }

  // the load's values solve its equation
  int count = mjg_lambdaSet(pair, x[2], x[3]);
  CLAIM(count >= 0 && count <= 2, "%d values", count);
  for (int i = 0; i < count && isfinite(pair[i]) && fabs(x[3]) < 1e100; i++) {
    double error = fabs(pair[i] - x[3] * fabs(pair[i]) - x[2]);
    CLAIM(error <=
              1e-12 * ((1 + fabs(x[3])) * fabs(pair[i]) + fabs(x[2])) + DBL_MIN * (1 + fabs(x[3])),
          "lambda(%g, %g) = %g", x[2], x[3], pair[i]);
  }
  CLAIM(count < 2 || pair[0] <= pair[1], "lambda(%g, %g) = %g, %g", x[2], x[3], pair[0], pair[1]);
  (void)mjg_lambdaStick(x[2], x[3]);
  (void)mjg_PhiScalar(x[0], x[2], x[3]);
  (void)mjg_rho(x[0], x[1], x[2], x[3]);
  (void)mjg_phi(x[0], x[1], x[2], x[3], x[4]);

  // the step is finite and passive
  double v = 4;
  double* t = takeInteger(input, 2) ? &single : NULL;
  status = mjg_stepScalar(&v, t, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(v == 4 && single == 3, "status %d, but outputs changed", status);
  } else {
    CLAIM(isfinite(v), "status %d, velocity %g", status, v);
    CLAIM(!t || (isfinite(*t) && *t * v >= 0), "friction %g at velocity %g", single, v);
  }
}


//---------------------------------- the paper's operations ----------------------------------------

static void fuzzLambda(Input* input) {
  double phi[MAXN], P[MAXNN], s[MAXN], lambda[MAXN], before[MAXN], Phi[MAXN];
  mjgInfo info;
  int n = takeInteger(input, MAXN + 1);
  int method = takeInteger(input, 3), iterations = takeInteger(input, 130) - 1;
  int wild = takeInteger(input, 8) == 7;
  double tolerance = wild ? takeNumber(input) : 1e-10;
  takeNumbers(phi, n, input);
  takeNumbers(P, n * n, input);
  takeNumbers(s, n, input);
  memset(lambda, 0x5a, sizeof(lambda));
  memcpy(before, lambda, sizeof(lambda));
  memset(&info, 0x5a, sizeof(info));
  mjgInfo info_before = info;
  Space space = makeSpace(n, n, 0, 0xff);

  int status = mjg_lambda(lambda, &info, phi, P, n, method, iterations, tolerance, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(lambda, before, sizeof(lambda)) && !memcmp(&info, &info_before, sizeof(info)),
          "status %d, but outputs changed", status);
  } else {
    claimFinite(lambda, n, "lambda", status);
  }
  for (int i = 0; i < n && status == mjgSOLVED && tolerance < 1; i++) {
    long double error = (long double)lambda[i] - phi[i], terms = fabsl(error) + fabsl(phi[i]);
    for (int j = 0; j < n; j++) {
      error -= (long double)P[i * n + j] * fabs(lambda[j]);
      terms += fabsl((long double)P[i * n + j] * lambda[j]);
    }
    CLAIM(fabsl(error) <= (2 * tolerance + 1e-13) * terms + DBL_MIN, "method %d: error %Lg of %Lg",
          method, error, terms);
  }

  memcpy(Phi, before, sizeof(Phi));
  status = mjg_Phi(Phi, s, phi, P, n, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(Phi, before, sizeof(Phi)), "status %d, but outputs changed", status);
  } else {
    claimFinite(Phi, n, "Phi", status);
  }
  free(space.memory);
}


static void fuzzAxproj(Input* input) {
  double v[MAXN], A[MAXNN], phi[MAXN], P[MAXNN], y[MAXN], before[MAXN];
  mjgSettings settings;
  mjgInfo info;
  int n = takeInteger(input, MAXN + 1);
  takeSettings(&settings, input);
  if (takesLong(&settings, n)) {
    return;
  }
  takeNumbers(v, n, input);
  takeMatrix(A, n, input);
  takeNumbers(phi, n, input);
  takeNumbers(P, n * n, input);
  memset(y, 0x5a, sizeof(y));
  memcpy(before, y, sizeof(y));
  memset(&info, 0x5a, sizeof(info));
  Space space = makeSpace(n, n, 0, 0xff);
  int status = mjg_axproj(y, &info, v, A, phi, P, n, &settings, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(y, before, sizeof(y)), "status %d, but outputs changed", status);
  } else {
    claimFinite(y, n, "y", status);
  }
  free(space.memory);
}


static void fuzzStep(Input* input) {
  double Mhat[MAXNN], W[MAXNN], tau_u[MAXN], tau_v[MAXN], v[MAXN], v_next[MAXN];
  double gamma_u[MAXN], gamma_v[MAXN], inertia[MAXN];
  mjgSettings settings;
  Output output, before;
  int n = takeInteger(input, MAXN + 1);
  takeSettings(&settings, input);
  if (takesLong(&settings, n)) {
    return;
  }
  takeMatrix(Mhat, n, input);
  takeNumbers(tau_u, n, input);
  takeNumbers(tau_v, n, input);
  takeNumbers(v, n, input);
  takeNumbers(gamma_u, n, input);
  takeNumbers(gamma_v, n, input);
  takeNumbers(inertia, n, input);
  double h = takeInteger(input, 4) ? 1e-3 : takeNumber(input);
  mjgJoints joints = {gamma_u, gamma_v, inertia};
  mjg_P(W, Mhat, &joints, n);

  memset(&output, 0x5a, sizeof(output));
  takeNumbers(output.t, MAXN, input);
  for (int i = 0; i < MAXN; i++) {
    output.mode[i] = takeInteger(input, 3) - 1;
  }
  before = output;
  memset(v_next, 0x5a, sizeof(v_next));
  memcpy(W, v_next, sizeof(v_next));
  mjgSolution solution = {output.t, output.v, output.lambda, output.mode};
  Space space = makeSpace(n, n, 0, 0xff);
  int want = takeInteger(input, 2);
  int status = mjg_step(v_next, want ? &solution : NULL, &output.info, Mhat, tau_u, tau_v, v,
                        &joints, h, n, &settings, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(v_next, W, sizeof(v_next)) && !memcmp(&output, &before, sizeof(output)),
          "status %d, but outputs changed", status);
  } else {
    claimFinite(v_next, n, "v_next", status);
    for (int i = 0; want && i < n; i++) {
      CLAIM(output.t[i] * v_next[i] >= 0, "friction %g at velocity %g", output.t[i], v_next[i]);
      CLAIM(output.v[i] == v_next[i], "velocity %g in the solution, %g returned", output.v[i],
            v_next[i]);
    }
  }
  free(space.memory);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  switch (takeInteger(&input, 8)) {
    case 0:
      fuzzScalar(&input);
      break;
    case 1:
      fuzzLambda(&input);
      break;
    case 2:
      fuzzAxproj(&input);
      break;
    case 3:
      fuzzStep(&input);
      break;
    default:
      fuzzSolve(&input);
  }
  return 0;
}

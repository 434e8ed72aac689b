// Several threads solve the same problems at once, each in its own workspace, and all get the same
// results to the last bit. ThreadSanitizer watches in its own build.

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "fixture.h"

enum {
  nthread = 4,
  nproblem = 400,
  large = 100
};

static oracleProblem problems[nproblem];
static double A[large * large], v[large], phi[large], alpha[large], beta[large];
static mjgProblem largeProblem = {
    .n = large, .v = v, .A = A, .phi = phi, .alpha = alpha, .beta = beta};


typedef struct Worker_ {
  pthread_t thread;
  double sum[nproblem];
  double large_t[large];
  int ok;
} Worker;

static Worker workers[nthread];


static void* run(void* data) {
  Worker* worker = data;
  worker->ok = 1;
  double next[large], lambda[large], t[large];
  int mode[large];
  mjgSolution solution = {t, next, lambda, mode};
  size_t size = mjg_memsize(large, large);
  void* memory = malloc(size);
  mjgWorkspace* work = mjg_create(memory, size, large, large);
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  for (int k = 0; k < nproblem; k++) {
    int n = problems[k].problem.n;
    worker->ok &= mjg_solve(&solution, NULL, &problems[k].problem, &settings, work) <= mjgJAMMED;
    for (int i = 0; i < n; i++) {
      worker->sum[k] += t[i] + next[i];
    }
    if (k % 40 == 0) {
      worker->ok &= mjg_solve(&solution, NULL, &largeProblem, &settings, work) == mjgSOLVED;
      memcpy(worker->large_t, t, sizeof(worker->large_t));
    }
  }
  free(memory);
  return NULL;
}


static void sameInAllThreads(void** state) {
  uint64_t seed = 1;
  for (int k = 0; k < nproblem; k++) {
    oracleDraw draw = {.n = 1 + k % 12, .gamma_max = k % 2 ? 0.99 : 3, .decades = 4};
    oracle_draw(&problems[k], &draw, &seed);
  }
  for (int i = 0; i < large; i++) {
    for (int j = 0; j < large; j++) {
      A[i * large + j] = (i == j) + 0.5 * exp(-0.1 * abs(i - j));
    }
    v[i] = oracle_normal(&seed);
    phi[i] = oracle_normal(&seed);
    alpha[i] = oracle_uniform(&seed, 0, 0.2);
    beta[i] = oracle_uniform(&seed, 0, 0.9);
  }
  for (int i = 0; i < nthread; i++) {
    assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
  }
  for (int i = 0; i < nthread; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  }
  for (int i = 0; i < nthread; i++) {
    assert_int_equal(workers[i].ok, 1);
    assert_memory_equal(workers[i].sum, workers[0].sum, sizeof(workers[0].sum));
    assert_memory_equal(workers[i].large_t, workers[0].large_t, sizeof(workers[0].large_t));
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sameInAllThreads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

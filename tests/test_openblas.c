// OpenBLAS as we link it: calls from many threads at once give the numbers that one thread gets.

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N       48    // packed kernels, which share buffers, but too small for OpenBLAS to split
#define NTHREAD 8     // threads that call at once
#define NREPEAT 2000  // calls of each thread

extern void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const double* alpha, const double* A, const int* lda, const double* B,
                   const int* ldb, const double* beta, double* C, const int* ldc);
extern void dpotrf_(const char* uplo, const int* n, double* A, const int* lda, int* info);


// data of a thread: inputs shared, result and number of wrong results its own
typedef struct Job_ {
  const double* A;
  const double* expected;
  double* result;
  int nwrong;
} Job;


// C = A' A + N I, and its Cholesky factor in the lower triangle
static int product(double* C, const double* A) {
  const int n = N;
  const double one = 1, zero = 0;
  int info;
  dgemm_("T", "N", &n, &n, &n, &one, A, &n, A, &n, &zero, C, &n);
  for (int i = 0; i < N; i++) {
    C[i * N + i] += N;
  }
  dpotrf_("L", &n, C, &n, &info);
  return info;
}


static void* repeat(void* arg) {
  Job* job = arg;
  for (int k = 0; k < NREPEAT; k++) {
    if (product(job->result, job->A) ||
        memcmp(job->result, job->expected, sizeof(double) * N * N)) {
      job->nwrong++;
    }
  }
  return NULL;
}


static void testConcurrentCalls(void** state) {
  double* A = malloc(sizeof(double) * N * N);
  double* expected = malloc(sizeof(double) * N * N);
  assert_non_null(A);
  assert_non_null(expected);
  for (int i = 0; i < N * N; i++) {
    A[i] = (double)(i * 7919 % 1000) / 1000;
  }

  // alone, against the definition: L L' = A' A + N I
  assert_int_equal(product(expected, A), 0);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      double wanted = i == j ? N : 0, got = 0;
      for (int k = 0; k < N; k++) {
        wanted += A[i * N + k] * A[j * N + k];
      }
      for (int k = 0; k <= j; k++) {
        got += expected[k * N + i] * expected[k * N + j];
      }
      assert_float_equal(got, wanted, 1e-10);
    }
  }

  // together
  Job jobs[NTHREAD];
  pthread_t threads[NTHREAD];
  for (int i = 0; i < NTHREAD; i++) {
    jobs[i] = (Job){A, expected, malloc(sizeof(double) * N * N), 0};
    assert_non_null(jobs[i].result);
    assert_int_equal(pthread_create(&threads[i], NULL, repeat, &jobs[i]), 0);
  }
  int nwrong = 0;
  for (int i = 0; i < NTHREAD; i++) {
    pthread_join(threads[i], NULL);
    nwrong += jobs[i].nwrong;
    free(jobs[i].result);
  }
  assert_int_equal(nwrong, 0);
  free(expected);
  free(A);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testConcurrentCalls)};
  return cmocka_run_group_tests_name("openblas", tests, NULL, NULL);
}

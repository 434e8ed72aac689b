// The workspace: its size, any alignment, and that no call allocates.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "mjgear_paper.h"
#include "solvers/workspace.h"


// every allocation of this program is counted, unless a sanitizer owns malloc
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS
// volatile: gcc knows that malloc changes no variable of a program, and keeps this one in a register
static volatile int nallocation = 0;
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);


void* malloc(size_t size) {
  nallocation++;
  return __libc_malloc(size);
}


void* calloc(size_t count, size_t size) {
  nallocation++;
  return __libc_calloc(count, size);
}


void* realloc(void* memory, size_t size) {
  nallocation++;
  return __libc_realloc(memory, size);
}
#endif


static void sizes(void** state) {
  assert_true(mjg_memsize(-1, 0) == 0 && mjg_memsize(3, 4) == 0 && mjg_memsize(3, -1) == 0);
  assert_true(mjg_memsize(0, 0) > 0);

  // O(n + nmax^2): a few matrices and some vectors
  for (int n = 8; n <= 512; n *= 2) {
    size_t nn = (size_t)n * (size_t)n;
    assert_true(mjg_memsize(n, n) <= 8 * (5 * nn + 48 * (size_t)n) + 8192);
    assert_true(mjg_memsize(16 * n, n) - mjg_memsize(n, n) <= 8 * 16 * (size_t)n * 8);
  }
  // sizes that no block has, or that a size_t does not count: 1 200 479 851 joints wrapped to 9 GiB
  const int large[] = {mjgMAXBLOCK + 1, 46341, 1200479851, INT_MAX - 3, INT_MAX};
  for (size_t k = 0; k < sizeof(large) / sizeof(*large); k++) {
    assert_true(mjg_memsize(large[k], large[k]) == 0);
    if (sizeof(size_t) > 4) {
      assert_true(mjg_memsize(large[k], 1) > 52 * (size_t)large[k]);
    }
  }
  if (sizeof(size_t) > 4) {
    assert_true(mjg_memsize(mjgMAXBLOCK, mjgMAXBLOCK) > 8 * 3 * (size_t)mjgMAXBLOCK * mjgMAXBLOCK);
  }
  unsigned char memory[64];
  assert_null(mjg_create(memory, sizeof(memory), 4, 4));
  assert_null(mjg_create(memory, SIZE_MAX, INT_MAX, INT_MAX));
  assert_null(mjg_create(NULL, 1 << 20, 4, 4));
}


// the same result wherever the memory begins, and nothing outside it is touched
static void anyAlignment(void** state) {
  static oracleProblem p;
  uint64_t seed = 1;
  oracleDraw draw = {.n = 5, .gamma_max = 2};
  oracle_draw(&p, &draw, &seed);
  size_t size = mjg_memsize(5, 5);
  unsigned char* memory = malloc(size + 200);
  double first[5], t[5], v[5], lambda[5];
  int mode[5];
  mjgSolution solution = {t, v, lambda, mode};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  for (int offset = 0; offset < 100; offset++) {
    memset(memory, 0xAB, size + 200);
    mjgWorkspace* work = mjg_create(memory + offset, size, 5, 5);
    assert_non_null(work);
    assert_in_range(mjg_solve(&solution, NULL, &p.problem, &settings, work), 0, 1);
    if (offset == 0) {
      memcpy(first, t, sizeof(t));
    }
    assert_memory_equal(first, t, sizeof(t));
    for (size_t i = 0; i < size + 200; i++) {
      assert_true((i >= (size_t)offset && i < (size_t)offset + size) || memory[i] == 0xAB);
    }
  }
  free(memory);
}


// each array begins at a cache line: vector instructions need this, and two threads share
// no line
static void linesOfTheCache(void** state) {
  for (int n = 1; n <= 17; n++) {
    size_t size = mjg_memsize(n, n);
    void* memory = malloc(size);
    const mjgWorkspace* w = mjg_create(memory, size, n, n);
    const void* array[] = {
        w->block.A,       w->block.P,     w->block.K,     w->block.alpha, w->block.t,
        w->block.z,       w->block.piece, w->block.fixed, w->scratch.c,   w->scratch.best.piece,
        w->scratch.end.t, w->vector[0],   w->vector[5],   w->mode};
    for (size_t i = 0; i < sizeof(array) / sizeof(*array); i++) {
      assert_int_equal((uintptr_t)array[i] % 64, 0);
    }
    free(memory);

    // and the last one ends within the memory, wherever that begins
    unsigned char* anywhere = malloc(size + 64);
    for (int offset = 0; offset < 64; offset++) {
      w = mjg_create(anywhere + offset, size, n, n);
      assert_true((unsigned char*)(w->mode + n) <= anywhere + offset + size);
    }
    free(anywhere);
  }
}


static void nothingAllocates(void** state) {
#ifdef COUNTS_ALLOCATIONS
  enum {
    large = 120
  };
  static oracleProblem p;
  uint64_t seed = 2;
  Room room;
  openRoom(&room);

  // a problem that is large enough for the kernels of large matrices
  static double A[large * large], v[large], phi[large], alpha[large], beta[large];
  static double t[large], next[large], lambda[large];
  static int mode[large];
  mjgSolution solution = {t, next, lambda, mode};
  for (int i = 0; i < large; i++) {
    for (int j = 0; j < large; j++) {
      A[i * large + j] = (i == j) + 0.5 * exp(-0.1 * abs(i - j));
    }
    v[i] = oracle_normal(&seed);
    phi[i] = oracle_normal(&seed);
    alpha[i] = oracle_uniform(&seed, 0, 0.2);
    beta[i] = oracle_uniform(&seed, 0, 0.9);
  }
  mjgProblem problem = {.n = large, .v = v, .A = A, .phi = phi, .alpha = alpha, .beta = beta};
  size_t size = mjg_memsize(large, large);
  void* memory = malloc(size);
  mjgWorkspace* work = mjg_create(memory, size, large, large);

  // volatile: the compiler drops memory that is never read
  int before = nallocation;
  void* volatile looked_at = malloc(3);
  free(looked_at);
  assert_true(nallocation > before);
  before = nallocation;
  for (int k = 0; k < 200; k++) {
    oracleDraw draw = {.n = 1 + k % 4, .gamma_max = 3, .decades = 4};
    oracle_draw(&p, &draw, &seed);
    for (int solver = mjgNEWTON; solver <= mjgENUMERATION; solver++) {
      room.settings.solver = solver;
      room.settings.iterations = solver == mjgENUMERATION ? 0 : 1000;
      mjg_solve(&room.solution, NULL, &p.problem, &room.settings, room.work);
      mjgCertificate certificate;
      mjg_certify(&certificate, NULL, &p.problem, &room.solution, 1e-9, room.work);
    }
    mjg_axproj(room.v, NULL, p.v, p.A, p.phi, p.P, draw.n, &room.settings, room.work);
  }
  mjg_defaultSettings(&room.settings);
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, work), mjgSOLVED);
  room.settings.solver = mjgLEMKE;
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &room.settings, work), mjgSOLVED);
  assert_int_equal(nallocation, before);
  free(memory);
  closeRoom(&room);
#else
  print_message("not counted: the sanitizer owns malloc\n");
#endif
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes),
      cmocka_unit_test(anyAlignment),
      cmocka_unit_test(linesOfTheCache),
      cmocka_unit_test(nothingAllocates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Shared code of the fuzzers of the core. Bytes become arguments of every kind, also such as no
// caller should pass; what the header promises of every call must hold:
//   no crash, no access beyond the arrays, the inputs unchanged
//   a known status; after an error all outputs are as they were
//   otherwise finite outputs; what counts as solved is certified and solves the inclusion
//   no joint creates energy; a stuck joint's velocity is exactly 0
//   the result does not depend on what the workspace held before

#ifndef MJGEAR_TESTS_FUZZ_H_
#define MJGEAR_TESTS_FUZZ_H_

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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


// returns 1 for a status that the header names, with a text
static inline void claimStatus(int status) {
  CLAIM(status >= mjgERR_SIZE && status <= mjgITERATION_LIMIT, "status %d", status);
  CLAIM(mjg_statusString(status) && mjg_statusString(status)[0], "status %d", status);
}


static inline void claimFinite(const double* values, int n, const char* name, int status) {
  for (int i = 0; i < n; i++) {
    CLAIM(isfinite(values[i]), "status %d, %s[%d] = %g", status, name, i, values[i]);
  }
}


//---------------------------------- bytes to arguments --------------------------------------------

typedef struct Input_ {
  const uint8_t* bytes;
  size_t size;
} Input;


static inline unsigned takeByte(Input* input) {
  if (!input->size) {
    return 0;
  }
  input->size--;
  return *input->bytes++;
}


// an integer in 0 .. count - 1
static inline int takeInteger(Input* input, int count) {
  return (int)takeByte(input) % count;
}


// mostly tame numbers, sometimes special ones, sometimes any bits
static inline double takeNumber(Input* input) {
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


static inline void takeNumbers(double* numbers, int n, Input* input) {
  for (int i = 0; i < n; i++) {
    numbers[i] = takeNumber(input);
  }
}


// one of the arrays, or a null pointer in one of 32 cases
static inline const double* maybe(const double* array, Input* input) {
  return takeInteger(input, 32) == 31 ? NULL : array;
}


// any matrix, or one that is symmetric with a dominant diagonal, as mechanics gives
static inline void takeMatrix(double* A, int n, Input* input) {
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


static inline void takeSettings(mjgSettings* settings, Input* input) {
  static const double tolerances[] = {1e-12, 1e-9, 1e-6, 1e-3, 0, -1, NAN, 1e-15};
  mjg_defaultSettings(settings);
  settings->solver = takeInteger(input, 8) - (takeInteger(input, 16) == 15);
  settings->warm_start = takeInteger(input, 2);
  (void)takeInteger(input, 2);  // inputs of the corpus have a number here
  int iterations = takeInteger(input, 256);
  settings->iterations = iterations < 128 ? 0 : iterations < 255 ? iterations - 127 : -1;
  int tolerance = takeInteger(input, 64);
  settings->tolerance = tolerances[tolerance < 56 ? tolerance % 3 : tolerance - 56];

  // methods that converge slowly get a limit, so that the fuzzer sees many problems
  int slow = settings->solver == mjgPROJECTION || settings->solver == mjgGAUSS_SEIDEL;
  if (slow && settings->iterations == 0) {
    settings->iterations = 50;
  }
}


// enumeration of many modes takes too long to be repeated often
static inline int takesLong(const mjgSettings* settings, int n) {
  return settings->solver == mjgENUMERATION && n > 4 && n <= mjgMAXENUM;
}


//---------------------------------- workspace -----------------------------------------------------

// a workspace in exactly the memory that it asks for, at an odd address, full of a pattern
typedef struct Space_ {
  unsigned char* memory;
  mjgWorkspace* work;
} Space;


static inline Space makeSpace(int n, int nmax, int offset, int pattern) {
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


// everything that a call may write
typedef struct Output_ {
  double t[MAXN], v[MAXN], lambda[MAXN];
  int mode[MAXN];
  mjgInfo info;
} Output;


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif  // MJGEAR_TESTS_FUZZ_H_

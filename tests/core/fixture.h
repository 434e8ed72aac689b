// Shared code of the tests of the core: memory for a result and a workspace, and a comparison.

#ifndef MJGEAR_TESTS_FIXTURE_H_
#define MJGEAR_TESTS_FIXTURE_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mjgear.h"
#include "oracle.h"

// cmocka's own comparison is in single precision
#define assert_near(a, b, tolerance) assertNear(a, b, tolerance, #a, __FILE__, __LINE__)
static inline void assertNear(double a, double b, double tolerance, const char* what,
                              const char* file, int line) {
  double difference = a > b ? a - b : b - a;
  if (!(difference <= tolerance || a == b)) {
    print_error("%s is %.17g, not %.17g: off by %g, tolerance %g\n", what, a, b, difference,
                tolerance);
    _fail(file, line);
  }
}


// arrays for a result, and a workspace
typedef struct Room_ {
  double t[oracleMAXN], v[oracleMAXN], lambda[oracleMAXN];
  int mode[oracleMAXN];
  mjgSolution solution;
  mjgSettings settings;
  mjgInfo info;
  mjgWorkspace* work;
  void* memory;
} Room;


static inline void openRoom(Room* room) {
  size_t size = mjg_memsize(oracleMAXN, oracleMAXN);
  room->memory = malloc(size);
  room->work = mjg_create(room->memory, size, oracleMAXN, oracleMAXN);
  room->solution = (mjgSolution){room->t, room->v, room->lambda, room->mode};
  mjg_defaultSettings(&room->settings);
  assert_non_null(room->work);
}


static inline void closeRoom(Room* room) {
  free(room->memory);
}


// largest distance of t from other in units of 1/sqrt(A_ii), against the size of other
static inline double distance(const double* t, const double* other, const mjgProblem* p) {
  double far = 0, size = 0;
  for (int i = 0; i < p->n; i++) {
    double root = sqrt(p->A[i * p->n + i]);
    far = fmax(far, root * fabs(t[i] - other[i]));
    size = fmax(size, root * fabs(other[i]));
  }
  return far > 0 ? far / size : 0;
}

#endif  // MJGEAR_TESTS_FIXTURE_H_

// A comparison in double precision; cmocka has none.

#ifndef MJGEAR_TESTS_NEAR_H_
#define MJGEAR_TESTS_NEAR_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// x is expected up to tolerance, relative to the larger of the expected value and least
#define assertWithin(x, expected, tolerance, least) \
  checkWithin(x, expected, tolerance, least, #x, __FILE__, __LINE__)
#define assertNear(x, expected, tolerance) assertWithin(x, expected, tolerance, 1.0)

static inline void checkWithin(double x, double expected, double tolerance, double least,
                               const char* what, const char* file, int line) {
  if (!(fabs(x - expected) <= tolerance * fmax(least, fabs(expected)))) {
    print_error("%s is %.17g, expected %.17g, tolerance %g\n", what, x, expected, tolerance);
    _fail(file, line);
  }
}

#endif  // MJGEAR_TESTS_NEAR_H_

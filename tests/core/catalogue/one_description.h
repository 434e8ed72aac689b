// Shared code of the tests of descriptions.

#ifndef MJGEAR_TESTS_ONE_DESCRIPTION_H_
#define MJGEAR_TESTS_ONE_DESCRIPTION_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear_report.h"
#include "near.h"


// a description from a list of keys and values that ends with -1
static inline mjgDescription describe(int type, ...) {
  mjgDescription d;
  mjg_defaultDescription(&d);
  d.type = type;
  va_list arguments;
  va_start(arguments, type);
  for (int key; (key = va_arg(arguments, int)) >= 0;) {
    mjg_give(&d, key, va_arg(arguments, double));
  }
  va_end(arguments);
  return d;
}


static inline mjgTransmission resolve(const mjgDescription* d) {
  char text[1000];
  mjgReport report;
  mjgTransmission t;
  mjg_startReport(&report, text, sizeof(text));
  if (mjg_transmission(&t, &report, d) != 0) {
    fail_msg("%s", text);
  }
  return t;
}


// relative to the expected value alone
#define assertSame(x, expected, tolerance) assertWithin(x, expected, tolerance, 0.0)

#endif  // MJGEAR_TESTS_ONE_DESCRIPTION_H_

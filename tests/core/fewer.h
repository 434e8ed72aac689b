// Fewer random cases where each takes several times as long.

#ifndef MJGEAR_TESTS_FEWER_H_
#define MJGEAR_TESTS_FEWER_H_

#include <stdlib.h>


// Returns n; under sanitizers an eighth of it, for cases that differ in numbers alone. ./check --long runs all.
static inline int fewer(int n) {
#if defined(__SANITIZE_ADDRESS__)
  return getenv("MJGEAR_LONG") ? n : (n + 7) / 8;
#else
  return n;
#endif
}

#endif  // MJGEAR_TESTS_FEWER_H_

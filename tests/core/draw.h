// Random numbers that every run draws alike.

#ifndef MJGEAR_TESTS_DRAW_H_
#define MJGEAR_TESTS_DRAW_H_

#include <stdint.h>

static uint64_t draw_state = 1;

static inline double draw(double low, double high) {
  draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(draw_state >> 11) / 9007199254740992.0;
}

#endif  // MJGEAR_TESTS_DRAW_H_

#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 0.5  // s before anything is shown
#define REDRAW   0.1  // s between two states of the bar
#define WIDTH    30   // characters of the bar

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int shown;  // a bar stands on the terminal

void mjg_showProgress(double fraction, const char* label) {
  static double begin, next, last = INFINITY;
  double time = now();
  if (fraction < last) {
    begin = time;
    next = time + PATIENCE;
  }
  last = fraction;
  if (time < next) {
    return;
  }
  next = time + REDRAW;
  if (!isatty(STDERR_FILENO)) {
    return;
  }
  double left = fraction > 0 ? (time - begin) * (1 - fraction) / fraction : 0;
  int filled = (int)(WIDTH * fraction + 0.5);
  fprintf(stderr, "\r[%.*s%.*s] %3.0f %% %4.0f s left  %-40.40s", filled, "##############################",
          WIDTH - filled, "..............................", 100 * fraction, left, label);
  fflush(stderr);
  shown = 1;
}

void mjg_clearProgress(void) {
  if (shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
  shown = 0;
}

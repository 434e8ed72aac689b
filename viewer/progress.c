#include "progress.h"

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

void mjg_beginProgress(mjgProgress* progress, int enabled) {
  *progress = (mjgProgress){.enabled = enabled && isatty(STDERR_FILENO), .begin = now()};
  progress->next = progress->begin + PATIENCE;
}

void mjg_showProgress(mjgProgress* progress, double fraction, const char* label) {
  double time = progress->enabled ? now() : 0;
  if (!progress->enabled || time < progress->next) {
    return;
  }
  progress->next = time + REDRAW;
  double left = fraction > 0 ? (time - progress->begin) * (1 - fraction) / fraction : 0;
  int filled = (int)(WIDTH * fraction + 0.5);
  fprintf(stderr, "\r[%.*s%.*s] %3.0f %% %4.0f s left  %-40.40s", filled, "##############################",
          WIDTH - filled, "..............................", 100 * fraction, left, label);
  fflush(stderr);
  progress->shown = 1;
}

void mjg_clearProgress(mjgProgress* progress) {
  if (progress->shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->shown = 0;
  }
}

// Warnings that are given once (gears.h).

#include <stdarg.h>
#include <stdio.h>

#include "state/gears.h"


void mjgp_warn(mjgpGears* g, int warning, const char* format, ...) {
  if (g->warned & warning) {
    return;
  }
  g->warned |= warning;
  char line[500];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  mju_warning(mjgpNAME ": %s", line);
}

// Warnings that are given once (gears.h).

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "state/gears.h"


int mjgp_isNews(const mjgpConfig* config, uint64_t number) {
  static _Atomic(uint64_t) told[256];
  uint64_t hash = mjgp_hash((const char*)&number, sizeof(number), config->content);
  return atomic_exchange(told + hash % 256, hash) != hash;
}


void mjgp_warn(mjgpGears* g, int warning, const char* format, ...) {
  if (g->warned & warning) {
    return;
  }
  g->warned |= warning;
  if ((warning & mjgpWARN_OF_MODEL) && !mjgp_isNews(g->config, (uint64_t)warning)) {
    return;
  }
  char line[500];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  mju_warning(mjgpNAME ": %s", line);
}

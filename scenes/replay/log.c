#include "log.h"

#include <zlib.h>

#include "../helpers.h"
#include "../load.h"

// one row of the file; 0: it is one
static int parseRow(double row[mjgLOGWIDTH], const char* line) {
  double speed, load, volts, temperature;
  return sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", row + mjgLOGPOSITION, &speed, &load, &volts, &temperature,
                row + mjgLOGTIME, row + mjgLOGGOAL, row + mjgLOGENABLE) == 8
             ? 0
             : -1;
}

int mjg_readLog(mjgLog* log, const char* name) {
  char path[4096], file[300], line[1000];
  snprintf(file, sizeof file, "../data/xl330/%s.csv.gz", name);
  mjg_pagePath(path, sizeof path, file);
  gzFile in = gzopen(path, "rb");
  *log = (mjgLog){0};
  int capacity = 0, failed = !in || !gzgets(in, line, sizeof line);
  const char* kp = failed ? NULL : strstr(line, "kp=");
  log->kp = kp ? strtod(kp + 3, NULL) : 0;
  failed = failed || !kp || !gzgets(in, line, sizeof line);  // names of the columns
  while (!failed && gzgets(in, line, sizeof line)) {
    if (log->n == capacity) {
      capacity = capacity ? 2 * capacity : 1024;
      double* row = realloc(log->row, sizeof(double) * mjgLOGWIDTH * (size_t)capacity);
      if (!row) {
        failed = 1;
        break;
      }
      log->row = row;
    }
    failed = parseRow(log->row + (size_t)log->n * mjgLOGWIDTH, line);
    log->n++;
  }
  if (in) {
    gzclose(in);
  }
  if (failed || log->n < 2) {
    free(log->row);
    *log = (mjgLog){0};
    return -1;
  }
  double begin = log->row[mjgLOGTIME];
  for (int i = 0; i < log->n; i++) {
    log->row[(size_t)i * mjgLOGWIDTH + mjgLOGTIME] -= begin;
  }
  return 0;
}

const double* mjg_logRow(const mjgLog* log, double time) {
  int low = 0, high = log->n - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (log->row[(size_t)middle * mjgLOGWIDTH + mjgLOGTIME] <= time) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return log->row + (size_t)low * mjgLOGWIDTH;
}

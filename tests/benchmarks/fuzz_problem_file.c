// Fuzzer of the problem file's reader: any bytes are read or refused with one line, and problems
// that were read are written and read again to the same bits.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem_file.h"

#define CLAIM(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                        \
    }                                                                 \
  } while (0)


static void claimEqual(const double* a, const double* b, size_t count) {
  CLAIM(!a == !b);
  CLAIM(!a || !memcmp(a, b, count * sizeof(double)));
}


// write, read, compare
static void claimRoundTrip(const mjgRecord* record) {
  char* text = NULL;
  size_t size = 0, n = (size_t)record->problem.n, entries = mjg_countEntries(&record->problem);
  FILE* file = open_memstream(&text, &size);
  CLAIM(file);
  CLAIM(!mjg_writeHeader(file));
  CLAIM(!mjg_writeProblem(file, record->name, &record->problem, record->t_start, record->mode_start,
                          record->t));
  fclose(file);
  mjgRecord copy = {0};
  mjgReader reader;
  mjg_openReader(&reader, text, size);
  CLAIM(mjg_readProblem(&copy, &reader) == 1);
  CLAIM(!strcmp(copy.name, record->name));
  CLAIM(copy.problem.n == record->problem.n && copy.problem.nblock == record->problem.nblock);
  CLAIM(!copy.block ||
        !memcmp(copy.block, record->block, (size_t)copy.problem.nblock * sizeof(int)));
  CLAIM(!copy.mode_start == !record->mode_start);
  CLAIM(!copy.mode_start || !memcmp(copy.mode_start, record->mode_start, n * sizeof(int)));
  claimEqual(copy.v, record->v, n);
  claimEqual(copy.A, record->A, entries);
  claimEqual(copy.phi, record->phi, n);
  claimEqual(copy.P, record->P, entries);
  claimEqual(copy.alpha, record->alpha, n);
  claimEqual(copy.beta, record->beta, n);
  claimEqual(copy.coulomb, record->coulomb, n);
  claimEqual(copy.static_ratio, record->static_ratio, n);
  claimEqual(copy.v0, record->v0, n);
  claimEqual(copy.t_start, record->t_start, n);
  claimEqual(copy.t, record->t, n);
  CLAIM(mjg_readProblem(&copy, &reader) == 0);
  free(text);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mjgRecord record = {0};
  mjgReader reader;
  int found;
  mjg_openReader(&reader, (const char*)data, size);
  while ((found = mjg_readProblem(&record, &reader)) == 1) {
    CLAIM(record.v && record.A && record.phi && record.problem.n > 0);
    claimRoundTrip(&record);
  }
  CLAIM(!record.v && !record.problem.n);

  // one line, and only if there is something to say
  CLAIM((found == -1) == (reader.error[0] != 0));
  CLAIM(!strchr(reader.error, '\n'));
  CLAIM(found == 0 || !strncmp(reader.error, "line ", 5));
  return 0;
}

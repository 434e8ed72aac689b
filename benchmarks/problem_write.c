// The writing half of problem_file.h.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/c_locale.h"
#include "problem_file.h"

#define LINEWIDTH 100  // column at which lines are broken


int mjg_writeHeader(FILE* file) {
  return fputs("mjgear-problems 1\n", file) < 0 ? -1 : 0;
}


// the shortest of three lengths that gives the same bits
static void formatNumber(char text[32], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      return;
    }
  }
}


// a field, continued on indented lines
static void writeNumbers(FILE* file, const char* key, const double* values, size_t count) {
  int column = fprintf(file, "%s", key);
  for (size_t i = 0; i < count; i++) {
    char text[32];
    formatNumber(text, values[i]);
    int width = (int)strlen(text) + 1;
    if (column + width > LINEWIDTH) {
      fputs("\n ", file);
      column = 1;
    }
    fprintf(file, " %s", text);
    column += width;
  }
  fputc('\n', file);
}


// a name of printable characters that the reader takes as one word
static int isName(const char* name) {
  size_t length = 0;
  for (; name[length]; length++) {
    if (name[length] < 33 || name[length] > 126 || name[length] == '#') {
      return 0;
    }
  }
  return length > 0 && length <= mjgMAXNAME;
}


static int areFinite(const double* values, size_t count) {
  for (size_t i = 0; values && i < count; i++) {
    if (!isfinite(values[i])) {
      return 0;
    }
  }
  return 1;
}


int mjg_writeProblem(FILE* file, const char* name, const mjgProblem* problem, const double* t_start,
                     const int* mode_start, const double* t) {
  size_t n = (size_t)problem->n, entries = mjg_countEntries(problem);
  const struct {
    const char* key;
    const double* values;
    size_t count;
  } fields[] = {
      {"v", problem->v, n},
      {"A", problem->A, entries},
      {"phi", problem->phi, n},
      {"P", problem->P, entries},
      {"alpha", problem->P ? NULL : problem->alpha, n},
      {"beta", problem->P ? NULL : problem->beta, n},
      {"coulomb", problem->coulomb, n},
      {"static_ratio", problem->static_ratio, n},
      {"v0", problem->v0, n},
      {"t_start", t_start, n},
      {"t", t, n},
  };
  const int nfield = (int)(sizeof(fields) / sizeof(fields[0]));

  // refuse everything that the reader would refuse
  if (!isName(name) || problem->n < 1 || problem->n > mjgMAXJOINTS || entries > mjgMAXENTRIES ||
      (!problem->P && (!problem->alpha || !problem->beta))) {
    return -1;
  }
  for (int i = 0; i < nfield; i++) {
    if (!areFinite(fields[i].values, fields[i].count)) {
      return -1;
    }
  }

  mjgiLocale former = mjgi_enterC();
  fprintf(file, "\nproblem %s\nn %d\n", name, problem->n);
  if (problem->nblock) {
    fputs("block", file);
    for (int i = 0; i < problem->nblock; i++) {
      fprintf(file, i % 20 == 19 ? "\n  %d" : " %d", problem->block[i]);
    }
    fputc('\n', file);
  }
  for (int i = 0; i < nfield; i++) {
    if (fields[i].values) {
      writeNumbers(file, fields[i].key, fields[i].values, fields[i].count);
    }
  }
  if (mode_start) {
    fputs("mode_start", file);
    for (size_t i = 0; i < n; i++) {
      fprintf(file, i % 30 == 29 ? "\n  %d" : " %d", mode_start[i]);
    }
    fputc('\n', file);
  }
  fputs("end\n", file);
  mjgi_leaveC(former);
  return ferror(file) ? -1 : 0;
}

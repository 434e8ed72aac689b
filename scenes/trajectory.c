#include "trajectory.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mjg_freeTrajectory(mjgTrajectory* trajectory) {
  free(trajectory->name);
  free(trajectory->data);
  *trajectory = (mjgTrajectory){0};
}

int mjg_addColumn(mjgTrajectory* trajectory, const char* name) {
  size_t size = ((size_t)trajectory->ncolumn + 1) * sizeof *trajectory->name;
  void* grown = realloc(trajectory->name, size);
  if (!grown) {
    return -1;
  }
  trajectory->name = grown;
  snprintf(trajectory->name[trajectory->ncolumn], mjgMAXNAME, "%s", name);
  return trajectory->ncolumn++;
}

double* mjg_addRow(mjgTrajectory* trajectory) {
  size_t width = (size_t)trajectory->ncolumn;
  if (trajectory->nrow == trajectory->capacity) {
    int capacity = trajectory->capacity ? 2 * trajectory->capacity : 1024;
    double* grown = realloc(trajectory->data, (size_t)capacity * width * sizeof(double));
    if (!grown) {
      return NULL;
    }
    trajectory->data = grown;
    trajectory->capacity = capacity;
  }
  double* row = trajectory->data + width * (size_t)trajectory->nrow++;
  memset(row, 0, width * sizeof(double));
  return row;
}

const double* mjg_row(const mjgTrajectory* trajectory, int i) {
  return trajectory->data + (size_t)trajectory->ncolumn * (size_t)i;
}

int mjg_column(const mjgTrajectory* trajectory, const char* name) {
  for (int i = 0; i < trajectory->ncolumn; i++) {
    if (!strcmp(trajectory->name[i], name)) {
      return i;
    }
  }
  return -1;
}

// the first row whose time is not before t, but for a rounding error; nrow if there is none
static int rowAt(const mjgTrajectory* trajectory, double t) {
  int low = 0, high = trajectory->nrow;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (trajectory->data[middle * trajectory->ncolumn] < t - 1e-9) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const double* mjg_rowUntil(const mjgTrajectory* trajectory, double t) {
  int row = rowAt(trajectory, t);
  int flg_there = row < trajectory->nrow && mjg_row(trajectory, row)[0] <= t;
  return mjg_row(trajectory, flg_there || !row ? row : row - 1);
}

double mjg_at(const mjgTrajectory* trajectory, const char* name, double time) {
  int column = mjg_column(trajectory, name), row = rowAt(trajectory, time);
  if (column < 0 || !trajectory->nrow) {
    return NAN;
  }

  // of the two rows around that time the nearer one
  const double* data = trajectory->data;
  int n = trajectory->ncolumn;
  if (row == trajectory->nrow || (row && time - data[(row - 1) * n] < data[row * n] - time)) {
    row--;
  }
  return data[row * n + column];
}

// smallest value of sign times the column between two times
static double extreme(const mjgTrajectory* trajectory, const char* name, double from, double to, double sign) {
  int column = mjg_column(trajectory, name);
  double best = NAN;
  for (int row = rowAt(trajectory, from); column >= 0 && row < trajectory->nrow; row++) {
    const double* data = trajectory->data + row * trajectory->ncolumn;
    if (data[0] > to + 1e-9) {
      break;
    }
    // a value that is not a number stays: it must not hide behind its neighbours
    double value = sign * data[column];
    if (isnan(value)) {
      return value;
    }
    if (isnan(best) || value < best) {
      best = value;
    }
  }
  return sign * best;
}

double mjg_lowest(const mjgTrajectory* trajectory, const char* name, double from, double to) {
  return extreme(trajectory, name, from, to, 1);
}

double mjg_highest(const mjgTrajectory* trajectory, const char* name, double from, double to) {
  return extreme(trajectory, name, from, to, -1);
}

double mjg_size(const mjgTrajectory* trajectory, const char* name, double from, double to) {
  return fmax(mjg_highest(trajectory, name, from, to), -mjg_lowest(trajectory, name, from, to));
}

double mjg_swing(const mjgTrajectory* trajectory, const char* name, double from, double to) {
  return mjg_highest(trajectory, name, from, to) - mjg_lowest(trajectory, name, from, to);
}

// largest value of a measure in the columns that a pattern matches
static double largest(const mjgTrajectory* trajectory, const char* pattern, double from, double to,
                      double (*of)(const mjgTrajectory*, const char*, double, double)) {
  double most = -1;
  for (int i = 0; i < trajectory->ncolumn; i++) {
    if (!fnmatch(pattern, trajectory->name[i], 0)) {
      double value = of(trajectory, trajectory->name[i], from, to);
      most = isnan(value) ? INFINITY : fmax(most, value);
    }
  }
  return most < 0 ? INFINITY : most;
}

double mjg_largestSize(const mjgTrajectory* trajectory, const char* pattern, double from, double to) {
  return largest(trajectory, pattern, from, to, mjg_size);
}

double mjg_largestSwing(const mjgTrajectory* trajectory, const char* pattern, double from, double to) {
  return largest(trajectory, pattern, from, to, mjg_swing);
}

int mjg_isPositive(double value) { return value > 0; }

int mjg_isNegative(double value) { return value < 0; }

int mjg_isZero(double value) { return value == 0; }

int mjg_isNotZero(double value) { return value != 0; }

double mjg_share(const mjgTrajectory* trajectory, const char* name, double from, double to, int (*is)(double)) {
  int column = mjg_column(trajectory, name), n = 0, met = 0;
  for (int i = 0; column >= 0 && i < trajectory->nrow; i++) {
    const double* row = mjg_row(trajectory, i);
    int flg_within = row[0] >= from && row[0] < to;
    n += flg_within;
    met += flg_within && is(row[column]);
  }
  return n ? (double)met / n : NAN;
}

mjgEvents mjg_events(const mjgTrajectory* trajectory, const char* name, double from, double to, int (*is)(double)) {
  int column = mjg_column(trajectory, name);
  mjgEvents events = {.first = INFINITY, .last = NAN};
  for (int i = 1; column >= 0 && i < trajectory->nrow; i++) {
    const double *row = mjg_row(trajectory, i), *before = row - trajectory->ncolumn;
    if (row[0] > from && row[0] < to && is(row[column]) && !is(before[column])) {
      events.first = events.n++ ? events.first : row[0];
      events.last = row[0];
    }
  }
  return events;
}

void mjg_clearRows(mjgTrajectory* trajectory) { trajectory->nrow = 0; }

void mjg_writeNames(const mjgTrajectory* trajectory, FILE* file) {
  // quoted where a comma or a quote is part of a name
  for (int i = 0; i < trajectory->ncolumn; i++) {
    const char* name = trajectory->name[i];
    int quoted = strpbrk(name, ",\"\n") != NULL;
    fputs(i ? "," : "", file);
    fputs(quoted ? "\"" : "", file);
    for (; *name; name++) {
      fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, file);
    }
    fputs(quoted ? "\"" : "", file);
  }
  fputc('\n', file);
}

void mjg_writeLastRow(const mjgTrajectory* trajectory, FILE* file) {
  const double* row = mjg_row(trajectory, trajectory->nrow - 1);
  for (int i = 0; i < trajectory->ncolumn; i++) {
    fprintf(file, i ? ",%.17g" : "%.10g", row[i]);
  }
  fputc('\n', file);
}

void mjg_writeHead(const mjgTrajectory* trajectory, long nrow, FILE* file) {
  // format 2.0 of NumPy: magic, version, length of the text, and a Python literal that ends with a newline
  static const char before[] = "{'fortran_order':False,'descr':[", row[] = "('','<f8'),";
  size_t length = sizeof before + 64;
  for (int i = 0; i < trajectory->ncolumn; i++) {
    length += 2 * strlen(trajectory->name[i]) + sizeof row;
  }
  fwrite("\x93NUMPY\x02\x00", 1, 8, file);
  for (int k = 0; k < 4; k++) {
    fputc((int)(length >> (8 * k)) & 0xff, file);
  }
  long begin = ftell(file);
  fputs(before, file);
  for (int i = 0; i < trajectory->ncolumn; i++) {
    fputs("('", file);
    for (const char* c = trajectory->name[i]; *c; c++) {
      fputs(*c == '\'' || *c == '\\' ? "\\" : "", file);
      fputc(*c, file);
    }
    fputs("','<f8'),", file);
  }
  fprintf(file, "],'shape':(%ld,)}", nrow);
  fprintf(file, "%*s", (int)(begin + (long)length - ftell(file)), "\n");
}

void mjg_writeLastNumbers(const mjgTrajectory* trajectory, FILE* file) {
  fwrite(mjg_row(trajectory, trajectory->nrow - 1), sizeof(double), (size_t)trajectory->ncolumn, file);
}

// Output of programs: a file that is complete, or the older one.

#ifndef SCENES_OUTPUT_H_
#define SCENES_OUTPUT_H_

#include <stdio.h>

typedef struct mjgOutput_ {
  FILE* file;
  char path[4096];
  char part[4096];  // what is written: path and ".part"; path itself for a link, pipe or device
} mjgOutput;

// open a file that is written from its beginning; null with errno
mjgOutput* mjg_openOutput(const char* path);

// Close it: a complete part takes its place, of a failure nothing is left. Returns 0, or an errno if it could not be
// written. output is nullable
int mjg_closeOutput(mjgOutput* output, int flg_complete);

// register once, first in main: a program whose standard output is not fully written fails with a message
void mjg_mindStandardOutput(const char* program);

#endif  // SCENES_OUTPUT_H_

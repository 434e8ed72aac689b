// Output of programs: files with whole rows, and none that only looks complete.

#ifndef SCENES_OUTPUT_H_
#define SCENES_OUTPUT_H_

#include <stdio.h>

typedef struct mjgOutput_ mjgOutput;

// Open a file that is written from its beginning; null with errno. Each row goes to the file as a whole (up to
// 64 KiB), so that a program that is interrupted leaves none that is cut. An older file stays until the new one is
// closed: rows go to path and ".part". flg_rows: rows are of use where some are missing
mjgOutput* mjg_openOutput(const char* path, int flg_rows);
FILE* mjg_outputFile(mjgOutput* output);

// returns 1 if a write has failed
int mjg_isOutputLost(mjgOutput* output);

// Close it, complete or not. Returns 0 if everything was written, else an errno. What is lost, empty, or incomplete and
// of no use (flg_rows) replaces no older file; without one, whole rows that are of use stay. output is nullable
int mjg_closeOutput(mjgOutput* output, int flg_complete);

// remove the remains of a failure, if they are a plain file
void mjg_discard(const char* path);

// Write the name of a file until it is complete: path and ".part". A link, pipe or device keeps its name.
void mjg_partOf(char* part, size_t size, const char* path);

// Put a complete part in its place; of a failure remove it, so that an older file stays. Returns 0 or an errno.
int mjg_finishPart(const char* part, const char* path, int flg_complete);

// register once, first in main: a program whose standard output is not fully written fails with a message
void mjg_mindStandardOutput(const char* program);

#endif  // SCENES_OUTPUT_H_

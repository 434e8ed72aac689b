// Checks an MJCF: all mistakes of its gears, or a forecast for each geared joint.

#ifndef TOOLS_CHECK_H_
#define TOOLS_CHECK_H_

#include <stdio.h>

// read the file and write the result to out, as text or JSON. Returns the number of problems.
int checkModelFile(FILE* out, const char* file, int flg_json);

#endif  // TOOLS_CHECK_H_

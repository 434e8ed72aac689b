// Checks of what a caller hands over, before anything is computed.

#ifndef MJGEAR_CHECK_H_
#define MJGEAR_CHECK_H_

#include "mjgear.h"

// 1 if all entries are finite, else 0
int mjgi_allFinite(const double* x, size_t count);

// the blocks of a problem, which may be null: mjgSOLVED or an error; the size of the largest one
int mjgi_checkBlocks(int* most, const mjgProblem* problem);

// a problem by itself and against the size of the workspace: mjgSOLVED or an error
int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work);

#endif  // MJGEAR_CHECK_H_

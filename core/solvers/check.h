// Checks of arguments.

#ifndef MJGEAR_CHECK_H_
#define MJGEAR_CHECK_H_

#include "mjgear.h"

// 1 if all entries are finite, else 0
int mjgi_allFinite(const double* x, size_t count);

// position in the blocks of a problem; zero at first
typedef struct mjgiCursor_ {
  int block;  // number of passed blocks
  int first;  // first row of the last passed block
  int row;    // number of passed rows, and of entries of matrices
  size_t entry;
} mjgiCursor;

// Set the next block as a problem of one block. Returns 0 if there is none. Sizes must be
// checked.
int mjgi_nextBlock(mjgProblem* block, mjgiCursor* at, const mjgProblem* problem);

// Check the sizes of the blocks of a problem (nullable) and set the largest. Returns mjgSOLVED or
// an error.
int mjgi_checkBlocks(int* most, const mjgProblem* problem);

// Check a problem, and its size against the workspace. Returns mjgSOLVED or an error.
int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work);

#endif  // MJGEAR_CHECK_H_

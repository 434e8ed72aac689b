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

// Set the next block as a problem of one block, of a checked problem. Returns 0 if there is none.
int mjgi_nextBlock(mjgProblem* block, mjgiCursor* at, const mjgProblem* problem);

// Check a problem, the arrays of a solution and the size of the workspace, all nullable. Sets the
// size of the largest block. Returns mjgSOLVED or an error.
int mjgi_checkProblem(int* largest, const mjgProblem* problem, const mjgSolution* solution,
                      const mjgWorkspace* work);

#endif  // MJGEAR_CHECK_H_

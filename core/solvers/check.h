// Checks of what a caller hands over, before anything is computed.

#ifndef MJGEAR_CHECK_H_
#define MJGEAR_CHECK_H_

#include "mjgear.h"

// 1 if all entries are finite, else 0
int mjgi_allFinite(const double* x, size_t count);

// where one is in the blocks of a problem; zeros to begin with
typedef struct mjgiCursor_ {
  int block;  // blocks that were passed
  int first;  // first row of the last one
  int row;    // rows, and entries of matrices, that were passed
  size_t entry;
} mjgiCursor;

// the next block as a problem of one block; 0: there is none. The sizes must be checked
int mjgi_nextBlock(mjgProblem* block, mjgiCursor* at, const mjgProblem* problem);

// the sizes of the blocks of a problem, which may be null: mjgSOLVED or an error; the
// largest one
int mjgi_checkBlocks(int* most, const mjgProblem* problem);

// a problem by itself and against the size of the workspace: mjgSOLVED or an error
int mjgi_checkProblem(const mjgProblem* problem, const mjgWorkspace* work);

#endif  // MJGEAR_CHECK_H_

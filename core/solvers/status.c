#include "mjgear.h"

#define mjgiFIRST (-mjgERR_SIZE)  // statuses begin below zero

static const char* const kText[] = {
    [mjgSOLVED + mjgiFIRST] = "solved",
    [mjgJAMMED + mjgiFIRST] = "solved, but the data are ill posed: another solution may exist",
    [mjgITERATION_LIMIT + mjgiFIRST] = "iteration limit reached; the best iterate is returned",
    [mjgERR_ARGUMENT + mjgiFIRST] =
        "argument error: null pointer, negative size or a value out of range",
    [mjgERR_NOT_FINITE + mjgiFIRST] = "an input is NaN or infinite, or a result would be",
    [mjgERR_NOT_PD + mjgiFIRST] = "a matrix that must be positive definite is not",
    [mjgERR_WORKSPACE + mjgiFIRST] = "the workspace is too small for this problem",
    [mjgERR_SIZE + mjgiFIRST] = "the problem is too large for the method",
};


const char* mjg_statusString(int status) {
  int known = status >= mjgERR_SIZE && status <= mjgITERATION_LIMIT;
  return known ? kText[status + mjgiFIRST] : "unknown status";
}

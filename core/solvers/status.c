#include "mjgear.h"

static const char* const kText[] = {
    [mjgSOLVED - mjgERR_SIZE] = "solved",
    [mjgJAMMED - mjgERR_SIZE] = "solved, but the data are ill posed: another solution may exist",
    [mjgITERATION_LIMIT - mjgERR_SIZE] = "iteration limit reached; the best iterate is returned",
    [mjgNO_SOLUTION - mjgERR_SIZE] = "the problem has no solution",
    [mjgERR_ARGUMENT - mjgERR_SIZE] =
        "argument error: null pointer, negative size or a value out of range",
    [mjgERR_NOT_FINITE - mjgERR_SIZE] = "an input is NaN or infinite, or a result would be",
    [mjgERR_NOT_PD - mjgERR_SIZE] = "a matrix that must be positive definite is not",
    [mjgERR_WORKSPACE - mjgERR_SIZE] = "the workspace is too small for this problem",
    [mjgERR_SIZE - mjgERR_SIZE] = "the problem is too large for the method",
};


const char* mjg_statusString(int status) {
  int known = status >= mjgERR_SIZE && status <= mjgNO_SOLUTION;
  return known ? kText[status - mjgERR_SIZE] : "unknown status";
}

#include "mjgear.h"


const char* mjg_statusString(int status) {
  switch (status) {
    case mjgSOLVED:
      return "solved";
    case mjgJAMMED:
      return "solved, but the data are ill posed: another solution may exist";
    case mjgITERATION_LIMIT:
      return "iteration limit reached; the best iterate is returned";
    case mjgNO_SOLUTION:
      return "the problem has no solution";
    case mjgERR_ARGUMENT:
      return "argument error: null pointer, negative size or a value out of range";
    case mjgERR_NOT_FINITE:
      return "an input is NaN or infinite, or a result would be";
    case mjgERR_NOT_PD:
      return "a matrix that must be positive definite is not";
    case mjgERR_WORKSPACE:
      return "the workspace is too small for this problem";
    case mjgERR_SIZE:
      return "the problem is too large for the method";
    default:
      return "unknown status";
  }
}

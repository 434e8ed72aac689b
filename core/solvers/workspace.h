// The memory of a solve: one block, scratch of its solvers, and of problems with several blocks.

#ifndef MJGEAR_WORKSPACE_H_
#define MJGEAR_WORKSPACE_H_

#include "mjgear.h"
#include "solvers/dense.h"
#include "solvers/dense_newton.h"

// a stored iterate
typedef struct mjgiPoint_ {
  double* t;   //                                                      (n)
  int* piece;  //                                                      (n)
} mjgiPoint;

// scratch of methods beside the block's iterate
typedef struct mjgiScratch_ {
  mjgiPoint best;    // of refinement
  mjgiPoint path;    // the best end of a path
  mjgiPoint end;     // start of the jamming rule's sweeps; nearest solution of an enumeration
  double* c;         // load-independent bounds and                    (n)
  double* diagonal;  // diagonal of P before a path changes them       (n)
  double* u;         //                                                (n)
  double* Au;        //                                                (n)
  double* row;       //                                                (n)
  double* rate;      //                                                (n)
  int* next_piece;   //                                                (n)
} mjgiScratch;

struct mjgWorkspace_ {
  int n;     // most joints of a problem
  int nmax;  // most joints of a block
  mjgiBlock block;
  mjgiScratch scratch;
  double* matrix;     // (nmax x nmax)
  double* vector[6];  // (n)
  int* mode;          // (n)
};

#endif  // MJGEAR_WORKSPACE_H_

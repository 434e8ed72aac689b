// The memory of a solve: one block, what its solvers need beside it, and what a problem of several blocks needs.

#ifndef MJGEAR_WORKSPACE_H_
#define MJGEAR_WORKSPACE_H_

#include "mjgear.h"
#include "solvers/dense.h"
#include "solvers/dense_newton.h"

// of the methods that remember more than the block's iterate
typedef struct mjgiScratch_ {
  double* keep;     //                                                (n)
  double* next;     //                                                (n)
  double* end;      //                                                (n)
  double* best;     //                                                (n)
  double* u;        //                                                (n)
  double* Au;       //                                                (n)
  double* row;      //                                                (n)
  double* rate;     //                                                (n)
  int* next_piece;  //                                                (n)
  int* end_piece;   //                                                (n)
  int* best_piece;  //                                                (n)
} mjgiScratch;

struct mjgWorkspace_ {
  int n;     // most joints of a problem
  int nmax;  // most joints of a block
  mjgiBlock block;
  mjgiScratch scratch;
  double* matrix;     // (nmax x nmax)
  double* vector[6];  // (n)
  int* mode;          // (n)

  // blocks with couplings
  double* coupled_matrix[3];   // (nmax x nmax)
  double* coupled_vector[16];  // (nmax)
  int* coupled_row;            // (nmax)
  int* coupled_pivot;          // (nmax)
  int* coupled_mode;           // (nmax)
};

#endif  // MJGEAR_WORKSPACE_H_

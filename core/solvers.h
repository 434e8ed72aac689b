// The solvers of one block. Each starts from block->t and leaves its best iterate there, evaluated.
// Each returns 1 if it ended at a solution as far as it can tell by itself, else 0; the caller
// measures the residual.

#ifndef MJGEAR_SOLVERS_H_
#define MJGEAR_SOLVERS_H_

#include "block.h"

// semismooth Newton with a monotone line search
int mjg_newton(mjgBlock* b, int iterations, double tolerance);

// exact one-joint solve, joint by joint
int mjg_gaussSeidel(mjgBlock* b, int iterations, double tolerance);

// path from rest, exact
int mjg_path(mjgBlock* b, int pivots);

#endif  // MJGEAR_SOLVERS_H_

// The step as the paper's variational inequality over directions of motion s in [-1, 1]^n,
//
//     F(s) = A Phi(s, phi, P) - v*,   find s with -F(s) in the normal cone of the box,       (72)
//
// with Phi(s) = [s] (|lambda| + c) and lambda = phi + P [s] (|lambda| + c).

#ifndef MJGEAR_VARIATIONAL_H_
#define MJGEAR_VARIATIONAL_H_

#include "solvers/workspace.h"

// load at the directions s, from the load that is in block->lambda, and with it t and w = A t of the
// block, so that -F = v* - w. By fixed point as in Remark 3, up to iterations of it, else by generalized
// Newton. Returns 1, or 0 if lambda was not found
int mjgi_viEvaluate(mjgiBlock* b, const double* s, int flg_newton, int iterations,
                    double tolerance);

// start: s from t, or what the sign of v* suggests if t = 0
void mjgi_viStart(mjgiBlock* b, double* s);

// residual if s is the solution; sets the pieces of the block
double mjgi_viResidual(mjgiBlock* b, const double* s);

#endif  // MJGEAR_VARIATIONAL_H_

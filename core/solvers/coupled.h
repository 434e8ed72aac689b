// One block of a problem with couplings, and one without.

#ifndef MJGEAR_COUPLED_H_
#define MJGEAR_COUPLED_H_

#include "solvers/block.h"

// solve the rows first .. first + n - 1, which A and P (nullable) belong to, and add to info. The
// first has friction alone; the second is for blocks with at least one coupling and calls the first.
void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem, int first,
                        int n, const double* A, const double* P, const mjgSettings* settings,
                        mjgWorkspace* work);
void mjgi_solveCoupled(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem, int first,
                       int n, const double* A, const double* P, const mjgSettings* settings,
                       mjgWorkspace* work);

#endif  // MJGEAR_COUPLED_H_

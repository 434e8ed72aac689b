// The solvers of one block. Each starts from block->t, unless it says otherwise, and leaves its best
// iterate there, evaluated, with the joints' pieces. Each returns 1 if it ended at a solution as far
// as it can tell by itself, else 0; the caller measures the residual.

#ifndef MJGEAR_SOLVERS_H_
#define MJGEAR_SOLVERS_H_

#include "solvers/block.h"

// semismooth Newton with a monotone line search
int mjgi_newton(mjgiBlock* b, int iterations);

// exact one-joint solve, joint by joint
int mjgi_gaussSeidel(mjgiBlock* b, int iterations, double tolerance);

// the paper's projection with nested fixed point
int mjgi_projection(mjgiBlock* b, int iterations, double tolerance);

// Korpelevich's two-step projection
int mjgi_extragradient(mjgiBlock* b, int iterations, double tolerance);

// path from rest, exact; does not use block->t. pivots: limit, 0: default
int mjgi_path(mjgiBlock* b, int pivots);

// the solution that the jamming rule chooses; does not use block->t
int mjgi_jammingRule(mjgiBlock* b, int pivots);

// visit all solutions; returns how many combinations of pieces have one, more than there are
// solutions if one lies where pieces meet
int mjgi_enumerate(mjgiBlock* b, double tolerance, void (*visit)(void* data, const mjgiBlock* b),
                   void* data);

// the only solution, or of several ones that of the jamming rule; does not use block->t.
// Sets several to 1 if there are several ones, else 0
int mjgi_enumeration(mjgiBlock* b, int* several, double tolerance);

#endif  // MJGEAR_SOLVERS_H_

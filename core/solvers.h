// The solvers of one block. Each starts from block->t, unless it says otherwise, and leaves its best
// iterate there, evaluated, with the joints' pieces. Each returns 1 if it ended at a solution as far
// as it can tell by itself, else 0; the caller measures the residual.

#ifndef MJGEAR_SOLVERS_H_
#define MJGEAR_SOLVERS_H_

#include "block.h"

// semismooth Newton with a monotone line search
int mjg_newton(mjgBlock* b, int iterations);

// exact one-joint solve, joint by joint
int mjg_gaussSeidel(mjgBlock* b, int iterations, double tolerance);

// the paper's projection with nested fixed point
int mjg_projection(mjgBlock* b, int iterations, double tolerance);

// Korpelevich's two-step projection
int mjg_extragradient(mjgBlock* b, int iterations, double tolerance);

// path from rest, exact; does not use block->t. pivots: limit, 0: default
int mjg_path(mjgBlock* b, int pivots);

// the solution that the jamming rule chooses; does not use block->t
int mjg_jammingRule(mjgBlock* b, int pivots);

// visit all solutions; returns how many combinations of pieces have one, more than there are
// solutions if one lies where pieces meet
int mjg_enumerate(mjgBlock* b, double tolerance, void (*visit)(void* data, const mjgBlock* b),
                  void* data);

// the only solution, or of several ones that of the jamming rule; does not use block->t.
// Sets several to 1 if there are several ones, else 0
int mjg_enumeration(mjgBlock* b, int* several, double tolerance);

#endif  // MJGEAR_SOLVERS_H_

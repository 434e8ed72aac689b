// The solvers of one block, beside Newton and Gauss-Seidel (dense_newton.h). Each starts
// from block->t, unless it says otherwise, and leaves its best iterate there, evaluated,
// with the joints' pieces. Each returns 1 if it ended at a solution as far as it can tell
// by itself, else 0; the caller measures the residual.

#ifndef MJGEAR_SOLVERS_H_
#define MJGEAR_SOLVERS_H_

#include "solvers/workspace.h"

// Lemke's homotopy from rest, exact; does not use block->t. pivots: limit, 0: default
int mjgi_lemke(mjgiBlock* b, mjgiScratch* s, int pivots);

// the solution that the jamming rule chooses; does not use block->t
int mjgi_jammingRule(mjgiBlock* b, mjgiScratch* s, int pivots);

// keep the block's iterate and its pieces; go back to it
void mjgi_keepPoint(mjgiPoint* point, const mjgiBlock* b);
void mjgi_takePoint(mjgiBlock* b, const mjgiPoint* point);

// A block whose residual is above enough goes to the best of its iterate and of the start
// of the caller (nullable), and with flg_search of where refinement in extended precision
// leads from there, until one is good enough. Returns the residual, on the pieces in
// piece
double mjgi_refine(mjgiBlock* b, mjgiScratch* s, const mjgSolution* start, int flg_search,
                   double enough);

// The methods of mjgSolver: solve the block. Its flg_unique is 1 if it is known to have
// one solution, and set if the method finds out; methods that call another one count it
// in its fallbacks
typedef void (*mjgiMethod)(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);
void mjgi_methodNewton(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// a solution from its row first on
mjgSolution mjgi_blockSolution(const mjgSolution* solution, int first);

// The functions below take a problem of one block.

// to the units of the block; t nullable
void mjgi_loadBlock(mjgiBlock* b, const mjgProblem* problem, const double* t);

// largest singular value of P, in the units of the caller, without rows and columns of
// couplings; overwrites the block
double mjgi_blockSigmaMax(mjgiBlock* b, const mjgProblem* problem);

// 1 if the block is known to have one solution
int mjgi_isWellPosed(mjgiBlock* b);

// solve, and add to info. The first has friction alone; the second is for blocks with at
// least one coupling and calls the first.
void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                        const mjgSettings* settings, mjgiMethod method, mjgWorkspace* work);
void mjgi_solveCoupled(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                       const mjgSettings* settings, mjgiMethod method, mjgWorkspace* work);

// where numbers overflow: the state without friction, which is finite and creates no
// energy. Returns 1 if it was needed
int mjgi_replaceOverflow(mjgSolution* solution, const mjgProblem* problem, double residual);

#endif  // MJGEAR_SOLVERS_H_

// The solvers of one block, beside Newton and Gauss-Seidel (dense_newton.h). Each starts from
// block->t, unless it says otherwise, and leaves its best iterate there, evaluated, with the
// joints' pieces. Returns 1 if it ended at a solution by its own test, else 0; the caller
// measures the residual.

#ifndef MJGEAR_SOLVERS_H_
#define MJGEAR_SOLVERS_H_

#include "solvers/workspace.h"

// Lemke's homotopy from rest, exact; does not use block->t. pivots: limit, 0: default
int mjgi_lemke(mjgiBlock* b, mjgiScratch* s, int pivots);

// solve by the jamming rule; does not use block->t
int mjgi_jammingRule(mjgiBlock* b, mjgiScratch* s, int pivots);

// Keep the block's iterate and its pieces; restore it.
void mjgi_keepPoint(mjgiPoint* point, const mjgiBlock* b);
void mjgi_takePoint(mjgiBlock* b, const mjgiPoint* point);

// Improve a block whose residual is above enough: take the best of its iterate, the caller's
// start (nullable) and, with flg_search, of refinement in extended precision. Returns the
// residual, on the pieces in piece.
double mjgi_refine(mjgiBlock* b, mjgiScratch* s, const mjgSolution* start, int flg_search,
                   double enough);

// Solve the block by a method of mjgSolver. flg_unique: 1 if the solution is known to be
// unique; the method may set it. Calls of another method count in its fallbacks.
typedef void (*mjgiMethod)(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);
void mjgi_methodNewton(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// the paper's projection with nested fixed point, of core/reference
void mjgi_projection(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// Find the only solution, or of several that of the jamming rule; does not use block->t.
void mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// Returns a solution from row first on.
mjgSolution mjgi_blockSolution(const mjgSolution* solution, int first);


//---------------------------------- problems and their blocks -------------------------------------

// 1 if all entries are finite, else 0
int mjgi_allFinite(const double* x, size_t count);

// position in the blocks of a problem; zero at first
typedef struct mjgiCursor_ {
  int block;  // number of passed blocks
  int first;  // first row of the last passed block
  int row;    // number of passed rows, and of entries of matrices
  size_t entry;
} mjgiCursor;

// Set the next block as a problem of one block, of a checked problem. Returns 0 if there is none.
int mjgi_nextBlock(mjgProblem* block, mjgiCursor* at, const mjgProblem* problem);

// Check a problem, the arrays of a solution and the size of the workspace, all nullable. Sets the
// size of the largest block. Returns mjgSOLVED or an error.
int mjgi_checkProblem(int* largest, const mjgProblem* problem, const mjgSolution* solution,
                      const mjgWorkspace* work);

// The functions below take a problem of one block.

// Scale to the units of the block; t nullable.
void mjgi_loadBlock(mjgiBlock* b, const mjgProblem* problem, const double* t);

// 1 if the block is known to have one solution
int mjgi_isWellPosed(mjgiBlock* b);

// Returns 1 if the step has exactly one solution for all v*, phi and c, 0 if unknown.
//   A            unit diagonal, positive definite; may differ a little from symmetric   (n x n)
//   alpha, beta  P = [alpha] A - [beta], in the units of A, times the largest factor    (n)
//                on the friction bound
//   S            scratch                                                                (n x n)
int mjgi_wellPosed(const double* A, const double* alpha, const double* beta, int n, double* S);

// Find alpha and beta with P = [alpha] A - [beta]. Returns 0 if P has another form.
int mjgi_factorP(double* alpha, double* beta, const double* A, const double* P, int n);

// Solve a block and add its counts to info.
void mjgi_solveFriction(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                        const mjgSettings* settings, mjgiMethod method, mjgWorkspace* work);

#endif  // MJGEAR_SOLVERS_H_

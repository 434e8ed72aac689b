// Solvers by name, and the memory to run them in.

#ifndef MJGEAR_BENCHMARKS_SOLVING_H_
#define MJGEAR_BENCHMARKS_SOLVING_H_

#include "mjgear.h"

#ifdef __cplusplus
extern "C" {
#endif

#define mjgNSOLVER 6

// name of a solver, for example "newton"; null if there is no such solver
const char* mjg_solverName(int solver);

// solver of a name, -1 if there is none
int mjg_findSolver(const char* name);

// workspace and result for problems of up to n joints in blocks of up to nmax
typedef struct mjgPlace_ {
  mjgWorkspace* work;
  mjgSolution solution;
  mjgInfo info;
} mjgPlace;

// 1, or 0 if memory ran out
int mjg_newPlace(mjgPlace* place, int n, int nmax);

void mjg_freePlace(mjgPlace* place);

// size of the largest block
int mjg_largestBlock(const mjgProblem* problem);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_SOLVING_H_

// Memory to run solvers in.

#ifndef MJGEAR_BENCHMARKS_SOLVING_H_
#define MJGEAR_BENCHMARKS_SOLVING_H_

#include "mjgear.h"

#ifdef __cplusplus
extern "C" {
#endif

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

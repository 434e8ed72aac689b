// Sets of friction problems to time solvers on.

#ifndef MJGEAR_BENCHMARKS_PROBLEM_SET_H_
#define MJGEAR_BENCHMARKS_PROBLEM_SET_H_

#include <stdint.h>

#include "problem_file.h"

#ifdef __cplusplus
extern "C" {
#endif

// problems of one size or family; start values serve warm starts
typedef struct mjgSet_ {
  int count;          // problems
  int n;              // most joints of a problem
  int nmax;           // most joints of a block
  int warm;           // 1 if every problem has t_start and mode_start
  mjgRecord* record;  // (count)
} mjgSet;

// Every function below returns 1, or 0 with an empty set if memory ran out.

// Trees of serial chains that have moved for a while under smoothly changing motor torques.
// Problems of a set are steps of different robots; each has the warm start of the step before.
//   nchain       chains of n joints in each problem, one block a chain
//   gamma_range  mjgGammaRange
int mjg_movingSet(mjgSet* set, int count, int nchain, int n, int gamma_range, uint64_t seed);

// random problems of a kind, without warm start
int mjg_kindSet(mjgSet* set, int count, int kind, int n, uint64_t seed);

// all problems of a file; 0 also if it cannot be read, with one line in error
int mjg_fileSet(mjgSet* set, const char* path, char* error, size_t nerror);

void mjg_freeSet(mjgSet* set);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_PROBLEM_SET_H_

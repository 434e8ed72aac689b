// Check that a result solves a problem. It uses the definition alone, in extended
// precision, and shares no code with the core. Solvers and the core's certificate are
// compared with it.

#ifndef MJGEAR_BENCHMARKS_INCLUSION_H_
#define MJGEAR_BENCHMARKS_INCLUSION_H_

#include "mjgear.h"

#ifdef __cplusplus
extern "C" {
#endif

// distance of a result from a solution; every residual is relative to its terms
typedef struct mjgInclusion_ {
  double residual;  // largest of the three below
  double velocity;  // v+ = v* - A t
  double load;      // lambda = phi + P t
  double friction;  // t in (|lambda| + c) sgn(v+), with the static bound where a joint is stuck
  double power;     // smallest t_i v+_i, negative where a joint creates energy
  int worst;        // joint with the largest residual, -1 if there is none
  int nmode;        // joints whose mode contradicts their velocity
} mjgInclusion;

void mjg_inclusion(mjgInclusion* inclusion, const mjgProblem* problem, const mjgSolution* solution);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_INCLUSION_H_

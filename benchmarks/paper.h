// The paper's iteration, the reference for solvers: (71) to (73) by s := proj(B^n, s - c F(s)) with
// one constant c, and lambda by the fixed point of Remark 3. The core's mjgPROJECTION is the same
// idea with a step for each joint that adapts.

#ifndef MJGEAR_BENCHMARKS_PAPER_H_
#define MJGEAR_BENCHMARKS_PAPER_H_

#include "mjgear.h"

#ifdef __cplusplus
extern "C" {
#endif

// Solve a problem of one block, without load-independent friction, from s = 0.
//   t           friction torque                                    (n)
//   memory      for intermediate values                            (n^2 + 3 n)
//   c           constant step
//   outer       most iterations of s; inner iterations of lambda are limited to 1000 for each
//   tolerance   relative residual of velocity and load
// Returns the number of outer iterations, or -1 if it did not converge.
int mjg_paperSolve(double* t, double* memory, const mjgProblem* problem, double c, int outer,
                   double tolerance);

// The constant step of a rule: c = 1/(a b), with a the largest row sum of |A| and b the largest |phi|.
// Smaller steps converge more often and more slowly, larger ones less often.
double mjg_paperStep(const mjgProblem* problem);

// The constant step with the fewest iterations for this problem, among powers of two times the
// rule's: an oracle, better than any rule. 0 if none converges.
double mjg_paperBestStep(double* t, double* memory, const mjgProblem* problem, int outer,
                         double tolerance);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_PAPER_H_

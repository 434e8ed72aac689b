// mjgear: operations of the paper and of a reference, for research.
//
// Simulations need none of them: mjg_solve of mjgear.h solves a step, and the plugin calls
// that. The rules for all functions, units and equation numbers are those of mjgear.h.

#ifndef MJGEAR_PAPER_H_
#define MJGEAR_PAPER_H_

#include "mjgear.h"

mjgBEGIN


//---------------------------------- the paper's operations ----------------------------------------

typedef enum mjgLambdaMethod_ {
  mjgLAMBDA_NEWTON = 0,      // generalized Newton on lambda - P |lambda| - phi, finite in practice
  mjgLAMBDA_FIXED_POINT = 1  // lambda := phi + P |lambda|, Remark 3; converges if sigma_max(P) < 1
} mjgLambdaMethod;

// lambda(phi, P), (55): lambda - P |lambda| = phi, with P n x n. info nullable.
// status: mjgSOLVED, mjgITERATION_LIMIT
int mjg_lambda(double* lambda, mjgInfo* info, const double* phi, const double* P, int n, int method,
               int iterations, double tolerance, mjgWorkspace* work);

// Phi(s, phi, P) = [s] |lambda(phi, P [s])|, (59), with s in [-1, 1]^n; status as
// mjg_lambda
int mjg_Phi(double* Phi, const double* s, const double* phi, const double* P, int n,
            mjgWorkspace* work);

// axproj(v, A, phi, P), (67): the point y of A Phi(B^n, phi, P) with v - y in the normal
// direction; v - y is the velocity after the step. A must be symmetric positive definite.
int mjg_axproj(double* y, mjgInfo* info, const double* v, const double* A, const double* phi,
               const double* P, int n, const mjgSettings* settings, mjgWorkspace* work);

// constants of n geared joints
typedef struct mjgJoints_ {
  const double* gamma_u;  // input-side asymmetry coefficients              (n)      1
  const double* gamma_v;  // output-side asymmetry coefficients             (n)      1
  const double* inertia;  // rotor inertia m >= 0, part of M-hat            (n)      kg m2
} mjgJoints;

// P(q), (52) in terms of M-hat^-1 = W: [gamma_u + gamma_v][m] W - [gamma_v]. P may be W
// (n x n)
// error: mjgERR_ARGUMENT, mjgERR_NOT_FINITE
int mjg_P(double* P, const double* W, const mjgJoints* joints, int n);

// one implicit Euler step of a robot whose n joints are all geared, algorithm (69)
// without (69g)
//   v_next  velocity after the step                                             (n)      rad/s
//   Mhat    M(q) + [m], symmetric positive definite, rotor inertia included     (n x n)  kg m2
//   tau_u   motor torque         tau_v  h(q, q') - J' f, (50)                   (n)      N m
//   v       velocity before the step                                            (n)      rad/s
// solution is nullable: friction, internal force and modes, if wanted
int mjg_step(double* v_next, mjgSolution* solution, mjgInfo* info, const double* Mhat,
             const double* tau_u, const double* tau_v, const double* v, const mjgJoints* joints,
             double h, int n, const mjgSettings* settings, mjgWorkspace* work);


mjgEND

#endif  // MJGEAR_PAPER_H_

// The matrix with which the integrator turns forces into the velocity after the step, and its
// inverse for geared joints.
//
//   v+ = v + h Mhat^-1 force        Mhat = M                       Euler without implicit damping
//                                          M + h dB/dv             Euler with implicit damping
//                                          M - h d(force)/dv       implicit, implicitfast
//                                          M + h D + h^2 K         discrete
//
// Mhat has the sparsity of the kinematic tree and factors without fill-in as U D L, U and L unit
// triangular. Trees of one body with terms outside this sparsity have a dense inverse
// (free_body.h).

#ifndef MJGEAR_PLUGIN_EFFECTIVE_INERTIA_H_
#define MJGEAR_PLUGIN_EFFECTIVE_INERTIA_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

typedef struct mjgpInertia_ {
  const mjtNum* slope;  // Mhat = M + diag(slope); null: Mhat is another matrix      (nv)
  int passive;          // 1: all entries of slope are >= 0
  int flg_M;            // Mhat is M
  int solver;           // 1: the engine's constraint solver uses the metric Mhat
  int symmetric;        // Mhat is symmetric
  int derived;          // 1: d->qDeriv is computed; set before the factorization
  const mjtNum* block;  // inverse of dense blocks, row-major; null: none           (6 nv)
  const int* blocked;   // 1: the tree has a dense block, slope and factors are not used (ntree)
  int coupled;          // 1: "discrete" has actuator or tendon terms outside M's sparsity

  // of mjgp_factorInertia
  const mjtNum* upper;  // strictly upper part of U, in the places of M's transpose
  const mjtNum* lower;  // strictly lower part of L in the places of M; null: symmetric, L = U'
  const mjtNum* pivot;  // inverse of D                                              (nv)
  const int* adr;       // start of each row in upper and lower                      (nv)
} mjgpInertia;

// Find the form of Mhat of the current integrator.
void mjgp_makeInertia(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g);

// Factor Mhat, once.
void mjgp_factorInertia(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g);

// x = Mhat^-1 x for the dofs begin .. end - 1 of one or more trees, after
// mjgp_factorInertia                                                                 (nv)
void mjgp_solveInertia(mjtNum* x, const mjModel* m, const mjgpInertia* Mhat, int begin, int end);

// Returns the acceleration of a dof per unit of force on it, in a tree without a dense block and with
// a symmetric Mhat; x: scratch of its row's size.
mjtNum mjgp_inverseDiagonal(const mjModel* m, const mjgpInertia* Mhat, mjtNum* x, int dof);

#endif  // MJGEAR_PLUGIN_EFFECTIVE_INERTIA_H_

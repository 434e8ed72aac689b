// The Hessian H = M + J' s'' J of a group of constraints, factored as U' D^-1 U with D
// the diagonal of U.
//
// The dofs of a group are numbered from the leaves of the kinematic tree to its root. In
// this order M factors without fill-in; constraints fill in only between the branches
// that they connect. Row k of U reaches from column k to last[k]; in between its
// non-zeros are among the ancestors of k in the elimination tree: parent[k], its parent,
// and so on.

#ifndef MJGEAR_PLUGIN_HESSIAN_H_
#define MJGEAR_PLUGIN_HESSIAN_H_

#include <mujoco/mujoco.h>

#include "solver/island.h"

// elimination tree of the group and memory for its factor, on d's stack
void mjgp_makePattern(mjgpGroup* group, mjData* d);

// Make the Hessian at group->state and group->cone, its factors in U, and their root D^-1/2 U.
// Returns 0 if it is not positive definite
int mjgp_factor(mjgpGroup* group);

// x = H^-1 x                                                                         (nv)
void mjgp_solveFactored(const mjgpGroup* group, mjtNum* x);

// x = root'^-1 x                                                                     (nv)
void mjgp_solveLower(const mjgpGroup* group, mjtNum* x);

// the same for a column per geared joint, rows group->ld apart. flg_unit: column i is
// zero before the first dof of row i of E, as the columns of E' are             (nv x ld)
void mjgp_solveLowerJoints(const mjgpGroup* group, mjtNum* x, int flg_unit);

// x = root^-1 x                                                                      (nv)
void mjgp_solveUpper(const mjgpGroup* group, mjtNum* x);

#endif  // MJGEAR_PLUGIN_HESSIAN_H_

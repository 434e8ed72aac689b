// Gears of a kinematic tree that no constraint acts on, solved on the inertia matrix
// itself.
//
//   Mhat a = force - E t,   t on the lines of the gears' pieces (piece.h)
//
// is Newton as with constraints (coupled/newton.h), without rows: a line changes one
// entry of the diagonal, a stuck joint drops out, and what remains factors in the
// sparsity of Mhat, in the places where the engine has M. It is one factorization of the
// size that the engine makes in every step anyway.

#ifndef MJGEAR_PLUGIN_TREE_H_
#define MJGEAR_PLUGIN_TREE_H_

#include <mujoco/mujoco.h>

#include "friction/effective_inertia.h"
#include "state/gears.h"

// solve for friction tree by tree; force: all forces but friction (nv). Results in g.
// Returns the number of joints whose trees are left; they move to the front. Takes memory
// of d's stack, which the step frees
int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n);

#endif  // MJGEAR_PLUGIN_TREE_H_

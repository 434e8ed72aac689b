// Gears of a kinematic tree that no constraint acts on, solved on the inertia matrix
// itself.
//
//   Mhat a = force - E t,   t on the lines of the gears' pieces (piece.h)
//
// is Newton (solver/newton.h) without rows: a line changes one entry of the diagonal, a stuck
// joint is eliminated, and the rest factors in the sparsity of Mhat, at the cost of the engine's
// own factorization of M.

#ifndef MJGEAR_PLUGIN_TREE_H_
#define MJGEAR_PLUGIN_TREE_H_

#include <mujoco/mujoco.h>

#include "model/effective_inertia.h"
#include "state/gears.h"

// Solve for friction tree by tree. force: all forces but friction (nv). Results in g. Returns the
// number of joints of unsolved trees, which move to the front. Uses d's stack, which the step
// frees.
int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n);

#endif  // MJGEAR_PLUGIN_TREE_H_

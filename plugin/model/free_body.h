// Dense blocks of the integrator's matrix for trees of one body.
//
// A block is M - h d(force)/dv of all dofs of the tree. It has terms that the sparsity of
// M lacks:
//   free body without jointed descendants  implicitfast, "discrete": M + h D + h dB/dv, with
//                                          B the bias force (gyroscopic and centripetal)
//   body whose M is diagonal               implicit: all derivatives off the diagonal
// It is not symmetric, and the constraint solver does not move in it. Under "discrete" free
// bodies on which constraints act have none: the engine leaves their bias force explicit.

#ifndef MJGEAR_PLUGIN_FREE_BODY_H_
#define MJGEAR_PLUGIN_FREE_BODY_H_

#include <mujoco/mujoco.h>

#include "model/effective_inertia.h"

// Returns 1 if a tree is one free body without welded children of mass: implicitfast and
// "discrete" have its gyroscopic forces.
static inline int mjgp_isLone(const mjModel* m, int tree) {
  int dof = m->tree_dofadr[tree], body = m->dof_bodyid[dof];
  return m->tree_dofnum[tree] == 6 && m->jnt_type[m->dof_jntid[dof]] == mjJNT_FREE &&
         m->body_subtreemass[body] == m->body_mass[body];
}

// Find the trees of g->in.tree that need a block, after mjgp_makeInertia.
void mjgp_findBlocks(mjgpInertia* Mhat, const mjModel* m, const mjData* d, mjgpGears* g);

// Invert the blocks that were found. Called by mjgp_factorInertia.
void mjgp_invertBlocks(mjgpInertia* Mhat, const mjModel* m, mjData* d, mjgpGears* g);

#endif  // MJGEAR_PLUGIN_FREE_BODY_H_

// Parts of a step: trees that constraints, gears, gaps or actuators connect, each a
// problem of its own.
//
// If only constraints connect trees, these are the engine's islands. Each part with gears is
// solved by itself: memory and work grow with the squares of the parts, not of the model.

#ifndef MJGEAR_PLUGIN_PARTS_H_
#define MJGEAR_PLUGIN_PARTS_H_

#include <mujoco/mujoco.h>

#include "model/effective_inertia.h"
#include "state/gears.h"

typedef struct mjgpPart_ {
  int nv, nefc, njoint;
  const int* dof;  // dofs that are awake, ascending                                 (nv)
  const int* row;  // constraint rows, ascending                                     (nefc)
  int* joint;      // geared joints, numbers of mjgpGears, in their given order      (njoint)
} mjgpPart;

// Returns an island of the engine, without gears.
mjgpPart mjgp_islandPart(const mjData* d, int island);

// Returns 1 if gaps, tendons or actuators connect trees beyond the engine's islands.
int mjgp_connectsTrees(const mjgpGears* g, const mjgpInertia* Mhat);

// Make the parts of the joints, on d's stack, in the order of their first joints. flg_rows:
// constraints act. If the parts are not islands, trees with constraints but no gears belong to
// the first part, so that the engine's warm start has all. part has room for n. Returns their
// number.
int mjgp_makeParts(mjgpPart* part, const mjgpGears* g, const mjModel* m, mjData* d,
                   const mjgpInertia* Mhat, const int* joint, int n, int flg_rows);

#endif  // MJGEAR_PLUGIN_PARTS_H_

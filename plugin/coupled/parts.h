// Parts of a step: trees that constraints, gears, gaps or actuators connect, each a
// problem of its own.
//
// Where nothing but constraints connects trees these are the engine's islands. Each part
// with geared joints is solved by itself, so that memory and work grow with the squares
// of the parts and not of the model.

#ifndef MJGEAR_PLUGIN_PARTS_H_
#define MJGEAR_PLUGIN_PARTS_H_

#include <mujoco/mujoco.h>

#include "friction/effective_inertia.h"
#include "state/gears.h"

typedef struct mjgpPart_ {
  int nv, nefc, njoint;
  const int* dof;  // dofs that are awake, ascending                                 (nv)
  const int* row;  // constraint rows, ascending                                     (nefc)
  int* joint;      // geared joints, numbers of mjgpGears, in their given order      (njoint)
} mjgpPart;

// an island of the engine, without gears
mjgpPart mjgp_islandPart(const mjData* d, int island);

// do gaps, tendons or actuators connect trees, whatever the engine's islands are
int mjgp_connectsTrees(const mjgpGears* g, const mjgpInertia* Mhat);

// parts of the joints, on d's stack, in the order of their first joints; flg_rows:
// constraints act. Where the parts are not islands, trees that have constraints but no
// gears belong to the first part, so that the engine finds the work of all of them done.
// part has room for n; returns their number
int mjgp_makeParts(mjgpPart* part, const mjgpGears* g, const mjModel* m, mjData* d,
                   const mjgpInertia* Mhat, const int* joint, int n, int flg_rows);

#endif  // MJGEAR_PLUGIN_PARTS_H_

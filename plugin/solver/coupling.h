// Gear friction and the engine's constraints as one implicit step.

#ifndef MJGEAR_PLUGIN_COUPLING_H_
#define MJGEAR_PLUGIN_COUPLING_H_

#include <mujoco/mujoco.h>

#include "model/effective_inertia.h"
#include "solver/delassus.h"
#include "state/gears.h"

// Solve for friction of n joints, which are reordered: together with constraint forces, else tree
// by tree, or by trees that actuators couple. force: all forces except those of
// constraints and friction (nv). Sets the acceleration in d->qacc_warmstart.
void mjgp_solveGears(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                     const mjtNum* force, int* joint, int n);

// Make one group of all dofs, rows and active gears, at an acceleration of the constraint solver
// (nv); on d's stack.
mjgpStep* mjgp_wholeStep(mjgpStep* s, mjgpGroup* group, mjgpGears* g, const mjModel* m, mjData* d,
                         mjgpInertia* Mhat, const mjtNum* a);

#endif  // MJGEAR_PLUGIN_COUPLING_H_

// Gear friction and the engine's constraints as one implicit step.

#ifndef MJGEAR_PLUGIN_COUPLING_H_
#define MJGEAR_PLUGIN_COUPLING_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "friction/effective_inertia.h"
#include "state/gears.h"

// joints on which no constraint acts to the front; returns their number
int mjgp_freeFirst(const mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                   int* joint, int n);

// solve for friction of joints on which constraints act, together with the constraint forces; force: all
// forces but those of constraints and friction (nv). The acceleration is handed to the engine as
// d->qacc_warmstart
void mjgp_couple(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat, const mjtNum* force,
                 const int* joint, int n);

// solve for friction of joints of one tree, or of trees that actuators couple, on which no constraint acts
void mjgp_coupleFree(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                     const mjtNum* force, const int* joint, int n);

// when the friction of these trees is known: accelerations of trees without constraints in d->qacc_warmstart. The engine
// compares the cost of starting from there with that of starting without constraints, for all islands
// at once; each without gears starts where it is better off, so that it does not spoil the start of the others
void mjgp_chooseStart(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                      const mjtNum* force);

// all dofs, rows and active gears as one group, at an acceleration of the constraint solver (nv); on d's stack
mjgpStep* mjgp_wholeStep(mjgpStep* s, mjgpGroup* group, mjgpGears* g, const mjModel* m, mjData* d,
                         mjgpInertia* Mhat, const mjtNum* a);

#endif  // MJGEAR_PLUGIN_COUPLING_H_

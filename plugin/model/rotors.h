// Rotors behind gaps and the gains of their motors.
//
// The integrators Euler, implicit and implicitfast apply dampers and velocity gains at the
// end of the step, in a matrix M-hat that the constraint solver does not know. M-hat has
// the gains of a motor at its joint, so they would act on the link while the teeth do not
// touch. Contact forces would then fit another motion than the integrated one, and add
// energy. So the plugin's matrix omits these gains S and the rotor has them. The step
// with acceleration a is
//
//   M a_c = (M-hat - S) a,    f = -s'(J a_c - aref)
//
// The engine finds the same contact forces f and the same a from a passive force + S a and
// from aref + J M^-1 S a: its own acceleration is a_c + M^-1 S a.

#ifndef MJGEAR_PLUGIN_FRICTION_ROTORS_H_
#define MJGEAR_PLUGIN_FRICTION_ROTORS_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// Split the gains g->in.implicit of the active gears: the plugin's matrices keep
// misplaced at the joint and omit removed. Before the call, misplaced is the part in M.
// flg_remove 0: omit nothing
void mjgp_splitGains(mjgpGears* g, const mjModel* m, int flg_remove);

// Subtract S from a diagonal (nv), or from both triangles of a matrix with M's structure
// (lines); upper is nullable
void mjgp_removeDiagonal(mjtNum* diagonal, const mjgpGears* g);
void mjgp_removeGains(mjtNum* lower, mjtNum* upper, const mjgpGears* g, const mjModel* m);

// Add S a of the solved motion to the passive forces, and J M^-1 S a to the reference
// acceleration of constraints and M^-1 S a to the engine's warm start.
void mjgp_shiftReference(mjgpGears* g, const mjModel* m, mjData* d);

// Restore the engine's reference acceleration. flg_new: the engine has just computed it.
void mjgp_restoreReference(mjgpGears* g, const mjModel* m, mjData* d, int flg_new);

// force += scale S a at acceleration a of all dofs                                   (nv)
void mjgp_addRemoved(mjtNum* force, const mjgpGears* g, const mjtNum* a, mjtNum scale);

// d->efc_aref += J x                                                               (nv)
void mjgp_addReference(const mjModel* m, mjData* d, const mjtNum* x);

#endif  // MJGEAR_PLUGIN_FRICTION_ROTORS_H_

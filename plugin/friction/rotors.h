// Rotors behind gaps and the gains of their motors.
//
// The integrators Euler, implicit and implicitfast apply dampers and velocity gains at the
// end of the step, in a matrix M-hat that the constraint solver does not know. They have
// the gains of a motor at its joint, where they would act on the link while the teeth do
// not touch: contact forces then suit another motion than the one that is integrated, and
// give energy. Our matrix leaves these gains S out, and the rotor has them. The step with
// acceleration a is
//
//   M a_c = (M-hat - S) a,    f = -s'(J a_c - aref)
//
// The engine finds the same contact forces f and the same a from a passive force + S a and
// from aref + J M^-1 S a: its own acceleration is a_c + M^-1 S a.

#ifndef MJGEAR_PLUGIN_FRICTION_ROTORS_H_
#define MJGEAR_PLUGIN_FRICTION_ROTORS_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// Split g->in.implicit of the active gears: misplaced, which our matrices have at the joint, and
// removed, which they leave out. misplaced holds what of it the matrix M has. flg_remove 0:
// leave out nothing
void mjgp_splitGains(mjgpGears* g, const mjModel* m, int flg_remove);

// Take S out of a diagonal, or out of both halves of a matrix in lines of M's structure;
// upper is nullable                                                                  (nv, lines)
void mjgp_removeDiagonal(mjtNum* diagonal, const mjgpGears* g);
void mjgp_removeGains(mjtNum* lower, mjtNum* upper, const mjgpGears* g, const mjModel* m);

// Add S a of the solved motion to the passive forces, and J M^-1 S a to the reference
// acceleration of constraints and M^-1 S a to the engine's warm start.
void mjgp_shiftReference(mjgpGears* g, const mjModel* m, mjData* d);

// Make the reference acceleration that of the engine again; flg_new: the engine has done so.
void mjgp_restoreReference(mjgpGears* g, const mjModel* m, mjData* d, int flg_new);

// force += scale S a at acceleration a of all dofs                                   (nv)
void mjgp_addRemoved(mjtNum* force, const mjgpGears* g, const mjtNum* a, mjtNum scale);

#endif  // MJGEAR_PLUGIN_FRICTION_ROTORS_H_

// Friction of a kinematic tree that no constraint acts on, solved on the inertia matrix itself.
//
// While joints keep their modes and their loads their signs, friction is linear in the acceleration:
//
//   Mhat a = force - E t        stuck:  v + h a = 0
//                               slips:  t = s (l lambda + c),  s the direction, l the sign of lambda
//
// A slipping joint changes one entry of the diagonal, a stuck one drops out, and what remains factors
// in the sparsity of Mhat: one factorization of the size that the engine makes in every step anyway,
// where the general way forms E' Mhat^-1 E and solves a dense problem with it. It holds if the modes and
// signs that were assumed come out, and it is used only where the step is known to have one solution, so
// that this is the one.

#ifndef MJGEAR_PLUGIN_TREE_H_
#define MJGEAR_PLUGIN_TREE_H_

#include <mujoco/mujoco.h>

#include "friction/effective_inertia.h"
#include "state/gears.h"

// do these joints have one solution, whatever the forces: with Mhat no less than the rotors' inertia, A is no more
// than h/inertia, and what mjgi_wellPosed asks for holds
int mjgp_haveOneSolution(const mjgpGears* g, const int* joint, int n);

// friction of joint i while it slips as was guessed: t = slope u + constant; returns the slope. Where joints have one solution
// every piece has such a line, because 1 - gamma_v > 0
mjtNum mjgp_pieceLine(mjtNum* constant, const mjgpGears* g, int i);

// solve for friction tree by tree; force: all forces but friction (nv). Results in g as those of
// mjgp_solveFriction. Returns the number of joints whose trees are left; they move to the front.
int mjgp_solveTrees(mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                    const mjtNum* force, int* joint, int n);

#endif  // MJGEAR_PLUGIN_TREE_H_

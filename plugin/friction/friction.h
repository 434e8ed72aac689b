// The friction problem of one step, formed from the engine's quantities and solved by the core.

#ifndef MJGEAR_PLUGIN_FRICTION_H_
#define MJGEAR_PLUGIN_FRICTION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// friction problem of some of the active joints
typedef struct mjgpProblem_ {
  int n;             // joints
  const int* joint;  // their numbers in mjgpGears                         (n)
  int nblock;        // groups of joints that act on each other
  int* block;        // their sizes                                        (nblock)
  mjtNum* W;         // effect of friction on acceleration                 (blocks)
  mjtNum* a;         // acceleration over the step without friction        (n)
  mjtNum* size;      // sum of the absolute values that a is a sum of             (n)
} mjgpProblem;

// the law of the active joints in this step, from velocity, position and motor torque in g: gamma_u,
// gamma_v, coulomb, static_ratio
void mjgp_makeLaw(mjgpGears* g, const mjData* d);

// solve for the friction of these joints in g: t, mode (start values in, results out), v_next, lambda,
// info; tau, inertia, v and the law of g are inputs. W is overwritten. Returns a status of the core.
int mjgp_solveFriction(mjgpGears* g, const mjModel* m, mjData* d, mjgpProblem* problem);

// count what a solve did, and warn of the first that is above the tolerance
void mjgp_countFriction(mjgpGears* g, const mjData* d, int status);

#endif  // MJGEAR_PLUGIN_FRICTION_H_

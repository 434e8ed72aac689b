// Check whether a step with the found motor torque makes the motion.
//
// A self-locking gear, and one with static friction, may have several states at one motor torque.
// It takes the one connected to rest, all other frictions given (44). Only such gears need the
// effect W of friction on their acceleration, with constraints in the states of the motion.

#ifndef MJGEAR_PLUGIN_BRANCH_H_
#define MJGEAR_PLUGIN_BRANCH_H_

#include <mujoco/mujoco.h>

#include "law/law.h"
#include "mjgear_plugin.h"
#include "solver/coupling.h"
#include "state/gears.h"

// the step, after gains of actuators
typedef struct mjgpBranch_ {
  mjgpInertia Mhat;
  const mjtNum* a;  // (v+ - v)/h                                                          (nv)
  int factored;     // 1: the whole step is factored, 0: singular, -1: not yet
  mjgpGroup group;
  mjgpStep step;
} mjgpBranch;

// a gear in a motion
typedef struct mjgpMotion_ {
  int i;         // index of the gear
  mjtNum v0, v;  // velocity before and after the step
  mjtNum x;      // torque out of the gear
  mjtNum taken;  // tau - u: torque of rotor inertia
  mjtNum shift;  // tau - motor
} mjgpMotion;

// Returns 1 if a gear that slips with friction t keeps slipping: it has no static friction, and is
// backdrivable or driven by the motor.
static inline int mjgp_keepsSlipping(const mjgpInput* in, const mjgpMotion* p, mjtNum t) {
  const mjgpBrake* brake = mjgp_brakeOf(in, p->i);
  const mjgpGearInput* gear = in->gear + p->i;
  int same =
      p->v0 * p->v > 0 || (gear->static_ratio == 1 && (!brake || brake->holding == brake->sliding));
  return same && (gear->gamma_v < 1 ||
                  (!brake && p->v * mjgi_lawLoadOut(gear->gamma_u, gear->gamma_v, p->x, t) >= 0));
}

// Returns mjgMOTION_MOVES, HELD or JAMS for a gear that slips with friction t, with constraints
// in the states of d. Leaves memory on d's stack.
mjgMotion mjgp_findBranch(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                          const mjgpMotion* p, mjtNum t);

#endif  // MJGEAR_PLUGIN_BRANCH_H_

// Would a step with the motor torque that was found make the motion.
//
// A gear that locks, and one with static friction, may have several states with one motor
// torque. By itself it takes the one that is connected to rest, the friction of all
// others given (44). Only such gears ask for the effect W of friction on their
// acceleration, constraints with the states that they have in the motion.

#ifndef MJGEAR_PLUGIN_BRANCH_H_
#define MJGEAR_PLUGIN_BRANCH_H_

#include <mujoco/mujoco.h>

#include "coupled/coupling.h"
#include "law/law.h"
#include "mjgear_plugin.h"
#include "state/gears.h"

// what is known so far of the step, when gains of actuators are known
typedef struct mjgpBranch_ {
  mjgpInertia Mhat;
  const mjtNum* a;  // (v+ - v)/h                                                          (nv)
  mjtNum* scratch;  //                                                                    (2 nv)
  int factored;     // the step with its constraints; -1: not yet
  mjgpGroup group;
  mjgpStep step;
} mjgpBranch;

// a gear in a motion
typedef struct mjgpMotion_ {
  int i;         // its number
  mjtNum v0, v;  // velocity before and after the step
  mjtNum x;      // torque out of it
  mjtNum taken;  // tau - u: what rotor inertia takes
  mjtNum shift;  // tau - motor
} mjgpMotion;

// Does a gear that slips with friction t go on: nothing holds more than it slips with,
// and it can be driven back, or the motor drives it, whose rotor is part of the joint's
// inertia. Gears that lock and have a brake are not asked
static inline int mjgp_keepsSlipping(const mjgpInput* in, const mjgpMotion* p, mjtNum t) {
  const mjgpBrake* brake = in->brake + p->i;
  int same = p->v0 * p->v > 0 || (in->static_ratio[p->i] == 1 && brake->holding == brake->sliding);
  return same && (in->gamma_v[p->i] < 1 ||
                  (!in->braked[p->i] &&
                   p->v * mjgi_lawLoadOut(in->gamma_u[p->i], in->gamma_v[p->i], p->x, t) >= 0));
}

// does a gear that slips with friction t get there: mjgMOTION_MOVES, HELD or JAMS. Takes
// constraints in the states of the motion, in d, and leaves memory on d's stack
mjgMotion mjgp_findBranch(mjgpBranch* branch, mjgpGears* g, const mjModel* m, mjData* d,
                          const mjgpMotion* p, mjtNum t);

#endif  // MJGEAR_PLUGIN_BRANCH_H_

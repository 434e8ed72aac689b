// Joints behind gaps as functions of their own acceleration.
//
// While gap, rotor and load keep their pieces, the torque of a shaft is linear in its joint's
// velocity. So t, its effect on the joint as friction,
//
//   t = -T(v + h a) - S a          S: gains of the motor, which belong to the rotor, as
// inertia of the joint
//
// is a line of a, like that of a slipping gear (piece.h). With a self-locking gear or static
// friction t has several branches over a: the line of the joint, all other frictions given,
// selects one, and the piece is the tangent there. For a shaft between two joints, a and
// v are the motor's less the load's, and t = T brakes the motor and drives the load.

#ifndef MJGEAR_PLUGIN_SHAFTS_H_
#define MJGEAR_PLUGIN_SHAFTS_H_

#include <mujoco/mujoco.h>

#include "backlash/backlash.h"
#include "state/gears.h"

// a joint behind a gap at some acceleration
typedef struct mjgpShaft_ {
  const mjgCoupling* coupling;
  mjgiGap gap;
  mjtNum h, v;           // timestep, velocity of the joint before the step
  int sign;              // sign of T in t: -1, for a shaft between two joints 1
  mjtNum misplaced;      // S
  mjtNum a;              // acceleration of the joint
  mjtNum t;              // friction at a, without S a of other joints
  mjtNum slope;          // dt/da
  mjtNum rate;           // rate of the gap
  int branched;          // 1: t may have several values at one a
  mjgCouplingStep step;  // step of the coupling at a
} mjgpShaft;

// Returns 1 if gear i is a shaft with several branches.
int mjgp_isBranched(const mjgpGears* g, int i);

// Make the shaft of joint i at acceleration a.
void mjgp_makeShaft(mjgpShaft* shaft, const mjgpGears* g, const mjModel* m, int i, mjtNum a);

// Returns 1 if the torque of the shaft jumps between these accelerations, where its gap closes.
// Then this shaft moves to one side of the jump and beyond to the other, on the side of
// high.
int mjgp_findJump(mjgpShaft* shaft, mjgpShaft* beyond, mjtNum low, mjtNum high);

// Returns the size of the terms of its torque, to which round-off is relative.
mjtNum mjgp_shaftSize(const mjgpShaft* shaft);

// Move to acceleration a. Returns the difference of t from its tangent there, relative to its
// terms.
mjtNum mjgp_moveShaft(mjgpShaft* shaft, mjtNum a);

// Solve for the shaft alone, all others given: t, which balances at acc, becomes its friction
// less x, and the shaft moves there. A unit of t takes W of acc and W_other of x, the torque of
// other joints' rotor inertia. Returns 1 at a jump: the shaft is on one side, the next one on the
// other, unless it has branches; -1 if W < 0, and keeps its state.
int mjgp_proxShaft(mjgpShaft* shaft, mjtNum W, mjtNum W_other, mjtNum acc, mjtNum x, mjtNum* t);

// Store the results of joint i in g. t: friction without other joints' share, which differs from
// the shaft's at a jump. fastest: acceleration to which round-off is relative.
void mjgp_storeShaft(mjgpGears* g, int i, const mjgpShaft* shaft, mjtNum t, mjtNum fastest);

#endif  // MJGEAR_PLUGIN_SHAFTS_H_

// Joints behind gaps, as functions of their own acceleration.
//
// While its gap, its rotor and the load of its gear keep their pieces, the torque of a
// shaft is linear in the velocity of its joint, whatever else acts on the joint. So t,
// the friction with which the joint feels it,
//
//   t = -T(v + h a) - S a          S: what gains of the motor, that belong to the rotor, mean as inertia of the joint
//
// is a line of a, a piece like that of a gear that slips (piece.h). Where its gear locks,
// or holds more at rest than where it slips, t has several branches over a: which one it
// is on is asked on the line of its joint, on which all others keep their friction, and
// the piece is the tangent there. Of a shaft between two joints a and v are those of the
// motor less those of the load, and t = T is what the motor feels and drives the load.

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
  int sign;              // of T in t: -1, or 1 of a shaft between two joints
  mjtNum misplaced;      // S
  mjtNum a;              // acceleration of the joint
  mjtNum t;              // friction there, without what other joints' accelerations add to S a
  mjtNum slope;          // dt/da
  mjtNum rate;           // of the gap
  int branched;          // 1: t may have several values at one a
  mjgCouplingStep step;  // what the shaft does there
} mjgpShaft;

// is gear i a shaft with several branches
int mjgp_isBranched(const mjgpGears* g, int i);

// shaft of joint i at acceleration a
void mjgp_makeShaft(mjgpShaft* shaft, const mjgpGears* g, const mjModel* m, int i, mjtNum a);

// Does the torque of the shaft jump between these accelerations, where its gap closes?
// The shaft goes to one side of the jump and beyond to the other, that of high, at the
// same acceleration but for a bit; else both stay. Returns 1 if so
int mjgp_findJump(mjgpShaft* shaft, mjgpShaft* beyond, mjtNum low, mjtNum high);

// size of the terms of its torque, of which it has the rounding errors
mjtNum mjgp_shaftSize(const mjgpShaft* shaft);

// to acceleration a; returns by how much t differs there from what its tangent said,
// relative to its terms
mjtNum mjgp_moveShaft(mjgpShaft* shaft, mjtNum a);

// The shaft answers all others, which keep their friction: t, which balances at acc, and
// of which a unit takes W of the acceleration and W_other of the torque x that rotor
// inertia of others takes, becomes its own friction less x, and the shaft goes there.
// Returns 1 if its torque jumps there: it is on one side then, and the next one on the
// other, but with branches there is one alone; -1 if it moves against its own torque, and
// keeps its
int mjgp_proxShaft(mjgpShaft* shaft, mjtNum W, mjtNum W_other, mjtNum acc, mjtNum x, mjtNum* t);

// results of joint i in g; t: friction without what other joints take, where that is not
// the one of the shaft, because its torque jumps there; fastest: acceleration to which
// rounding errors are relative
void mjgp_storeShaft(mjgpGears* g, int i, const mjgpShaft* shaft, mjtNum t, mjtNum fastest);

#endif  // MJGEAR_PLUGIN_SHAFTS_H_

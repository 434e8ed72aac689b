// What plugin_state changes of the gears, in one simulation.

#ifndef MJGEAR_PLUGIN_CHANGES_H_
#define MJGEAR_PLUGIN_CHANGES_H_

#include <mujoco/mujoco.h>

#include "state/derived.h"
#include "state/gears.h"
#include "state/layout.h"

// which of them says that a key is given
static inline int mjgp_givenOf(int key) {
  return mjgpCHANGE_GIVEN + (key >= mjgpNBIT);
}

// numbers of joint i in plugin_state: their addresses, -1 if the state has none; read,
// write
void mjgp_findNumbers(int adr[mjgpNCHANGE], const mjgpConfig* config, int i);
void mjgp_readNumbers(mjtNum number[mjgpNCHANGE], const mjgpConfig* config, const mjtNum* state,
                      int i);
void mjgp_writeNumbers(mjtNum* state, const mjgpConfig* config, const mjtNum number[mjgpNCHANGE],
                       int i);

// the gear that these numbers make of a joint of the model. Every problem goes into the
// report; returns their number
int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpJoint* base,
                     const mjtNum number[mjgpNCHANGE]);

// gears and settings of this step: the model's, or what plugin_state makes of them.
// Numbers that are no gear or no setting are refused: the model's count, and g->refused
// is set. Allocates where a gear is changed to numbers that this mjData has not met
void mjgp_applyChanges(mjgpGears* g, const mjModel* m, const mjData* d);

#endif  // MJGEAR_PLUGIN_CHANGES_H_

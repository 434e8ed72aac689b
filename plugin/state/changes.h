// Changes of gears by plugin_state, in one simulation.

#ifndef MJGEAR_PLUGIN_CHANGES_H_
#define MJGEAR_PLUGIN_CHANGES_H_

#include <mujoco/mujoco.h>

#include "state/derived.h"
#include "state/gears.h"
#include "state/layout.h"

// Returns the number with the bit of a key.
static inline int mjgp_givenOf(int key) {
  return mjgpCHANGE_GIVEN + (key >= mjgpNBIT);
}

// Find the addresses of joint i's numbers in plugin_state (-1: none), read them, write
// them.
void mjgp_findNumbers(int adr[mjgpNCHANGE], const mjgpConfig* config, int i);
void mjgp_readNumbers(mjtNum number[mjgpNCHANGE], const mjgpConfig* config, const mjtNum* state,
                      int i);
void mjgp_writeNumbers(mjtNum* state, const mjgpConfig* config, const mjtNum number[mjgpNCHANGE],
                       int i);

// Make the gear of a joint with these numbers. Every problem goes into the report. Returns their
// number.
int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpJoint* base,
                     const mjtNum number[mjgpNCHANGE]);

// Set gears and settings of this step: the model's, changed by plugin_state. Invalid
// numbers are refused: the model's numbers remain in effect, and g->refused is set.
// Allocates if the numbers are new to this mjData.
void mjgp_applyChanges(mjgpGears* g, const mjModel* m, const mjData* d);

#endif  // MJGEAR_PLUGIN_CHANGES_H_

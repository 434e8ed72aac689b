// Changes of gears by plugin_state, in one simulation.

#ifndef MJGEAR_PLUGIN_CHANGES_H_
#define MJGEAR_PLUGIN_CHANGES_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"
#include "state/layout.h"

// numbers of one joint that change its gear, side by side
enum {
  mjgpCHANGE_GIVEN = 0,  // sums of bits: two numbers, as in the state
  mjgpCHANGE_TYPE = 2,
  mjgpCHANGE_KEY = 3,  // values of keys
  mjgpNCHANGE = mjgpCHANGE_KEY + mjgpNCHANGEKEY
};

// a gear that plugin_state changes
typedef struct mjgpChange_ {
  const mjgpConfig* base;  // configuration that it was made from; null: not yet
  mjtNum seal;             // mjgpSTATE_SEAL of its numbers
  mjgpJoint joint;         // the gear; its description may belong to other numbers
} mjgpChange;

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
// Allocates for the first change of a mjData.
void mjgp_applyChanges(mjgpGears* g, const mjModel* m, mjData* d);

#endif  // MJGEAR_PLUGIN_CHANGES_H_

// Changes of gears by plugin_state, in one simulation.

#ifndef MJGEAR_PLUGIN_CHANGES_H_
#define MJGEAR_PLUGIN_CHANGES_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"
#include "state/layout.h"

// numbers of one joint that change its gear, side by side
enum {
  mjgpCHANGE_GIVEN = 0,  // sums of bits: two numbers, as in the state
  mjgpCHANGE_DERIVED = 2,
  mjgpCHANGE_TYPE = 3,
  mjgpCHANGE_KEY = 4,  // values of keys
  mjgpNCHANGE = mjgpCHANGE_KEY + mjgpNCHANGEKEY
};

// a gear that plugin_state changes
typedef struct mjgpChange_ {
  const mjgpConfig* base;  // configuration that it was made from; null: not yet
  mjtNum given[2];         // its bits
  int refused;             // 1: its numbers are no law
  mjgpJoint joint;         // the gear, with the model's description
} mjgpChange;

// Returns the number with the bit of a key.
static inline int mjgp_givenOf(int key) {
  return mjgpCHANGE_GIVEN + (key >= mjgpNBIT);
}

// Find the addresses of joint i's numbers in plugin_state (-1: none). Read the numbers that are given,
// and write them.
void mjgp_findNumbers(int adr[mjgpNCHANGE], const mjgpConfig* config, int i);
void mjgp_readNumbers(mjtNum number[mjgpNCHANGE], const mjgpConfig* config, const mjtNum* state,
                      int i);
void mjgp_writeNumbers(mjtNum* state, const mjgpConfig* config, const mjtNum number[mjgpNCHANGE],
                       int i);

// Make the gear of a joint that these numbers describe. Every problem goes into the report.
// Returns their number.
int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpJoint* base,
                     const mjtNum number[mjgpNCHANGE]);

// Add the numbers of the law that follow from the others, of the joint that they make.
void mjgp_derive(mjtNum number[mjgpNCHANGE], const mjgpJoint* joint, const mjgpJoint* base);

// Load the law of joint i: the model's, changed by plugin_state. joint is a copy of the model's or
// of another law of it. Returns the number of problems, which go into the report.
int mjgp_loadLaw(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config, const mjtNum* state,
                 int i);

// Set gears and settings of this step. Invalid numbers are refused: the model's gear remains in
// effect, and g->refused is set. Allocates for the first change of a mjData.
void mjgp_applyChanges(mjgpGears* g, const mjModel* m, mjData* d);

#endif  // MJGEAR_PLUGIN_CHANGES_H_

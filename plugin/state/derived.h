// Gears that plugin_state changes, kept by the numbers that made them.
//
// A mjData that steps many simulations in turn (mujoco.batch, mujoco.rollout) meets the
// numbers of each again and again. What they mean is computed once and found again by the
// numbers themselves, so that nothing needs to know which simulation is stepped.

#ifndef MJGEAR_PLUGIN_DERIVED_H_
#define MJGEAR_PLUGIN_DERIVED_H_

#include <mujoco/mujoco.h>
#include <stddef.h>
#include <stdint.h>

#include "state/layout.h"
#include "state/model.h"

// numbers of one joint that change its gear, side by side
enum {
  mjgpCHANGE_GIVEN = 0,  // two, as in the state
  mjgpCHANGE_TYPE = 2,
  mjgpCHANGE_KEY = 3,  // values of keys
  mjgpNCHANGE = mjgpCHANGE_KEY + mjgpNCHANGEKEY
};

// those of them that count: the first three, and the values of the keys that are given
typedef struct mjgpNumbers_ {
  int n;
  mjtNum x[mjgpNCHANGE];
} mjgpNumbers;

// a gear that plugin_state changes
typedef struct mjgpChange_ {
  const mjgpConfig* base;  // configuration of what it was made from; null: not yet
  mjgpNumbers number;      // in plugin_state in this step
  mjgpNumbers made;        // of which joint was computed; none: it was found among those kept
  uint64_t hash;           // of number
  int changes;             // 1: plugin_state changes the gear in this step
  int plain;               // 1: joint differs from the model's in its law alone
  int refused;             // 1: they are no gear
  mjgpJoint joint;         // the gear; its description may be that of other numbers
} mjgpChange;

// those that a mjData has met
typedef struct mjgpDerived_ mjgpDerived;

// Returns the hash of numbers of joint i, and fetches what stands at its place
uint64_t mjgp_seekChange(const mjgpDerived* derived, const mjgpConfig* config, int i,
                         const mjgpNumbers* number);

// Make c the gear that its numbers make of joint i. Returns 0 if they are not known
int mjgp_recallChange(mjgpChange* c, mjgpDerived* derived, const mjgpConfig* config, int i);

// keep c, which was made of joint i. Allocates where there is no room
void mjgp_keepChange(mjgpDerived** derived, mjgpChange* c, int i);

// a step with changed gears begins: ages are counted in these
void mjgp_countStep(mjgpDerived* derived);

// forget all
void mjgp_freeDerived(mjgpDerived** derived);

#endif  // MJGEAR_PLUGIN_DERIVED_H_

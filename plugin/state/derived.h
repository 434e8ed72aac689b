// Cache of gears that plugin_state changes, by their numbers.
//
// A mjData that steps many simulations in turn (mujoco.batch, mujoco.rollout) meets the numbers
// of each again and again. Their gears are computed once and found by the numbers, without
// knowing which simulation is stepped.

#ifndef MJGEAR_PLUGIN_DERIVED_H_
#define MJGEAR_PLUGIN_DERIVED_H_

#include <mujoco/mujoco.h>
#include <stddef.h>
#include <stdint.h>

#include "state/layout.h"
#include "state/model.h"

// numbers of one joint that change its gear, side by side
enum {
  mjgpCHANGE_GIVEN = 0,  // sums of bits: two numbers, as in the state
  mjgpCHANGE_TYPE = 2,
  mjgpCHANGE_KEY = 3,  // values of keys
  mjgpNCHANGE = mjgpCHANGE_KEY + mjgpNCHANGEKEY
};

// the numbers in effect: the first three, and values of given keys
typedef struct mjgpNumbers_ {
  int n;
  mjtNum x[mjgpNCHANGE];
} mjgpNumbers;

// a gear that plugin_state changes
typedef struct mjgpChange_ {
  const mjgpConfig* base;  // configuration that it was made from; null: not yet
  mjgpNumbers number;      // numbers in plugin_state in this step
  mjgpNumbers made;        // numbers of joint; n = 0: joint comes from the cache
  uint64_t hash;           // of number
  int changes;             // 1: plugin_state changes the gear in this step
  int plain;               // 1: joint differs from the model's in its law alone
  int refused;             // 1: the numbers describe no valid gear
  mjgpJoint joint;         // the gear; its description may belong to other numbers
} mjgpChange;

typedef struct mjgpDerived_ mjgpDerived;

// Returns the hash of numbers of joint i, and prefetches their place in the table.
uint64_t mjgp_seekChange(const mjgpDerived* derived, const mjgpConfig* config, int i,
                         const mjgpNumbers* number);

// Find the gear of c's numbers. Returns 0 if they are new.
int mjgp_recallChange(mjgpChange* c, mjgpDerived* derived, const mjgpConfig* config, int i);

// Keep c, a gear of joint i. Allocates if the table is full.
void mjgp_keepChange(mjgpDerived** derived, mjgpChange* c, int i);

// Count a step with changed gears, the unit of ages.
void mjgp_countStep(mjgpDerived* derived);

// Free the cache.
void mjgp_freeDerived(mjgpDerived** derived);

#endif  // MJGEAR_PLUGIN_DERIVED_H_

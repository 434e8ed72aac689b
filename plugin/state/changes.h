// Changes of gears by plugin_state, in one simulation.

#ifndef MJGEAR_PLUGIN_CHANGES_H_
#define MJGEAR_PLUGIN_CHANGES_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"
#include "state/layout.h"

// a gear that plugin_state changes
typedef struct mjgpChange_ {
  const mjgpConfig* base;  // configuration that it was made from; null: not yet
  mjtNum given[2];         // its bits
  int refused;             // 1: its numbers are no law
  mjgpJoint joint;         // the gear, with the model's description
} mjgpChange;

// Returns the addresses in plugin_state of a key of joint i, -1: none, and of the sum with its bit.
static inline int mjgp_placeOf(const mjgpConfig* config, int i, int key) {
  return config->place[i * mjgpNCHANGEKEY + key];
}
static inline int mjgp_givenOf(const mjgpConfig* config, int i, int key) {
  return config->state[i] + (mjgpSTATE_GIVEN + (key >= mjgpNBIT)) * config->stride[i];
}

// Returns number k of joint i (mjgpSTATE_*).
static inline mjtNum* mjgp_number(const mjtNum* state, const mjgpConfig* config, int i, int k) {
  return (mjtNum*)state + config->state[i] + k * config->stride[i];
}

// Make the gear of joint i that the given numbers describe. Every problem goes into the report.
// Returns their number.
int mjgp_changeJoint(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config,
                     const mjtNum* state, int i);

// Set the numbers of the law that follow from the given ones, of the joint that they make. Returns
// their bits.
void mjgp_derive(mjtNum* state, const mjgpConfig* config, int i, const mjgpJoint* joint);
uint64_t mjgp_derivedOf(const mjtNum* state, const mjgpConfig* config, int i);

// Load the law of joint i: the model's, changed by plugin_state. joint is a copy of the model's or
// of another law of it. Returns the number of problems, which go into the report.
int mjgp_loadLaw(mjgpJoint* joint, mjgReport* report, const mjgpConfig* config, const mjtNum* state,
                 int i);

// Set gears and settings of this step. Invalid numbers are refused: the model's gear remains in
// effect, and g->refused is set. Allocates for the first change of a mjData.
void mjgp_applyChanges(mjgpGears* g, const mjModel* m, mjData* d);

#endif  // MJGEAR_PLUGIN_CHANGES_H_

// Layout of mjData.plugin_state, the only state of the plugin that a trajectory depends on.
//
//   each instance   the numbers below, each for its n joints: number k of the joint with the index i in
//                   the instance is k * n + i. Joints are those of the key "joint" and behind them the
//                   motor joints. The numbers of gaps exist only with the key "backlash". The instance of a
//                   brake has the same for its actuators, of which those count whose joints have no other gear.
//   the leader      behind them the acceleration of the last step (nv) and the mjgpNSYSTEM numbers
//
// Results of a step change in "advance" only. Changes of a gear are the user's: 0 until mjg_setGear
// or a program writes them. The step reads the numbers of the law; mjg_setGear computes them from
// keys that describe the gear, and keeps these keys for its next call. mjg_stateAddress
// (mjgear_plugin.h) returns addresses.

#ifndef MJGEAR_PLUGIN_LAYOUT_H_
#define MJGEAR_PLUGIN_LAYOUT_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"
#include "configuration/parsing.h"

enum {
  mjgpSTATE_FRICTION = 0,  // friction torque of the last step
  mjgpSTATE_PIECE = 1,     // mode: the sign; its size is 2 if lambda was negative, else 1
  mjgpSTATE_GIVEN = 2,     // keys below that replace the model's, sums of mjgp_keyBit: the first
                           //   mjgpNBIT keys in the first number, all others in the second
  mjgpSTATE_DERIVED = 4,   // of the first: numbers of the law that follow from other given keys
  mjgpSTATE_TYPE = 5,      // 0: the model's keys describe the gear. 1 + mjgType: the given keys
                           //   replace this description
  mjgpSTATE_TOOTH = 6,     // ratchet: 2 k + 1 for the last passed tooth k, 0: unknown
  mjgpSTATE_BRAKE = 7,     // travel of the brake from its place without power, 0 to 1
  mjgpSTATE_KEY = 8        // values of the keys that may differ (mjgpJoint.keys), in the order of
                           //   mjgKey
};

// keys that may change: keys of mjgKey, then keys of a gap. The first number holds
// mjgpNBIT bits; a double has 53
enum {
  mjgpNCHANGEKEY = mjgNKEY + mjgpNGAPKEY,
  mjgpNBIT = 32
};
#define mjgpBITS  ((mjtNum)(((uint64_t)1 << mjgpNBIT) - 1))  // largest sums
#define mjgpBITS2 ((mjtNum)(((uint64_t)1 << (mjgpNCHANGEKEY - mjgpNBIT)) - 1))

// numbers of a gap, behind the keys
enum {
  mjgpGAPSTATE_STARTED = 0,   // 0: nothing is known yet, the gap starts at rest
  mjgpGAPSTATE_ANGLE = 1,     // rotor minus joint, if the rotor is the plugin's
  mjgpGAPSTATE_RATE = 2,      //
  mjgpGAPSTATE_POSITION = 3,  // theta_b
  mjgpGAPSTATE_TWIST = 4,     // omega_s
  mjgpGAPSTATE_KEY = 5,       // values of the keys of a gap (mjg_gapKeyInfo)
  mjgpNGAPSTATE = mjgpGAPSTATE_KEY + mjgpNGAPKEY
};

// numbers of the whole system, in the leader's state
enum {
  mjgpSYSTEM_SOLVER = 0,     // 0: the model's; else 1 + mjgSolver
  mjgpSYSTEM_FALLBACKS = 1,  // fallbacks of the solver on another method
  mjgpSYSTEM_STEPS = 2,      // steps with gears
  mjgpSYSTEM_UNSOLVED = 3,   // unsolved steps, by their status
  mjgpSYSTEM_SLOW = 4,       // steps with a fallback of the solver on another method
  mjgpSYSTEM_LAYOUT = 5,     // 0 before the first step; else identifies gears, places and keys
  mjgpNSYSTEM = 6
};

// Returns the slot of this plugin in the engine's table, -1 if not registered; and the
// first instance of a gear or brake, or -1.
int mjgp_slot(void);
static inline int mjgp_leader(const mjModel* m, int slot) {
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == slot || mjgp_isOurs(m, i, slot)) {  // most need no call
      return i;
    }
  }
  return -1;
}

// Returns the size of an instance's state; the plugin callback for the compiler.
int mjgp_stateSize(const mjModel* m, int instance);
int mjgp_nstate(const mjModel* m, int instance);

// Returns the numbers that an instance keeps for all its joints.
int mjgp_jointState(const mjModel* m, int instance);

// Returns the bit of a key in its number.
static inline uint64_t mjgp_keyBit(int key) {
  return (uint64_t)1 << (key < mjgpNBIT ? key : key - mjgpNBIT);
}

#endif  // MJGEAR_PLUGIN_LAYOUT_H_

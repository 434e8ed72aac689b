// The gears of a model: its configuration with the addresses that a step needs.
//
// A mjData may be stepped with many models. It reads each configuration once and keeps it, so
// that threads share nothing. A configuration is found by the model's content, not its address: a
// model may be freed, replaced or overwritten.

#ifndef MJGEAR_PLUGIN_MODEL_H_
#define MJGEAR_PLUGIN_MODEL_H_

#include <mujoco/mujoco.h>
#include <stddef.h>

#include "configuration/config.h"
#include "configuration/motors.h"
#include "configuration/parsing.h"
#include "state/layout.h"

// parts of a model that gears depend on (model.c)
enum {
  mjgpNPART = 13
};

// configuration of a model: constant, in one block of memory
typedef struct mjgpConfig_ {
  struct mjgpConfig_* next;  // next configuration of the same mjData

  int n;          // number of geared joints
  int leader;     // first instance of the plugin
  int last;       // last instance of the plugin
  int nv;         // dofs of the model
  int nC;         // non-zeros of the inertia matrix
  int foreign;    // 1: other plugins have instances too
  int nsensor;    // sensors attached to instances of the plugin
  int gaps;       // joints with a gap, and their motors
  int rotors;     // joints behind a rotor that is state of the plugin
  int encoders;   // joints whose encoder is on a rotor that is state of the plugin
  int spanning;   // a gear couples joints of different trees
  int ntree;      // kinematic trees
  int ndof;       // dofs on which gears act
  int ngeared;    // tendons with gears
  int acc;        // address of the leader's acc in plugin_state
  int system;     // address of the numbers of the whole system in plugin_state
  mjtNum layout;  // identifies the places of numbers in plugin_state

  mjgSettings settings;
  mjgpMotors motors;
  mjgpJoint* joint;  // geared joints in the order of their dofs                       (n)
  int* state;        // address of each joint's first number in plugin_state           (n)
  int* stride;       // distance of a joint's numbers in plugin_state                  (n)
  int* gap;          // address of each gap's state in plugin_state                    (n)
  int* place;        // addresses of the keys that may change, -1: the      (n x mjgpNCHANGEKEY)
                     //   state has no number of it
  int* own;          // mjgpJoint.dof of all joints                                    (n)
  int* geared;       // gear on the velocity of each dof, -1: none               (nv)
  int* dof;          // dofs on which gears act, ascending                             (ndof of nv)
  int* reached;      // 1: a gear acts on this tree                                    (ntree)
  int* tendon;       // gear of each tendon, -1: none                                  (ntendon)
  int* transpose;    // address in D of each transposed entry of M                     (nC)
  int* line;         // start of each row of matrices in M's structure with rows in    (nv)
                     //   whole lanes

  // identification of the model
  uint64_t signature;       // signature of the model tree, by the engine
  int nplugin;              // plugin instances
  int ntendon;              // tendons
  size_t nseen[mjgpNPART];  // bytes of the parts of the model that gears depend on
  char* seen;               // these parts, one after the other
  int leader_state;         // numbers that the leader keeps for its joints
  uint64_t content;         // hash of keys and signature
} mjgpConfig;

// configurations of a mjData, the last one first
typedef struct mjgpConfigs_ {
  mjgpConfig* first;
  int n;
} mjgpConfigs;

// Returns the index of the gear with a number (mjgp_gearNumber), or -1.
int mjgp_findGear(const mjgpConfig* config, int joint);

// Returns 1 if this configuration belongs to the model.
int mjgp_isConfigOf(const mjgpConfig* config, const mjModel* m);

// Returns the configuration of a model, read if it is new; null after a warning if the
// model is refused (its options alone do not refuse it). Frees all configurations first
// if too many are kept.
const mjgpConfig* mjgp_findConfig(mjgpConfigs* known, const mjModel* m);

// Free all.
void mjgp_freeConfigs(mjgpConfigs* known);

// Borrow the configuration of a model without a mjData; null if it has no gear or is refused.
// The last one is kept for the next call, of any thread.
mjgpConfig* mjgp_borrowConfig(const mjModel* m);
void mjgp_returnConfig(mjgpConfig* config);

// an array of an object, in its block of memory
typedef struct mjgpArray_ {
  size_t member;  // offset of its address in the object
  size_t item;    // bytes of an item
  int size;       // number of items, by its number in a list of sizes
} mjgpArray;
#define mjgpARRAY(type, name, size) \
  { offsetof(type, name), sizeof(*((type*)0)->name), size }

// Lay out n arrays after the first bytes of a block at base, 64-byte aligned, and write their
// addresses into an object; only count if base is null. Returns the total of bytes.
size_t mjgp_layout(void* object, char* base, size_t bytes, const mjgpArray* array, int n,
                   const size_t* size);

// Returns FNV-1a over words of 8 bytes, continued from a hash.
uint64_t mjgp_hash(const char* text, size_t n, uint64_t hash);

#endif  // MJGEAR_PLUGIN_MODEL_H_

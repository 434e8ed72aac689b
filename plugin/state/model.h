// The gears of a model: its configuration with the addresses that a step needs.
//
// A mjData may be stepped with many models. Each configuration is read once and kept by
// the mjData that needed it, so that threads share nothing. It is found again by what the
// model says, not by where the model is: a model may be freed and another take its place,
// and programs overwrite models.

#ifndef MJGEAR_PLUGIN_MODEL_H_
#define MJGEAR_PLUGIN_MODEL_H_

#include <mujoco/mujoco.h>
#include <stddef.h>

#include "configuration/config.h"
#include "configuration/motors.h"
#include "configuration/parsing.h"

// numbers in plugin_state one behind the other
typedef struct mjgpRange_ {
  int adr;  // address of the first
  int n;
} mjgpRange;


// parts of a model that gears depend on (model.c)
enum {
  mjgpNPART = 13
};

// the same in every step; one block of memory
typedef struct mjgpConfig_ {
  struct mjgpConfig_* next;  // of those that a mjData has met
  int users;                 // threads that have borrowed it

  int n;            // number of geared joints
  int leader;       // first instance of the plugin
  int last;         // last instance of the plugin
  int nv;           // dofs of the model
  int nC;           // non-zeros of the inertia matrix
  int foreign;      // 1: other plugins have instances too
  int nsensor;      // sensors attached to instances of the plugin
  int gaps;         // joints with a gap, and their motors
  int rotors;       // joints behind a rotor that is state of the plugin
  int encoders;     // joints whose encoder is on a rotor that is state of the plugin
  int crossing;     // a gap couples joints of different trees
  int spanning;     // a tendon with a gear does
  int ntree;        // kinematic trees
  int ndof;         // dofs on which gears act
  int ngeared;      // tendons with gears
  int nchangeable;  // instances of ours
  int acc;          // address of the leader's acc in plugin_state
  int system;       // address of the numbers of the whole system in plugin_state

  mjgpOptions options;
  mjgpMotors motors;
  mjgpJoint* joint;  // geared joints in the order of their dofs                       (n)
  int* state;        // address of their first number in plugin_state                  (n)
  int* stride;       // distance of their numbers in plugin_state                      (n)
  int* gap;          // address of the state of their gaps in plugin_state             (n)
  int* place;        // addresses of the keys that may change, -1: the      (n x mjgpNCHANGEKEY)
                     //   state has no number of it
  int* jnt;          // mjgpJoint.joint of each, side by side                          (n)
  int* own;          // and mjgpJoint.dof                                              (n)
  mjgpRange* changeable;  // numbers that are all 0 where gears are the model's        (nchangeable)
  int* geared;            // gear whose velocity is that of a dof, -1: none                 (nv)
  int* dof;        // dofs on which gears act, ascending                             (ndof of nv)
  int* reached;    // 1: a gear acts on this tree                                    (ntree)
  int* block;      // first of the trees that a gear's tree is coupled with by gears (n)
  int* tendon;     // gear of each tendon, -1: none                                  (ntendon)
  int* transpose;  // address in D of each transposed entry of M                     (nC)
  int* line;       // start of each row of matrices in M's structure with rows in    (nv)
                   //   whole lanes

  // by what the model is recognized
  uint64_t signature;       // the engine's, of the tree
  int nplugin;              // plugin instances
  int njnt;                 // joints
  int ntendon;              // tendons
  size_t nseen[mjgpNPART];  // bytes of the parts of the model that gears depend on
  char* seen;               // and these, one behind the other
  int leader_state;         // numbers that the leader keeps for its joints
} mjgpConfig;

// configurations of the models that a mjData has met, the last one first
typedef struct mjgpConfigs_ {
  mjgpConfig* first;
  int n;
} mjgpConfigs;

// slot of this plugin in the engine's table, -1: it is not registered; its first instance
// or that of a brake, -1: none
int mjgp_slot(void);
static inline int mjgp_leader(const mjModel* m, int slot) {
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == slot || mjgp_isOurs(m, i, slot)) {  // the first without a call
      return i;
    }
  }
  return -1;
}

// number of the geared joint of this id, or tendon of the id minus the number of joints;
// -1: it has no gear
int mjgp_findGear(const mjgpConfig* config, int joint);

// does this configuration belong to the model
int mjgp_isConfigOf(const mjgpConfig* config, const mjModel* m);

// configuration of a model, read where it is new; null after a warning if the model is
// refused. Options are refused where the model is compiled. Where too many are kept all are forgotten before, and n is smaller afterwards
const mjgpConfig* mjgp_findConfig(mjgpConfigs* known, const mjModel* m);

// forget all
void mjgp_freeConfigs(mjgpConfigs* known);

// configuration of a model that no mjData is given for, until it is returned; null if the
// model has no gear or is refused. The last ones are kept for the next call, of any thread
const mjgpConfig* mjgp_borrowConfig(const mjModel* m);
void mjgp_returnConfig(const mjgpConfig* config);

// an array of an object, in a block of memory that they share
typedef struct mjgpArray_ {
  size_t member;  // where its address stands in the object
  size_t item;    // bytes of an item
  int size;       // number of items, by its number in a list of sizes
} mjgpArray;
#define mjgpARRAY(type, name, size) \
  { offsetof(type, name), sizeof(*((type*)0)->name), size }

// lay out n arrays behind the first bytes of a block at base, each 64-byte aligned, and
// write their addresses into an object; only count if base is null. Returns the bytes
// with them
size_t mjgp_layout(void* object, char* base, size_t bytes, const mjgpArray* array, int n,
                   const size_t* size);

// FNV-1a over words of 8 bytes, going on from a hash
uint64_t mjgp_hash(const char* text, size_t n, uint64_t hash);

#endif  // MJGEAR_PLUGIN_MODEL_H_

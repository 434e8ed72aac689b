// All geared joints of one mjData, and their memory.
//
// The instances of the plugin in a model are one physical system. The first of them, the
// leader, owns this object (mjData.plugin_data); the others have none.
//
// The state of a trajectory is in mjData.plugin_state (layout.h). Everything else is computed in
// every step from the configuration of the stepped model: one mjData may be stepped with many
// models.

#ifndef MJGEAR_PLUGIN_GEARS_H_
#define MJGEAR_PLUGIN_GEARS_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"
#include "configuration/jacobian.h"
#include "mjgear.h"
#include "mjgear_backlash.h"
#include "state/layout.h"
#include "state/model.h"

// state of friction in the passive forces of mjData
typedef enum mjgpPhase_ {
  mjgpPHASE_IDLE = 0,   // passive forces are as they were when friction was last added
  mjgpPHASE_FRESH = 1,  // passive forces were computed anew, friction is not in them
} mjgpPhase;

// Method that solved an island
typedef enum mjgpMethod_ {
  mjgpMETHOD_NEWTON,  // Newton on the active set
  mjgpMETHOD_DENSE,   // friction as a dense problem of the core, at linearizations
  mjgpMETHOD_PATH,    // homotopy path
  mjgpMETHOD_NONE,    // passive friction; unsolved unless it is on the law
  mjgpNMETHOD
} mjgpMethod;

// counts since the data was made or reset, no state; for tests and benchmarks
typedef struct mjgpCount_ {
  int steps;            // friction problems
  int solved;           // solved, and no other solution is known
  int iterations;       // iterations of the solver
  int trees;            // kinematic trees solved on the inertia matrix itself
  int coupled;          // groups of constraints and gears solved together
  int newton_steps;     // linearizations of such groups
  int unconfirmed;      // steps whose motion differed from the solved one
  int hard;             // groups that needed a safer method than Newton
  int fallbacks;        // problems for which the solver needed another method
  int unsolved;         // problems that were left above the tolerance
  int by[mjgpNMETHOD];  // groups by the method that solved them (mjgpMethod)
} mjgpCount;

// brake or backstop of a joint in this step
typedef struct mjgpBrake_ {
  mjtNum travel;   // distance from its place without power, 0 to 1
  mjtNum sliding;  // torque with which the brake slips
  mjtNum holding;  // torque that the brake holds at rest and against a reversal
  int front;       // 1: the brake is in front of the teeth, 0: behind them
  int blocked;     // direction in which the joint cannot move, 0: none
  mjtNum tooth;    // mjgpSTATE_TOOTH after this step
} mjgpBrake;

// form of the actuators' velocity gains in the integrator
typedef enum mjgpGains_ {
  mjgpGAINS_NONE,
  mjgpGAINS_DIAGONAL,
  mjgpGAINS_GENERAL
} mjgpGains;

// input of a gear
typedef struct mjgpGearInput_ {
  mjtNum v;             // velocity before the step
  mjtNum tau;           // motor torque that acts, see model/actuation.h
  mjtNum inertia;       // rotor inertia, diagonal of S
  mjtNum gamma_u;       // input-side asymmetry coefficient of this step
  mjtNum gamma_v;       // output-side asymmetry coefficient of this step
  mjtNum coulomb;       // load-independent bound of this step
  mjtNum static_ratio;  // static to sliding bound
  mjtNum compliance;    // pre-sliding: mjg_preslidingCompliance; 0: sticks
  mjtNum t_last;        // friction torque of the last step
  int ordinary;         // 1: mjgp_isOrdinary (config.h)
  int braked;           // 1: the joint has a brake or turns one way only
  mjtNum q;             // position before the step
  mjtNum motor;         // torque of actuators at the start of the step
  mjtNum drag;          // (motor - tau)/v, the part from the joint's own velocity
  mjtNum implicit;      // part of inertia beyond the joint's armature
  mjtNum shared;        // rotors behind gaps: row sum of gains that tendons share
  mjtNum misplaced;     // rotors behind gaps: part of implicit at the joint
  mjtNum removed;       // rest of implicit, not in mjgpInertia (rotors.h)
} mjgpGearInput;

// input of a step
typedef struct mjgpInput_ {
  const mjgpJoint** joint;  // gears of this step, changed by plugin_state             (n)
  mjgSettings settings;     // of the solver

  mjgpGains gains;  // of actuators
  int factored;     // "discrete": the engine has factored its metric, in mjData.qH

  int nactive;            // joints that are awake
  int* active;            // numbers of awake joints, tree by tree, then tendons       (n)
  int* dozing;            // 1: the engine is putting the joint's tree to sleep        (n)
  int ntree;              // trees that are awake and on which gears act
  int* tree;              // numbers of these trees, ascending                     (ntree)
  mjgpGearInput* gear;    // inputs of the gears                                       (n)
  mjtNum* base;           // passive force without friction, of dofs with gears        (nv)
  int removes;            // 1: an entry of removed is not zero
  mjgpRow* E;             // rows of E: velocity on which each gear acts               (n)
  mjtNum** row;           // row of S without its diagonal; null: zero                 (n)
  int rows;               // number of rows that are not null
  int reaches;            // 1: a row reaches another tree
  mjgpBrake* brake;       // brake or backstop; 0: none                                (n)
  mjgCoupling* coupling;  // backlash in this step                                     (n)
  mjtNum* force;          // smooth force that an early computation assumed            (nv)
} mjgpInput;

// results of a step
typedef struct mjgpResult_ {
  mjtNum* t;             // friction torque                                            (n)
  mjtNum* v_next;        // velocity after the step; exactly 0.0 if stuck              (n)
  mjtNum* u;             // torque delivered into the gear                             (n)
  mjtNum* lambda;        // internal force                                             (n)
  int* mode;             // -1 backward, 0 stuck, 1 forward                            (n)
  int* load;             // assumed sign of lambda                                     (n)
  mjgCouplingStep* gap;  // what backlash did                                          (n)
  mjtNum* cancellation;  // velocity to which round-off is relative                    (n)
  mjtNum* rounding;      // uncertainty of velocity by round-off of constraint forces  (n)
  mjtNum* shift;         // the engine's acceleration less the step's (rotors.h) (nv)
  int shifted;           // 1: shift is not zero, and d->efc_aref has J shift
  mjtNum tolerance;      // tolerance of the engine's accelerations, 0: direct
  mjgInfo info;          // result of the step: its worst problem
  mjgInfo last_info;     // result of the last problem
} mjgpResult;

// memory of the metric and of the solvers, without meaning between steps
typedef struct mjgpScratch_ {
  mjtNum* slope;   // integrator's matrix less inertia, if diagonal                (nv)
  mjtNum* lower;   // factor of the integrator's matrix                            (lines)
  mjtNum* upper;   // factor of the upper triangle if it is not symmetric          (lines)
  mjtNum* pivot;   // inverse diagonal                                             (nv)
  mjtNum* block;   // inverse of a tree's block of the integrator's matrix         (6 nv)
  int* blocked;    // 1: the tree has such a block                                 (ntree)
  mjtNum* force;   // all forces except those of constraints and friction          (nv)
  int* joint;      // joints to be solved for                                      (n)
  int* local;      // numbers of dofs in a group, else -1                          (nv)
  int* held;       // of a tree: flags of dofs with known acceleration             (nv)
  mjtNum* vector;  // of a tree: acceleration, unbalanced force, pivots            (3 nv)
  mjtNum* matrix;  // factor of a tree with its friction                           (lines)
} mjgpScratch;

enum {
  mjgpNSIZE = 6
};

typedef struct mjgpGears_ {
  const mjData* d;              // owner of this object; null: the object is free
  struct mjgpGears_* next;      // next free object
  const mjModel* model;         // model of the last step; may be freed
  const mjgpConfig* config;     // its configuration
  mjgpConfigs known;            // configurations of all models so far
  struct mjgpChange_* changes;  // gears that plugin_state changes (n); null: none so far
  size_t size[mjgpNSIZE];       // sizes of the arrays below (gears.c)
  void* memory;                 // block of all arrays
  char* values;                 // arrays of in and out without pointers, which a copy takes over
  size_t nvalues;               // bytes of values
  int nv, nstate;               // sizes of the mjData

  mjgpInput in;
  mjgpResult out;
  mjgpScratch scratch;

  int phase;    // mjgpPhase
  int nested;   // 1: within the plugin's own call of mj_fwdActuation
  int done;     // friction was computed since the last advance
  int early;    // friction was computed with the passive forces, before actuation
  int warned;   // warnings that were given, one bit each
  int refused;  // numbers in plugin_state are not used in this step
  int begun;    // a step was computed since the data were made or reset
  int inverse;  // the engine computes inverse dynamics
  int stages;   // mjgp_inverseStages when it was asked last; INT_MAX: not yet
  mjgpCount count;
} mjgpGears;

// Returns the stages of positions that mj_inverse has run: the engine does not tell plugins why it
// computes passive forces, but such a stage skips the projection of constraints, as timers show.
static inline int mjgp_inverseStages(const mjData* d) {
  return d->timer[mjTIMER_POSITION].number - d->timer[mjTIMER_POS_PROJECT].number;
}

// Start joint i from friction, mode and sign of the load of the last step.
static inline void mjgp_startJoint(mjgpGears* g, const mjData* d, int i) {
  const mjtNum* state = d->plugin_state + g->config->state[i];
  mjtNum piece = state[mjgpSTATE_PIECE * g->config->stride[i]];
  g->out.t[i] = state[mjgpSTATE_FRICTION];
  g->out.mode[i] = (piece > 0) - (piece < 0);
  g->out.load[i] = mju_abs(piece) > 1 ? -1 : 1;
  g->out.rounding[i] = 0;

  // a sleeping tree keeps a state that does not depend on the start
  if (g->in.dozing[i]) {
    g->out.t[i] = g->out.mode[i] = 0;
    g->out.load[i] = 1;
  }
}

// Returns the object in use at an address, or null; any address is valid.
mjgpGears* mjgp_liveGears(uintptr_t address);

// Returns the object of a mjData, with the configuration of this model, found by address, which
// suffices within a step. leader: first instance of the plugin. A new model is read, which
// allocates; if it is refused, the engine's error is called.
mjgpGears* mjgp_findGears(const mjModel* m, mjData* d, int leader);
static inline mjgpGears* mjgp_gearsOf(const mjModel* m, mjData* d, int leader) {
  mjgpGears* g = mjgp_liveGears(d->plugin_data[leader]);
  return g && g->d == d && g->model == m ? g : mjgp_findGears(m, d, leader);
}

// warnings, given once for a mjData, or for a model (gains, unsolved steps)
typedef enum mjgpWarning_ {
  mjgpWARN_INTEGRATOR = 1 << 0,
  mjgpWARN_UNSOLVED = 1 << 1,
  mjgpWARN_NOT_COMPUTED = 1 << 2,
  mjgpWARN_CHANGED = 1 << 3,
  mjgpWARN_UNCONFIRMED = 1 << 4,
  mjgpWARN_STIFF = 1 << 6,
  mjgpWARN_REFUSED = 1 << 5,
  mjgpWARN_ROUNDING = 1 << 7,
  mjgpWARN_INVERSE = 1 << 8,
  mjgpWARN_SLEEP = 1 << 9,
  mjgpWARN_KEYFRAME = 1 << 10,
  mjgpWARN_OF_MODEL = mjgpWARN_UNSOLVED | mjgpWARN_UNCONFIRMED | mjgpWARN_STIFF,
} mjgpWarning;
void mjgp_warn(mjgpGears* g, int warning, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// Returns 1 the first time for a number and one of the last models.
int mjgp_isNews(const mjgpConfig* config, uint64_t number);

// Note a warning of mjgp_warnLoss, which the next compilation does not repeat.
void mjgp_noteTold(const char* text);

// Update the configuration if the model at this address has changed.
void mjgp_checkModel(mjgpGears* g, const mjModel* m);

// Returns the object for users: null if there is no instance, or the data are of another
// structure; then the message of the second.
mjgpGears* mjgp_gears(const mjModel* m, const mjData* d);
const char* mjgp_belongError(const mjModel* m, const mjData* d);

// Write the error of a call (nullable). Returns -1.
int mjgp_refuseCall(char* error, int error_sz, const char* text);

// plugin callbacks for the object
int mjgp_init(const mjModel* m, mjData* d, int instance);
void mjgp_destroy(mjData* d, int instance);
void mjgp_copy(mjData* dest, const mjModel* m, const mjData* src, int instance);
void mjgp_reset(const mjModel* m, mjtNum* plugin_state, void* plugin_data, int instance);

#endif  // MJGEAR_PLUGIN_GEARS_H_

// One simulated MJCF file: model, data, and the viewer's data about its geared joints.

#ifndef MJGEAR_VIEWER_SIM_H_
#define MJGEAR_VIEWER_SIM_H_

#include <mujoco/mujoco.h>
#include <stddef.h>

#include "mjgear_plugin.h"
#include "scene.h"

// friction of the geared joints
typedef enum SimFriction_ {
  simGEAR = 0,    // as the file says: mjgear.transmission
  simNATIVE = 1,  // MuJoCo's own constant frictionloss instead, at gears without friction
  simNONE = 2     // none
} SimFriction;

typedef struct SimGear_ {
  char name[64];  // name of the joint or tendon, shortened where it is long
  int joint;      // number of the gear (mjg_gearId)
  int tendon;     // tendon id; -1: a joint
  int instance;   // plugin instance
} SimGear;

// functions that the loaded plugin exports
typedef struct SimPlugin_ {
  __typeof__(mjg_readGear)* readGear;
  __typeof__(mjg_getGear)* getGear;
  __typeof__(mjg_setGear)* setGear;
  __typeof__(mjg_describeGear)* describeGear;
  __typeof__(mjg_getSolver)* getSolver;
  __typeof__(mjg_setSolver)* setSolver;
} SimPlugin;

typedef struct Sim_ {
  mjModel* m;
  mjData* d;
  SimFriction friction;
  const mjgCase* variant;  // nullable
  int ngear;
  SimGear* gear;     // (ngear)
  SimPlugin plugin;  // null without gears
} Sim;

// live values of a geared joint, in the order of display
enum {
  simPOSITION,    // rad or m
  simVELOCITY,    // rad/s or m/s
  simTORQUE_IN,   // torque delivered into the gear
  simTORQUE_OUT,  // torque delivered to the link
  simFRICTION,    // N m or N, opposing motion: the gear's and the engine's own
  simINTERNAL,    // internal force
  simMODE,        // -1 slips backward, 0 stuck, 1 slips forward
  simSTATE,       // an index of mjgpStateName
  simLOSS,        // W
  simGAP,         // position in the gap, rad or m
  simITERATIONS,
  simRESIDUAL,
  simNVALUE,
  simSLIP = simNVALUE,  // velocity of the gear at the end of the step, rad/s or m/s; not shown
  simROOM
};
extern const char* const simName[simNVALUE];

// Load a scene with further settings; frictionloss (ngear, nullable: 0) is for simNATIVE. 0 on success, else
// -1 with one line in error and nothing to free
int simLoad(Sim* sim, const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting, int nsetting,
            SimFriction friction, const double* frictionloss, char* error, int error_size);

// after a reset: gears of a simulation with another friction lose theirs
void simMakeIdeal(Sim* sim);

void simFree(Sim* sim);

// values of a geared joint at the last mj_forward
void simValues(double value[simROOM], const Sim* sim, int gear);

// unit of a value; "" for a number or a word
const char* simUnit(const Sim* sim, int gear, int value);

// a value with its unit for display
void simText(char* text, size_t text_size, const Sim* sim, int gear, int value);

// 1 if a geared joint has backlash
int simHasBacklash(const Sim* sim);

// 1 if the gear of a joint has friction
int simHasFriction(const Sim* sim);

//---------------------------------- parameters that are changed while the simulation runs ----------

// The plugin changes the gears of one mjData: the model stays, a reset ends the change, and a reload reads the file.
// Refusals are the plugin's.

// a number that a slider changes
typedef struct TuneKey_ {
  const char* name;  // key of the configuration
  double low;        // usual range
  double high;
} TuneKey;

extern const TuneKey tuneKeys[];
extern const int tuneNKey;

// value of a key at a geared joint: 1 if it has one there. Coefficients and efficiencies always
// have one, for any description of the gear.
int tuneValue(double* value, const Sim* sim, int gear, int key);

// index of the solver in use
int tuneSolver(const Sim* sim);

// Change a key at one geared joint, or the solver, in a simulation with gears. 0 on success, else a
// message in error, and nothing is changed.
int tuneSetValue(Sim* sim, int gear, int key, double value, char* error, size_t error_size);
int tuneSetSolver(Sim* sim, int solver, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_SIM_H_

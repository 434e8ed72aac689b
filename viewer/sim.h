// One simulated MJCF file: model, data, and the viewer's data about its geared joints.

#ifndef MJGEAR_VIEWER_SIM_H_
#define MJGEAR_VIEWER_SIM_H_

#include <mujoco/mujoco.h>

#include "mjgear_plugin.h"
#include "scene.h"


// friction of the geared joints
typedef enum SimFriction_ {
  simGEAR = 0,    // as the file says: mjgear.transmission
  simNATIVE = 1,  // MuJoCo's own constant frictionloss instead
  simNONE = 2     // none
} SimFriction;

typedef struct SimGear_ {
  char name[64];  // name of the joint or tendon, shortened where it is long
  int joint;      // number of the gear (mjg_gearId)
  int tendon;     // tendon id; -1: a joint
  int qpos;       // address in qpos; -1: a tendon
  int dof;        // address in qvel; -1: a tendon
  int instance;   // plugin instance
} SimGear;

typedef struct Sim_ {
  mjModel* m;
  mjData* d;
  SimFriction friction;
  const mjgCase* variant;  // nullable
  int ngear;
  SimGear* gear;                       // (ngear)
  __typeof__(mjg_readGear)* readGear;  // of the loaded plugin; null without gears

  // states to step back to, a ring
  mjtNum* history;  // (nhistory x nstate)
  int nstate;
  int nhistory;  // capacity
  int nsaved;    // states in the ring
  int newest;    // their last
} Sim;

// configuration of the plugin beyond that of file and case
enum {
  simNSETTING = 24
};

typedef struct SimSettings_ {
  int n;
  struct {
    char instance[64];
    char key[32];
    char value[2000];
  } setting[simNSETTING];
} SimSettings;

// live values of a geared joint
typedef struct SimValues_ {
  double position;    // rad or m
  double velocity;    // rad/s or m/s
  double friction;    // N m or N, opposing motion: the gear's and the engine's own
  double lambda;      // internal force; 0 without gears
  double torque_in;   // torque delivered into the gear
  double torque_out;  // torque delivered to the link
  double power_loss;  // W
  double slip;        // velocity of the gear at the end of the step, rad/s or m/s
  double gap;         // position in the gap, rad or m
  double residual;
  int mode;   // -1 slips backward, 0 stuck, 1 slips forward
  int state;  // state of the gear, an index of mjgpStateName; -1 without gears
  int iterations;
} SimValues;

// add a setting or replace that of the same instance and key: 0 on success, -1 if it has no room
int simSet(SimSettings* settings, const char* instance, const char* key, const char* value);

// Loads a scene with further settings (nullable); frictionloss (ngear, nullable: 0) is for simNATIVE. 0 on
// success, else -1 with one line in error and nothing to free.
int simLoad(Sim* sim, const mjgScene* scene, const mjgCase* variant, const SimSettings* settings,
            SimFriction friction, const double* frictionloss, char* error, int error_size);

void simFree(Sim* sim);

// values of a geared joint at the last mj_forward
SimValues simValues(const Sim* sim, int gear);

// 1 if its position is a length, and its torques are forces
int simIsLength(const Sim* sim, int gear);

// 1 if a geared joint has backlash
int simHasBacklash(const Sim* sim);

// 1 if the gear of a joint has friction
int simHasFriction(const Sim* sim);

// remember the state
void simSave(Sim* sim);
void simClearHistory(Sim* sim);

// go to the state saved `back` saves before the newest; 1 if it exists
int simRecall(Sim* sim, int back);

#endif  // MJGEAR_VIEWER_SIM_H_

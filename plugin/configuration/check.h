// Everything that can be wrong with a model that uses the plugin, found before it is
// used.

#ifndef MJGEAR_PLUGIN_CHECK_H_
#define MJGEAR_PLUGIN_CHECK_H_

#include "configuration/config.h"

// read and check the instances in slot, the options of the model and the sensors: the
// geared joints, to be freed with mju_free, *n of them (mjgp_configure), and the options;
// every problem goes into the report
mjgpJoint* mjgp_check(int* n, mjgpOptions* options, mjgReport* report, const mjModel* m, int slot);

// the compiler asks for the states of a model: what its flags are. The data on which it
// then tries the model do not sleep, and init could not tell. Null: that is over
void mjgp_noteCompiled(const mjModel* m);

// is the compiler making the data on which it tries this model, the place to refuse it
int mjgp_isCompiled(const mjModel* m);

// the model with options of which none is refused, for data whose model had its options
// changed: they are warned of, and gears go on
mjModel mjgp_withoutOptions(const mjModel* m);

// refuse a solver that cannot solve for n joints
void mjgp_checkSolver(mjgReport* report, int solver, int n);

// refuse a key of an instance that does not exist, with the most similar one; 0 if it
// exists, else 1
int mjgp_checkKey(mjgReport* report, const char* instance, const char* key);

// what helps where the engine refuses the rotor inertia of a gear with an error of its own, with
// "; " behind it; "" where nothing is known
const char* mjgp_remedyOf(const char* error);

// what is unusual about a geometry at this kind of joint, null if nothing
const char* mjgp_geometryWarning(const mjModel* m, const mjgpJoint* joint);

// warnings for gears that do nothing while the motor is off or lock by an assumption
// alone (mjg_warnAssumed), for instances that would be left behind where their robot
// becomes part of another model, and with flg_geometry those above
void mjgp_warnGears(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n, int slot,
                    int flg_geometry);

// a warning in one line where joints or tendons have both a gear and frictionloss, which
// names the first; returns 1 if there is one
int mjgp_warnLoss(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n);

#endif  // MJGEAR_PLUGIN_CHECK_H_

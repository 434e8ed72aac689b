// Everything that can be wrong with a model that uses the plugin, found before it is
// used.

#ifndef MJGEAR_PLUGIN_CHECK_H_
#define MJGEAR_PLUGIN_CHECK_H_

#include "configuration/config.h"

// Read and check instances in slot, options of the model and sensors. Returns *n geared joints,
// to be freed with mju_free (mjgp_configure). Every problem goes into the report.
mjgpJoint* mjgp_check(int* n, mjgSettings* settings, mjgReport* report, const mjModel* m, int slot);

// Note the flags of a model when the compiler asks for the size of its states: the data
// on which it tries the model do not sleep. Null: the compiler is done.
void mjgp_noteCompiled(const mjModel* m);

// Returns 1 while the compiler tries this model, when it can be refused.
int mjgp_isCompiled(const mjModel* m);

// Returns the model with valid options, for data whose model had its options changed: gears warn
// and go on.
mjModel mjgp_withoutOptions(const mjModel* m);

// Refuse a solver that cannot solve for n joints.
void mjgp_checkSolver(mjgReport* report, int solver, int n);

// Refuse an unknown key of an instance and suggest a similar one. Returns 0 if it exists, else 1.
int mjgp_checkKey(mjgReport* report, const char* instance, const char* key);

// Returns the remedy, with "; " after it, for an error of the engine about rotor inertia; else
// "".
const char* mjgp_remedyOf(const char* error);

// Returns a text about an unusual geometry at this kind of joint, or null.
const char* mjgp_geometryWarning(const mjModel* m, const mjgpJoint* joint);

// Warn of gears that do nothing while the motor is off or lock by an assumption
// (mjg_warnAssumed), of instances left behind when their robot is attached elsewhere and,
// with flg_geometry, of unusual geometries.
void mjgp_warnGears(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n, int slot,
                    int flg_geometry);

// Warn in one line of joints or tendons with both a gear and frictionloss, and return 1 if there
// are any.
int mjgp_warnLoss(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n);

#endif  // MJGEAR_PLUGIN_CHECK_H_

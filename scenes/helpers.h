// What scenes use: the parts of a scene, and helpers that several share.

#ifndef SCENES_HELPERS_H_
#define SCENES_HELPERS_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear.h"
#include "scene.h"

// number of elements of an array
#define mjgCOUNT(array) ((int)(sizeof(array) / sizeof *(array)))

//---------------------------------- grids ---------------------------------------------------------

// Scenes in which nothing moves: each step is one point of a grid, and row i of the recording is point i.
// Number of the step that begins at d->time, and of the step that ends there
int mjg_gridPoint(const mjModel* m, const mjData* d);
int mjg_lastGridPoint(const mjModel* m, const mjData* d);

// the i-th of n values from -most to most
double mjg_gridValue(int i, int n, double most);

// friction and next velocity of a problem of one or two gears by enumeration, which shares nothing with the solver that
// the plugin takes by default; a status of the core
int mjg_enumerate(double* t, double* next, const mjgProblem* problem);

// a smooth step from 0 to 1 while x goes from 0 to 1, without velocity and acceleration at its ends
double mjg_ease(double x);

//---------------------------------- contacts and motors -------------------------------------------

// sum of the normal forces between two geoms; null: any
double mjg_contact(const mjModel* m, const mjData* d, const char* geom, const char* other);

// give each joint with a motor this frictionloss and armature; 0: the armature of the file
void mjg_setLoss(mjModel* m, double loss, double armature);

// 1 from a time on until another, both despite round-off
int mjg_within(double time, double from, double to);

// Make motors of all position servos: their controls are torques from then on, their gains are kept for
// mjg_servo.
void mjg_makeMotors(mjModel* m);

// Torque of a servo that mjg_makeMotors has made a motor: towards a goal with its own gains, within its limits.
double mjg_servo(const mjModel* m, const mjData* d, int actuator, double goal);

//---------------------------------- friction that MuJoCo offers by itself -------------------------

// springyield is in the engine from this release on
#define mjgHAS_YIELD (mjVERSION_HEADER >= 4000000)

// constant friction, at the engine's defaults and tuned; the rival of a case is its first parameter
typedef enum mjgRival_ {
  mjgRIVAL_NONE = 0,
  mjgRIVAL_LOSS = 1,          // frictionloss, with the engine's defaults
  mjgRIVAL_SOLIMP = 2,        // frictionloss with solimp .9999, the hardest that the engine takes
  mjgRIVAL_SOLREF = 3,        // with solref of two steps too, its minimum
  mjgRIVAL_YIELD = 4,         // springyield: a spring that yields at the bound, without damping
  mjgRIVAL_YIELD_DAMPED = 5,  // springyield with critical damping
} mjgRival;
#define mjgRIVAL(variant) ((mjgRival)(variant)->parameter[0])

// angle or length at which a spring of mjgRIVAL_YIELD yields, more where it must be softer to be stable
#define mjgYIELD 3e-4

// For the member specify of a scene: if the rival is a yielding spring, let the engine keep the
// state of each hinge and slide that needs it.
void mjg_reserveRival(mjSpec* spec, const mjgCase* variant);

// Give a hinge or slide a friction bound, N m or N, in place of its own.
void mjg_setRival(mjModel* m, int joint, mjgRival rival, double bound);

// Give each joint with a motor a bound: the larger of a floor and `factor` times its load at the
// first state, without contacts. Springs rest at that state.
void mjg_setRivals(mjModel* m, mjgRival rival, double factor, double floor);

#endif  // SCENES_HELPERS_H_

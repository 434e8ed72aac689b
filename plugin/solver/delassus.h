// Linearized steps of a group of constraints and gears, used by all methods.

#ifndef MJGEAR_PLUGIN_DELASSUS_H_
#define MJGEAR_PLUGIN_DELASSUS_H_

#include <mujoco/mujoco.h>

#include "gear/piece.h"
#include "solver/hessian.h"
#include "solver/island.h"
#include "state/gears.h"

typedef struct mjgpStep_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  mjgpGroup* group;
  mjgpInertia* Mhat;
  int made;            // 1: the rows of the integrator are computed
  int n;               // geared joints
  int newton_steps;    // linearizations so far
  int most;            // limit of them: the key maxiter
  int gaps;            // 1: a joint has a gap
  int released;        // 1: static friction is released from the start
  mjtNum* spring;      // null, or compliance and torque of springs behind the gears (2 n)
  mjgpPiece* piece;    // the gears                                          (n)
  mjtNum* a;           // acceleration                                       (nv)
  mjtNum* next;        // target of a Newton step                                   (nv)
  mjtNum* search;      // direction of the inner problem                     (nv)
  mjtNum* gradient;    //                                                    (nv)
  mjtNum* rounding;    // round-off of the gradient                          (nv)
  mjtNum* descent;     // root'^-1 gradient without friction                    (nv)
  mjtNum* right;       // root'^-1 E', a column per joint                       (nv x ld)
  mjtNum* left;        // root'^-1 rows; the same memory as right if rows is null
  mjtNum* rows;        // rows from a to gear acceleration, as columns; null: E (nv x ld)
  mjtNum* forces;      // rows from force to velocity change per second; null: left  (nv x ld)
  int* reduced_state;  // row states of W                                  (nefc)
  int* factored;       // row states of the factors                          (nefc)
  mjtNum* W;           // left' right: effect of friction on acceleration    (n + nextra x ld)
  mjtNum* jar;         // J times the inner problem's direction              (nefc)
  mjtNum* t;           // friction                                           (n)
  mjtNum* target;      // friction of a linearization                        (n)
  mjtNum* acc;         // gear accelerations at s->a, then torques of the rows of
                       // rotor inertia, in whole lanes                 (ld)
} mjgpStep;

// Start from acceleration and friction of the last step: s->a, s->t, group->jar.
void mjgp_startAtLast(mjgpStep* s);

// Compute forces, states and cone Hessians at s->a.
void mjgp_evaluate(mjgpStep* s);

// Compute s->acc at s->a; acc at any a                                               (ld)
void mjgp_accelerations(mjgpStep* s);
void mjgp_accelerationsOf(const mjgpStep* s, mjtNum* acc, const mjtNum* a);

// w, M a on entry, becomes Mhat^-1 M a, the acceleration over the step of trees with gears, and a
// elsewhere; in whole lanes                                                          (nv)
void mjgp_motion(const mjgpStep* s, mjtNum* w, const mjtNum* a);

// acc = E w, and the rows of rotor inertia times w                           (n + nextra)
void mjgp_project(const mjgpStep* s, mjtNum* acc, const mjtNum* w);

// x += rows of E, and the rows of rotor inertia, as columns                     (nv x ld)
void mjgp_addColumns(const mjgpStep* s, mjtNum* x);

// In the structure of M: x = matrix'^-1 x for columns (nv x ld), and x = matrix^-1 x for one vector
// (nv), of all trees or those with gears.
void mjgp_solveColumns(const mjgpGroup* group, const mjModel* m, mjtNum* x, int ld,
                       const mjgpInertia* matrix);
void mjgp_solveDofs(const mjgpStep* s, mjtNum* x, const mjgpInertia* matrix, int flg_geared);

// Returns the torque of other joints' rotor inertia on gear i.
static inline mjtNum mjgp_taken(const mjgpStep* s, const mjtNum* acc, int i) {
  int e = s->group->extra[i];
  return e >= 0 ? acc[s->n + e] : 0;
}

// Returns the torque into the gear of joint i at s->acc.
static inline mjtNum mjgp_torqueIn(const mjgpStep* s, int i) {
  const mjgpGearInput* in = s->g->in.gear + s->group->joint[i];
  return in->tau - in->inertia * s->acc[i] - mjgp_taken(s, s->acc, i);
}

// Returns the effect of joint j's friction on joint i's acceleration, and on the torque into its
// gear, at the linearization.
static inline mjtNum mjgp_delassus(const mjgpStep* s, int i, int j) {
  return s->W[i * s->group->ld + j];
}
static inline mjtNum mjgp_delassusTorque(const mjgpStep* s, int i, int j) {
  int e = s->group->extra[i];
  return s->g->in.gear[s->group->joint[i]].inertia * mjgp_delassus(s, i, j) +
         (e >= 0 ? mjgp_delassus(s, s->n + e, j) : 0);
}

// Returns 1 if the factors, right, left and W were made at group->state.
int mjgp_hasDelassus(const mjgpStep* s);

// Factor H at group->state and make right, left and W, unless they are there. Returns 0 if
// H is singular.
int mjgp_makeDelassus(mjgpStep* s);

// Count a linearization. Returns 0 beyond the limit.
static inline int mjgp_spend(mjgpStep* s) {
  return s->newton_steps++ < s->most;
}

// Make the Delassus matrix and the descent, counted as one linearization.
int mjgp_linearize(mjgpStep* s);

// Compute accelerations of gears and rows of rotor inertia at the linearization without friction,
// and the size of their terms, in whole lanes (ld)
void mjgp_freeAcceleration(mjgpStep* s, mjtNum* a, mjtNum* size);

// x = H^-1 x at the linearization, in whole lanes                                    (nv)
void mjgp_solveHessian(const mjgpStep* s, mjtNum* x);

// Set the velocities to which round-off of results is relative, at the linearization.
void mjgp_setCancellation(mjgpStep* s);

// Add the round-off of the gradient at s->a to the uncertainty of velocity at each joint.
// Overwrites s->rounding.
void mjgp_addRounding(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_DELASSUS_H_

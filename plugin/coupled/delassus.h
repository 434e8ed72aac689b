// Linearized steps of a group of constraints and gears: the pieces that all methods are
// made of.

#ifndef MJGEAR_PLUGIN_DELASSUS_H_
#define MJGEAR_PLUGIN_DELASSUS_H_

#include <mujoco/mujoco.h>

#include "coupled/constraint.h"
#include "coupled/hessian.h"
#include "state/gears.h"

typedef struct mjgpStep_ {
  const mjModel* m;
  mjData* d;
  mjgpGears* g;
  mjgpGroup* group;
  const mjgpInertia* Mhat;
  int made;            // the rows of the integrator are there
  int n;               // geared joints
  int newton_steps;    // linearizations so far
  int gaps;            // there is a gap with backlash among them
  mjtNum* a;           // acceleration                                       (nv)
  mjtNum* next;        // acceleration to which a Newton step leads                 (nv)
  mjtNum* search;      // direction of the inner problem                     (nv)
  mjtNum* gradient;    //                                                    (nv)
  mjtNum* rounding;    // rounding errors in it                              (nv)
  mjtNum* descent;     // root'^-1 gradient without friction                    (nv)
  mjtNum* right;       // root'^-1 E', a column per joint                       (nv x ld)
  mjtNum* left;        // root'^-1 of the rows that give the velocity; may be right
  mjtNum* rows;        // those rows, as columns; null: those of E           (nv x ld)
  mjtNum* forces;      // rows from force to velocity change per second; null: left  (nv x ld)
  int* reduced_state;  // states at which W was made                       (nefc)
  int* factored;       // states that are factored                           (nefc)
  mjtNum* W;           // left' right: effect of friction on acceleration    (n + nextra x ld)
  mjtNum* jar;         // of the inner problem's direction                   (nefc)
  int* state;          // states of a trial                                  (nefc)
  mjtNum* t;           // friction                                           (n)
  mjtNum* target;      // friction that a linearization asks for             (n)
  mjtNum* acc;  // velocity change of the gears per second at s->a, and the torque that the rows of
                // rotor inertia take, in whole lanes                 (ld)
} mjgpStep;

// forces, states and cone Hessians at s->a
void mjgp_evaluate(mjgpStep* s);

// s->acc at s->a, with what lagged constraint forces add; without, for any a         (ld)
void mjgp_accelerations(mjgpStep* s);
void mjgp_accelerationsOf(const mjgpStep* s, mjtNum* acc, const mjtNum* a);

// acc += what lagged constraint forces add to it
static inline void mjgp_addLag(const mjgpStep* s, mjtNum* acc) {
  for (int i = 0; i < s->n && s->g->in.lags; i++) {
    acc[i] += s->g->in.lag[s->group->joint[i]];
  }
}

// w = Mhat^-1 M a: acceleration over the step of trees with gears, in whole lanes    (nv)
void mjgp_motion(const mjgpStep* s, mjtNum* w, const mjtNum* a);

// acc = E w, and the rows of rotor inertia times w                           (n + nextra)
void mjgp_project(const mjgpStep* s, mjtNum* acc, const mjtNum* w);

// x = matrix^-1 x of a matrix with the structure of M: columns, those of gears (a row of
// x has nothing outside of group->from .. to) or others (nv x ld), and one vector, of all
// trees or of those with gears                                                       (nv)
void mjgp_solveColumns(const mjgpGroup* group, const mjModel* m, mjtNum* x, int ld,
                       const mjgpInertia* matrix, int flg_gears);
void mjgp_solveDofs(const mjgpStep* s, mjtNum* x, const mjgpInertia* matrix, int flg_geared);

// torque into the gear of joint i at s->acc
static inline mjtNum mjgp_torqueIn(const mjgpStep* s, int i) {
  int joint = s->group->joint[i], e = s->group->extra[i];
  mjtNum u = s->g->in.tau[joint] - s->g->in.inertia[joint] * s->acc[i];
  return e >= 0 ? u - s->acc[s->n + e] : u;
}

// x += rows of E, and the rows of rotor inertia, as columns                     (nv x ld)
void mjgp_addColumns(const mjgpStep* s, mjtNum* x);

// effect of the friction of joint j on the torque into the gear of joint i, at the
// linearization
mjtNum mjgp_delassusTorque(const mjgpStep* s, int i, int j);

// Returns 1 if the factors, right, left and W are those of group->state.
int mjgp_hasDelassus(const mjgpStep* s);

// Factor H at group->state and make right, left and W, unless they are there. Returns 0 if
// H is singular.
int mjgp_makeDelassus(mjgpStep* s);

// the descent at s->a on the factors that are there
void mjgp_descend(mjgpStep* s);

// one linearization of those that a step has; 0: they are used up
static inline int mjgp_spend(mjgpStep* s) {
  return s->newton_steps++ < mjgpBUDGET;
}

// both, counted
int mjgp_linearize(mjgpStep* s);

// accelerations of the gears and rows of rotor inertia at the linearization without
// friction, and the size of what they are sums of, in whole lanes                    (ld)
void mjgp_freeAcceleration(mjgpStep* s, mjtNum* a, mjtNum* size);

// x = H^-1 x at the linearization, in whole lanes                                    (nv)
void mjgp_solveHessian(const mjgpStep* s, mjtNum* x);

// effect of the friction of joint j on the acceleration of joint i, at the linearization
mjtNum mjgp_delassus(const mjgpStep* s, int i, int j);

// velocities to which rounding errors of results are relative, at the linearization
void mjgp_setCancellation(mjgpStep* s);

// to the velocity of each joint that rounding leaves open, add what the gradient at s->a
// is a sum of: where it was zero up to its rounding errors, the motion is exact up to
// theirs. Takes s->rounding, once
void mjgp_addRounding(mjgpStep* s);

// a = a(t): the engine's convex problem with friction t, solved to rounding and
// linearized there; 0 if not solved
int mjgp_inner(mjgpStep* s, const mjtNum* t);

#endif  // MJGEAR_PLUGIN_DELASSUS_H_

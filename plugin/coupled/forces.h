// The linear system of a step with constraint forces as unknowns (system.h), for an
// integrator with a metric of its own.
//
// The line of a gear on a joint adds its slope to the diagonal of Mhat, the metric of w =
// Mhat^-1 M a: K = Mhat + E' slope E. The change of a stuck joint is known. The forces y
// of the active rows solve
//
//   K dw = r + J' y,   y = -s'' J da,   J da = B dw,   B = J M^-1 Mhat = J (1 + M^-1 diag(h damping))
//
// which is a dense system over the active rows. K factors without fill-in. With few rows
// and many gears this costs a fraction of the matrix of friction.

#ifndef MJGEAR_PLUGIN_FORCES_H_
#define MJGEAR_PLUGIN_FORCES_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "friction/piece.h"

typedef struct mjgpForces_ {
  mjgpStep* s;
  int n;             // rows that act
  int lanes;         // row stride of X and S
  int nv;            // row stride of B
  int* row;          // which                                                (nefc)
  int* cone;         // number of the elliptic contact sliding there, -1: none (nefc)
  int* held;         // 1: the change of dw is known                         (nv)
  int* below;        // 1: the change at an ancestor is known                (nv)
  mjtNum* slope;     // diagonal of Mhat - M                                 (nv)
  mjtNum* pivot;     // inverse pivots of K, for each dof of the model
  mjtNum* B;         // J Mhat M^-1                                          (nefc x nv, in lanes)
  int ld;            // row stride of free
  mjtNum* free;      // M^-1 J'                                              (nv x ld)
  mjtNum* X;         // K^-1 J' of the active rows                           (nv x lanes)
  mjtNum* S;         // factors of 1 + s'' B K^-1 J'                         (n x lanes)
  mjtNum* scale;     // scale of the equations with S                        (n)
  mjtNum* y;         // right side and solution                              (n)
  mjtNum* dw;        // right side and solution                              (nv)
  mjgpInertia K, M;  // factors of K and M
  int* exchanged;    // pivots of S                                          (n)
} mjgpForces;

// Returns 1 if this form applies. Gears act on joints, without rows of rotor inertia; the
// two metrics differ on the diagonal alone; and rows are few enough to cost less than the
// matrix of friction.
int mjgp_hasForces(const mjgpStep* s);

// Allocate on d's stack, and compute quantities that are constant in a step.
void mjgp_makeForces(mjgpForces* f, mjgpStep* s);

// Factor with the lines of the pieces and the active rows at group->state. Returns 0 if
// it is singular.
int mjgp_factorForces(mjgpForces* f, const mjgpPiece* piece);

// Compute the change da of the acceleration with the present factors.
void mjgp_solveForces(mjgpForces* f, const mjgpPiece* piece, const mjtNum* gradient, mjtNum* da);

// Compute W, the effect of a unit of friction on the acceleration of each of n gears,
// with the rows active at group->state. Returns 0 if the system is singular. Overwrites
// the factors
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W);

#endif  // MJGEAR_PLUGIN_FORCES_H_

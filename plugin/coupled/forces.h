// The linear system of a step with the constraint forces as unknowns (system.h), where
// the integrator has another metric.
//
// Lines of gears on joints are entries on the diagonal of Mhat, the metric of w = Mhat^-1 M a: K
// = Mhat + E' slope E, with a known change of stuck joints. Acting rows have forces y,
//
//   K dw = r + J' y,   y = -s'' J da,   J da = B dw,   B = J M^-1 Mhat = J (1 + M^-1 diag(h damping))
//
// a dense system of the acting rows. K factors without fill-in; for few rows and many gears this
// costs a fraction of the matrix of friction.

#ifndef MJGEAR_PLUGIN_FORCES_H_
#define MJGEAR_PLUGIN_FORCES_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "friction/piece.h"

typedef struct mjgpForces_ {
  mjgpStep* s;
  int n;             // rows that act
  int lanes;         // numbers that rows of X and S are apart
  int nv;            // those of B
  int* row;          // which                                                (nefc)
  int* cone;         // number of the elliptic contact that slides there, -1: none  (nefc)
  int* held;         // is the change of dw known                            (nv)
  int* below;        // that of an ancestor                                  (nv)
  mjtNum* slope;     // diagonal of Mhat - M                                 (nv)
  mjtNum* pivot;     // inverse pivots of K, of each dof of the model
  mjtNum* B;         // J Mhat M^-1                                          (nefc x nv, in lanes)
  int ld;            // numbers that rows of free are apart
  mjtNum* free;      // M^-1 J'                                              (nv x ld)
  mjtNum* X;         // K^-1 J' of rows that act                             (nv x lanes)
  mjtNum* S;         // factors of 1 + s'' B K^-1 J'                         (n x lanes)
  mjtNum* scale;     // of its equations                                     (n)
  mjtNum* y;         // right side and solution                              (n)
  mjtNum* dw;        // right side and solution                              (nv)
  mjgpInertia K, M;  // their factors
  int* exchanged;    // pivots of S                                          (n)
} mjgpForces;

// Returns 1 if this form applies: gears on joints, two metrics that differ on the diagonal, no
// rows of rotor inertia, and fewer rows than the matrix of friction would cost.
int mjgp_hasForces(const mjgpStep* s);

// Allocate on d's stack, and compute what is constant in a step.
void mjgp_makeForces(mjgpForces* f, mjgpStep* s);

// Factor with the lines of the pieces and the acting rows at group->state. Returns 0 if it is
// singular.
int mjgp_factorForces(mjgpForces* f, const mjgpPiece* piece);

// Compute the change of a by the present factors.
void mjgp_solveForces(mjgpForces* f, const mjgpPiece* piece, const mjtNum* gradient, mjtNum* da);

// Returns 1 and W, the effect of a unit of friction on the acceleration of each of n gears
// with the rows that act at group->state, or 0 if the system is singular. The factors that
// were there are lost
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W);

#endif  // MJGEAR_PLUGIN_FORCES_H_

// The linear system of a step with the constraint forces as unknowns (system.h), where
// the integrator has another metric.
//
// The lines of gears on joints are entries on the diagonal of Mhat, which the
// acceleration over the step w = Mhat^-1 M a moves in: K = Mhat + E' slope E, with a
// known change where a gear is stuck. Rows that act then take y,
//
//   K dw = r + J' y,   y = -s'' J da,   J da = B dw,   B = J M^-1 Mhat = J (1 + M^-1 diag(h damping))
//
// which is a dense system of as many unknowns as rows act. K has the structure of M: no
// fill-in, and a few rows beside the many gears of a robot cost a fraction of the matrix
// of their friction.

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

// can it be: gears on joints, two metrics that differ on the diagonal, rotor inertia
// without rows beside it, fewer rows than the matrix of friction would cost
int mjgp_hasForces(const mjgpStep* s);

// memory, and what does not change over a step, on d's stack
void mjgp_makeForces(mjgpForces* f, mjgpStep* s);

// factors with the lines of the pieces and the rows that act at group->state; 0 if it is
// singular
int mjgp_factorForces(mjgpForces* f, const mjgpPiece* piece);

// change of a, on the factors that are there
void mjgp_solveForces(mjgpForces* f, const mjgpPiece* piece, const mjtNum* gradient, mjtNum* da);

// Returns 1 and W, the effect of a unit of friction on the acceleration of each of n gears
// with the rows that act at group->state, or 0 if the system is singular. The factors that
// were there are lost
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W);

#endif  // MJGEAR_PLUGIN_FORCES_H_

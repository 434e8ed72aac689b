// The first try of a step: Newton with the forces of the active rows as unknowns.
//
// The integrator moves with w, the constraint solver with a. Their metrics Mhat and M differ on the
// diagonal. For rows in their states and gears on their lines, t = t0 + slope w,
//
//   K w = b - E' t0 + J' f,      K = Mhat + E' slope E
//   f = f0 - s'' (J a - jar0),   a = w + M^-1 (Mhat - M) w
//
// w of a stuck joint is known. K factors without fill-in, and the forces of the active rows solve
// a dense system. Full steps follow until no row and no gear changes: most groups need one.
// Newton on the accelerations (newton.h) continues where this ends.

#ifndef MJGEAR_PLUGIN_FORCES_H_
#define MJGEAR_PLUGIN_FORCES_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "friction/piece.h"

typedef struct mjgpForces_ {
  mjgpStep* s;
  mjgpPiece* piece;  // of the gears                                         (n)
  int monotone;      // 1: no gear's friction decreases with its acceleration
  int special;       // 1: a gear is self-locking or has static friction
  mjtNum size;       // largest force on a gear without constraints
  mjtNum* slope;     // diagonal of Mhat - M                                 (nv)
  mjtNum* w;         // acceleration of the integrator                       (nv)
  mjtNum* balance;   // b + J' f - Mhat w                                    (nv)
  mjtNum* terms;     // size of its terms                                    (nv)
  mjtNum* last;      // forces of the last step                              (nefc)
  int* state;        // row states of the system                             (nefc)

  // the system
  int n;             // active rows
  int lanes;         // row stride of X, Z and S
  int* row;          // which                                                (nefc)
  int* cone;         // number of the elliptic contact sliding there, -1: none (nefc)
  int* held;         // 1: w is known                                        (nv)
  int* below;        // 1: w of an ancestor is known                         (nv)
  mjtNum* pivot;     // inverse pivots of K, for each dof of the model
  mjtNum* X;         // K^-1 J' of the active rows                           (nv x lanes)
  mjtNum* Z;         // (1 + M^-1 (Mhat - M)) X                              (nv x lanes)
  mjtNum* S;         // factors of R + J Z, and of 1 + s'' J Z for a cone    (n x lanes)
  mjtNum* scale;     // scale of its equations                               (n)
  mjtNum* y;         // right side and forces                                (n)
  mjgpInertia K, M;  // factors of K and M
  int* exchanged;    // pivots of S                                          (n)

  // self-locking gears that may be on another branch
  int* asked;   // which                                                     (n)
  mjtNum* own;  // effect of their friction on their acceleration            (n)
} mjgpForces;

// Returns 1 if the form applies: gears on joints without gaps or rows of rotor inertia, two metrics
// that differ on the diagonal alone, and few rows. In one metric H with the lines costs as little.
int mjgp_hasForces(const mjgpStep* s);

// Allocate on d's stack, set w at s->a, and start the pieces.
void mjgp_makeForces(mjgpForces* f, mjgpStep* s);

// Solve with the lines of the pieces and the rows at group->state: w, s->a, group->jar and the
// forces. Returns 0 if the system is singular.
int mjgp_stepForces(mjgpForces* f);

// Compute W, the effect of a unit of friction on the acceleration of each of n gears, with the
// rows active at group->state. Returns 0 if the system is singular. Overwrites the factors.
int mjgp_forceEffects(mjgpForces* f, const int* gear, int n, mjtNum* W);

// Solve from s->a and the pieces of the last step; results in s->g, s->a, s->t. Returns 1 if
// solved; else s->a and the pieces are those of the last iteration.
int mjgp_solveForces(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_FORCES_H_

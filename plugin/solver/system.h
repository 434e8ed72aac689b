// The linear system of one step of Newton: constraints in their states, gears on their
// pieces.
//
//   H a + E' t = force,   acc = R a
//
// H = M + J' s'' J is the metric of the constraint solver with the active rows. R is E,
// or E Mhat^-1 M if the integrator has its own metric Mhat. A slipping gear has a line t
// = t0 + slope acc - rate x; the acceleration of a stuck one is known (piece.h).
//
// H is eliminated first, and friction remains as unknown. Its matrix is the Delassus matrix R H^-1 E'
// plus the lines of the gears, one row and column a gear. (Blocks of 2 x 2 along the kinematic tree
// fill in with the tree's depth; for a humanoid they cost nearly twice as much; doc/theory.md.)

#ifndef MJGEAR_PLUGIN_SYSTEM_H_
#define MJGEAR_PLUGIN_SYSTEM_H_

#include <mujoco/mujoco.h>

#include "gear/piece.h"
#include "gear/tolerances.h"
#include "solver/delassus.h"

typedef struct mjgpSystem_ {
  mjgpStep* s;
  int factored;   // 1: the system is factored
  int sign;       // sign of the determinant
  mjtNum* x;      // right side and solution, in whole lanes                        (nv)
  mjtNum* G;      // factors of the matrix of friction                          (n x n, in lanes)
  mjtNum* y;      // right side and solution                                    (n)
  mjtNum* scale;  // scale of the unknowns                                      (n)
  mjtNum* by;     // scale of the equations                                     (n)
  int* pivot;     //                                                            (n)
  mjtNum* free;   // accelerations of gears and rows without friction           (ld)
} mjgpSystem;

// Allocate on d's stack.
void mjgp_makeSystem(mjgpSystem* system, mjgpStep* s);

// Factor the system with the lines of the pieces at group->state. Returns 0 if it is singular
int mjgp_updateSystem(mjgpSystem* system, const mjgpPiece* piece);

// Solve for a Newton step from s->a and s->acc, on the lines of the pieces at this point.
// gradient: gradient of the engine's problem at s->a without friction (nv). flg_factor: 1
// factors at group->state with these pieces, 0 uses the existing factors. da: change of a
// (nv); t: friction of the gears (n). Returns 0 if the system is
// singular
int mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* t);

// Block Gauss-Seidel over the gears at the linearization, until none changes its branch: updates
// friction t and the accelerations acc                                         (n, n + nextra)
void mjgp_sweepGears(mjgpStep* s, mjtNum* t, mjtNum* acc);

// Move self-locking gears at a solution to the branch that is connected to rest, all others given;
// s->W is that of the rows' states. Returns the number of moved gears
int mjgp_toRestBranch(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_SYSTEM_H_

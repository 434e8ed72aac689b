// The linear system of one step of Newton: constraints in their states, gears on their pieces.
//
//   H a + E' t = force,   -K a + Mhat z = 0,   acc = E (a - z)
//
// H = M + J' s'' J is the metric of the constraint solver with the rows that act, Mhat = M + K that of the
// integrator. Where these are one metric z is zero and not there. A gear that keeps its piece has a line
// t = t0 + slope acc, an entry beside the diagonal of H, or a known acceleration, which takes the place of the row
// of its dof. A gear on a tendon has t as an unknown of its own, eliminated behind its dofs.
//
// Unknowns are ordered from the leaves of the kinematic tree to its root, a dof's z behind its a, and
// eliminated without pivoting. If nothing but joints of one metric have gears the system is symmetric, has
// the pattern of H, and is factored as L D L' in its place; else as L U, with the same loops over two triangles.

#ifndef MJGEAR_PLUGIN_SYSTEM_H_
#define MJGEAR_PLUGIN_SYSTEM_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "friction/piece.h"

typedef struct mjgpSystem_ {
  mjgpStep* s;
  int symmetric;    // factored as L D L' in the place of H
  int size;         // unknowns
  int sign;         // of the determinant
  int *a, *z;       // place of each dof's a and z, z: -1 none                          (nv)
  int* t;           // place of each gear's t, -1: none                                 (n)
  int* parent;      // elimination tree                                                 (size)
  int* last;        // last column of each row                                          (size)
  size_t* adr;      // adr[i] + j: address of entry ij                                  (size)
  mjtNum *U, *L;    // rows of the upper triangle, columns of the lower; U = L if symmetric
  size_t nU;        // entries of each
  mjtNum* inverse;  // of the pivots, in whole lanes                                    (size)
  mjtNum* x;        // right side and solution, in whole lanes                          (size)
  const mjgpInertia* Mhat;

  // of a general system: what has changed since the matrix was factored
  int factored;      // there are factors to which changes may be made
  int nchange;       // gears and rows that changed, or did before
  int* which;        // gears, and rows behind them                                (mjgpCHANGES)
  mjgpPiece* piece;  // lines that are factored                                    (n)
  int* state;        // states of rows that are                                    (nefc)
  mjtNum*
      column;  // what a unit in each of the changed equations does          (mjgpCHANGES x size)
  mjtNum* inverse_of_changes;  //                                                  (mjgpCHANGES^2)
  int factored_sign;
  const mjgpPiece* now;  // lines with the changes                                 (n)
} mjgpSystem;

// pattern and memory on d's stack. flg_general: not in the place of H, for several right sides
void mjgp_makeSystem(mjgpSystem* system, mjgpStep* s, const mjgpPiece* piece, int flg_general);

// Take up the lines of the pieces and group->state in a general system: few changes by Woodbury's formula, else the matrix is
// factored anew. Returns 0 if it is singular
int mjgp_updateSystem(mjgpSystem* system, const mjgpPiece* piece);

// A step of Newton from s->a and s->acc on the lines of the pieces there. gradient: of the engine's problem at s->a
// without friction (nv). flg_factor: at group->state and with these pieces; 0: the factors that are there, of
// a system that is not symmetric. da: change of a (nv); dz (nullable): change of z (nv); t: friction of gears on
// tendons (n). Returns 0 if a pivot is zero
int mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* dz, mjtNum* t);

#endif  // MJGEAR_PLUGIN_SYSTEM_H_

// The linear system of one step of Newton: constraints in their states, gears on their
// pieces.
//
//   H a + E' t = force,   acc = R a
//
// H = M + J' s'' J is the metric of the constraint solver with the rows that act; R = E,
// or E Mhat^-1 M where the integrator has another metric. A gear that keeps its piece has
// a line t = t0 + slope acc - rate x, or its acceleration is known (piece.h).
//
// One system behind one interface, in three representations. Where metrics are one and
// gears act on joints, the line of a gear is an entry on the diagonal of H, a known
// acceleration a known unknown, and all is factored as L D L' in the place of H. Where
// metrics are two the same is done in the place of Mhat, and the forces of the rows that
// act are what is left (forces.h): it costs as much as there are rows. Where rows are
// more than gears, or gears on tendons reach several joints, H is eliminated first, and
// friction is what is left: its matrix is the Delassus matrix R H^-1 E' with the lines of
// the gears, a row and a column each; self-locking gears whose first step is not the last
// one go on like this, too. (2 x 2 blocks along the kinematic tree fill in with
// its depth in both halves, and cost a humanoid nearly twice as much as the last;
// doc/theory.md.)

#ifndef MJGEAR_PLUGIN_SYSTEM_H_
#define MJGEAR_PLUGIN_SYSTEM_H_

#include <mujoco/mujoco.h>

#include "coupled/delassus.h"
#include "coupled/forces.h"
#include "friction/piece.h"
#include "friction/tolerances.h"

typedef enum mjgpUnknown_ {
  mjgpUNKNOWN_MOTION,  // accelerations alone: friction from the torque balance
  mjgpUNKNOWN_FORCES,  // constraint forces: the same
  mjgpUNKNOWN_FRICTION
} mjgpUnknown;

typedef struct mjgpSystem_ {
  mjgpStep* s;
  mjgpUnknown unknown;
  mjgpForces forces;
  int factored;  // there are factors
  int sign;      // of the determinant
  mjtNum* x;     // right side and solution, in whole lanes                        (nv)

  // friction as unknown
  mjtNum* G;      // factors of the matrix of friction                          (n x n, in lanes)
  mjtNum* y;      // right side and solution                                    (n)
  mjtNum* scale;  // of the unknowns                                            (n)
  mjtNum* by;     // of the equations                                           (n)
  int* pivot;     //                                                            (n)
  mjtNum* free;   // accelerations of gears and rows without friction           (ld)
} mjgpSystem;

// memory on d's stack. flg_general: friction is unknown whatever the gears, for several
// right sides
void mjgp_makeSystem(mjgpSystem* system, mjgpStep* s, const mjgpPiece* piece, int flg_general);

// Factor the system for the lines of the pieces and group->state, where friction is
// unknown. Returns 0 if the system is singular
int mjgp_updateSystem(mjgpSystem* system, const mjgpPiece* piece);

// A step of Newton from s->a and s->acc on the lines of the pieces there. gradient: of
// the engine's problem at s->a without friction (nv). flg_factor: at group->state and
// with these pieces; 0: the factors that are there. da: change of a (nv); t: friction of
// the gears, where it is unknown (n). Returns 0 if the system is singular
int mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* t);

// about the effect of a force at dof k of the group on its acceleration; 0: not known,
// friction is unknown
static inline mjtNum mjgp_effectOf(const mjgpSystem* system, int k) {
  const mjgpGroup* group = system->s->group;
  return system->unknown == mjgpUNKNOWN_MOTION   ? group->inverse[k]
         : system->unknown == mjgpUNKNOWN_FORCES ? system->forces.pivot[group->dof[k]]
                                                 : 0;
}

// Returns 1 and W, the effect of a unit of friction on the acceleration of each of n gears
// at group->state, or 0 if the system is singular
int mjgp_ownEffects(mjgpSystem* system, const int* gear, int n, mjtNum* W);

// s->acc after that step of s->a
void mjgp_stepAccelerations(const mjgpSystem* system);

#endif  // MJGEAR_PLUGIN_SYSTEM_H_

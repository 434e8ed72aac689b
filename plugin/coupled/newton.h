// Newton on the states of constraints and the pieces of gears at once: the method that
// solves nearly every step.

#ifndef MJGEAR_PLUGIN_NEWTON_H_
#define MJGEAR_PLUGIN_NEWTON_H_

#include <stdint.h>

#include "coupled/delassus.h"
#include "coupled/system.h"
#include "friction/piece.h"

typedef struct mjgpNewton_ {
  mjgpStep* s;
  mjgpSystem system;
  mjgpPiece* piece;  // (n)
  mjtNum* t;         // friction                                                  (n)
  mjtNum* w;         // scratch                                                   (nv)
  mjtNum* balance;   // torque that is left for gears                             (nv)
  mjtNum* smooth;    // M a - b at s->a, and at the start of a step               (2 nv)
  mjtNum* before;
  mjtNum* from;  // J a - aref at the start of a step                         (nefc)
  mjtNum* row;   // its change                                                (nefc)
  mjtNum* f;     // constraint forces at the start of a step                  (nefc)
  mjtNum* acc;   // s->acc at the start of a step, and its change             (2 ld)
  mjtNum* dacc;
  mjtNum size;   // largest force that acts on a gear without constraints
  int monotone;  // no gear has less friction where it accelerates more
  int whole;     // the cost is convex, gears included
} mjgpNewton;

// memory and pieces, on d's stack, at the acceleration in s->a
void mjgp_makeNewton(mjgpNewton* p, mjgpStep* s);

// torque that rotor inertia of other joints takes from gear i
static inline mjtNum mjgp_taken(const mjgpStep* s, const mjtNum* acc, int i) {
  int e = s->group->extra[i];
  return e >= 0 ? acc[s->n + e] : 0;
}

// the combination of states and pieces that there is, as a number that two do not share
// but by chance, one in 2^64 (Fowler, Noll, Vo)
uint64_t mjgp_hashActiveSet(const mjgpNewton* p);

// Solve from s->a, the states in group->state and the pieces in s->g; results in s->g,
// s->a, s->t. flg_connect: go to the branch that is connected to rest. Returns 1 if the
// step is solved
int mjgp_iterate(mjgpNewton* p, int flg_connect);

// Each gear alone answers in turn what all others leave it (Gauss, Seidel) at the
// linearization: p->t and acc, the accelerations with it. Returns the number that change
// their pieces
int mjgp_sweepGears(mjgpNewton* p, mjtNum* acc);

// gears that break away at this solution; returns their number
int mjgp_releasePieces(mjgpNewton* p);

// the same from the acceleration and the pieces of the last step
int mjgp_newton(mjgpNewton* p);

#endif  // MJGEAR_PLUGIN_NEWTON_H_

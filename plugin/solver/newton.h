// Newton on the active set, states of constraints and branches of gears: solves nearly every step.

#ifndef MJGEAR_PLUGIN_NEWTON_H_
#define MJGEAR_PLUGIN_NEWTON_H_

#include "gear/piece.h"
#include "solver/delassus.h"
#include "solver/system.h"

typedef struct mjgpNewton_ {
  mjgpStep* s;
  mjgpSystem system;
  mjgpShaft* shaft;  // two a gear with a gap
  int nshaft;
  mjtNum* w;       // scratch                                                   (nv)
  mjtNum* smooth;  // M a - b at s->a, and at the start of a step               (2 nv)
  mjtNum* before;
  mjtNum* from;  // J a - aref at the start of a step                         (nefc)
  mjtNum* row;   // its change                                                (nefc)
  mjtNum* acc;   // s->acc at the start of a step, and its change             (2 ld)
  mjtNum* dacc;
  mjtNum size;   // largest force on a gear without constraints
  int monotone;  // 1: no gear's friction decreases with its acceleration
  int whole;     // 1: the cost is convex, gears included
} mjgpNewton;

// Allocate on d's stack, and start the gears at s->a from the branches in s->g.
void mjgp_makeNewton(mjgpNewton* p, mjgpStep* s);

// Solve from s->a, the states in group->state and the branches in s->piece; results in s->g,
// s->a, s->t. flg_connect: go to the branch that is connected to rest. Returns 1 if the
// step is solved
int mjgp_iterate(mjgpNewton* p, int flg_connect);

// mjgp_iterate from the row states of the last step, or with 0 of s->a.
int mjgp_newton(mjgpNewton* p, int flg_start);

#endif  // MJGEAR_PLUGIN_NEWTON_H_

// A gear on one piece of its law: its friction as a line over its own acceleration.
//
// While a gear keeps its piece its friction is linear in the acceleration acc of its joint,
//
//   t = t0 + slope (acc - acc0) - rate (x - x0)
//
// or acc is known, and t is whatever that takes (a joint that is stuck). x is the torque that rotor
// inertia of other joints takes (row S beside its diagonal). A gear that slips, one that yields before
// it slips, and a rotor behind a gap all have such lines. This is the one place that knows which gear
// a joint has; Newton (newton.c) and the linear system (system.h) see lines only.

#ifndef MJGEAR_PLUGIN_PIECE_H_
#define MJGEAR_PLUGIN_PIECE_H_

#include <mujoco/mujoco.h>

#include "friction/bound.h"
#include "friction/shafts.h"
#include "state/gears.h"

typedef struct mjgpPiece_ {
  int joint;         // number in mjgpGears
  int held;          // 1: stuck, its acceleration is target
  int released;      // 1: broke away from its static bound in this step
  int monotone;      // 1: its friction never falls where its acceleration grows
  int turned;        // 1: it slips where friction meets its bound from above
  mjtNum up, down;   // static ratio in either direction
  mjtNum brake[2];   // torque of its brake, backward and forward
  mjtNum target;     // acceleration that stops it
  mjtNum t;          // friction at the point of the line, times weight
  mjtNum slope;      // dt/dacc, times weight
  mjtNum rate;       // -dt/dx, times weight
  mjtNum weight;     // 1; less where friction and its bound are nearly parallel
  mjgpShaft* shaft;  // rotor behind a gap, and room for a second; null: none
  int jumps;         // 1: at a jump of its torque, between shaft[0] and shaft[1]
  int known;         // 1: its answer to all others is known,
  int answer;        // and on this piece of the law
} mjgpPiece;

// factor on the bound in direction s = -1, 1
static inline mjtNum mjgp_ratioOf(const mjgpPiece* piece, int s) {
  return piece->released ? 1 : s > 0 ? piece->up : piece->down;
}

// bound of its friction in direction s
mjgpBound mjgp_boundOfPiece(const mjgpPiece* piece, const mjgpGears* g, int s);

// can gear i be solved as lines: not so gaps between two joints, laws of gaps that depend on the line of the joint, and
// gaps with gears that lock, stick or yield
int mjgp_isLinear(const mjgpGears* g, int i);

// the piece of the last step, from g->out; acc: acceleration, for gaps; shaft: room for two
void mjgp_startPiece(mjgpPiece* piece, const mjgpGears* g, const mjModel* m, int i, mjtNum acc,
                     mjgpShaft* shaft);

// friction of a shaft that is at a jump: 0 between its sides, 1 beyond that of shaft[1], -1 of shaft[0]; and to that side
int mjgp_jumpSide(const mjgpPiece* piece, mjtNum t);
void mjgp_leaveJump(mjgpPiece* piece, int side);

// has gear i a piece on which friction and its bound are nearly parallel, so that its acceleration does not tell friction
int mjgp_isParallel(const mjgpPiece* piece, const mjgpGears* g);

// the line of the piece in g->out at acc and x; returns 0 if friction is not a function of acc on it (weight)
int mjgp_linePiece(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x);

// Compare the piece with what came out of it at acc and x, and go on to the next one in g->out. t: friction there, of a
// stuck joint what balances. size: of the torques that balance at the joints. Results in g->out: t, u, lambda, v_next,
// mode, load. Returns 1 if the piece changed
int mjgp_nextPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x, mjtNum t,
                   mjtNum size);

// Static friction. A gear that slips on its static bound where the step is solved breaks away: returns 1, and the step is
// solved again with its sliding bound. Not before: on the way to a solution a gear may slip that holds there
int mjgp_releasePiece(mjgpPiece* piece, const mjgpGears* g);

// may the gear have several solutions where its joint alone is looked at
int mjgp_isLocking(const mjgpPiece* piece, const mjgpGears* g);

// The jamming rule: a gear that locks is on the branch of its law that is connected to rest, the friction of all others
// given (44). A unit of its friction takes W of its acceleration and R of the torque into it. Sets P_ii in g->out. If the gear is on
// another branch it goes to the piece of this one in g->out; returns 1 then
int mjgp_connectPiece(const mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum W, mjtNum R);

// Friction that the gear answers with where all others keep theirs (44), at acc and x where t balances; W, R as above. Its
// piece is kept. A gear that moves against its own friction (W < 0), and a shaft, have none: t
mjtNum mjgp_answerPiece(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum W, mjtNum R,
                        mjtNum acc, mjtNum x, mjtNum t);

// to that piece, in g->out
void mjgp_takeAnswer(const mjgpPiece* piece, mjgpGears* g);

// friction of a monotone gear at acc, whatever its piece. Where it stands: t if the piece in g->out is that it is stuck
mjtNum mjgp_frictionAt(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x,
                       mjtNum t);

// the piece of a monotone gear at acc, between low and high
void mjgp_setPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum low, mjtNum acc, mjtNum high,
                   mjtNum x);

#endif  // MJGEAR_PLUGIN_PIECE_H_

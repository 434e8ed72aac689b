// A gear on one piece of its law: its friction as a line over its own acceleration.
//
// While a gear keeps its piece its friction is linear in the acceleration acc of its
// joint,
//
//   t = t0 + slope (acc - acc0) - rate (x - x0)
//
// or acc is known and t balances it (a stuck joint). x is the torque of rotor inertia due to
// other joints (row S without its diagonal). Slipping gears, pre-sliding gears and rotors behind
// gaps all have such lines; Newton (newton.c) and the linear system (system.h) see lines only.

#ifndef MJGEAR_PLUGIN_PIECE_H_
#define MJGEAR_PLUGIN_PIECE_H_

#include <mujoco/mujoco.h>

#include "gear/bound.h"
#include "gear/friction.h"
#include "gear/shafts.h"
#include "gear/tolerances.h"
#include "law/law.h"
#include "state/gears.h"

typedef struct mjgpPiece_ {
  int joint;           // number in mjgpGears
  int held;            // 1: stuck, its acceleration is target
  int released;        // 1: released from its static bound in this step
  int monotone;        // 1: its friction never decreases as its acceleration grows
  int kept;            // 1: its line is unchanged since the last iteration (tree.c)
  int turned;          // 1: it slips where friction meets its bound from above
  mjgpBound bound[2];  // bounds of friction backward and forward, before its release
  mjtNum ratio[2];     // static ratio backward and forward
  mjtNum brake[2];     // torque of its brake backward and forward
  mjtNum target;       // acceleration that stops it
  mjtNum acc, x;       // the point of the line
  mjtNum t;            // friction there, times weight
  mjtNum slope;        // dt/dacc, times weight
  mjtNum rate;         // -dt/dx, times weight
  mjtNum weight;       // 1; less where friction and its bound are nearly parallel
  mjgpShaft* shaft;    // rotor behind a gap, and room for a second; null: none
  int jumps;           // 1: at a jump of its torque, between shaft[0] and shaft[1]
} mjgpPiece;


//---------------------------------- start ---------------------------------------------------------

// Sets the bounds of the piece; called again where the Coulomb friction of its gear changes (path.c)
static inline void mjgp_setBounds(mjgpPiece* piece, const mjgpGears* g) {
  for (int k = 0; k < 2; k++) {
    piece->bound[k] =
        mjgp_makeBound(&g->in, piece->joint, 2 * k - 1, piece->ratio[k], piece->brake[k]);
  }
}

// Set the bounds of a gear with static friction or a brake.
void mjgp_startOther(mjgpPiece* piece, const mjgpGears* g);

// Start from the piece of the last step in g->out. acc: acceleration, for gaps; shaft: room for
// two.
static inline void mjgp_startPiece(mjgpPiece* piece, const mjgpGears* g, const mjModel* m, int i,
                                   mjtNum acc, mjgpShaft* shaft) {
  const mjgpInput* in = &g->in;
  int gap = g->config->gaps && mjgp_hasGap(g->config->joint + i);

  // mjgp_linePiece sets the rest; clearing it would cost more
  piece->joint = i;
  piece->shaft = gap ? shaft : NULL;
  piece->released = piece->jumps = 0;
  piece->monotone = !in->rows || !in->row[i];
  if (!in->ordinary[i] && (in->braked[i] || in->static_ratio[i] != 1)) {
    mjgp_startOther(piece, g);
  } else {
    piece->bound[0] = piece->bound[1] = (mjgpBound){1, in->coulomb[i], 0};
    piece->ratio[0] = piece->ratio[1] = 1;
    piece->brake[0] = piece->brake[1] = 0;
    piece->monotone &= in->ordinary[i] || (mjgp_isDriven(in, i) && in->compliance[i] == 0);
  }
  if (gap) {
    mjgp_makeShaft(shaft, g, m, i, acc);
  }
}

// Returns the bound of its friction in direction s.
static inline mjgpBound mjgp_boundOfPiece(const mjgpPiece* piece, const mjgpGears* g, int s) {
  return piece->released ? mjgp_boundOf(&g->in, piece->joint, s, 1) : piece->bound[s > 0];
}


//---------------------------------- line ----------------------------------------------------------

// The same for a joint behind a gap.
void mjgp_lineShaft(mjgpPiece* piece, mjtNum acc, mjtNum x);

// Make the line of the piece in g->out at acc and x. Returns 0 if friction on this piece
// is not a function of acc (weight).
static inline int mjgp_linePiece(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc,
                                 mjtNum x) {
  const mjgpInput* in = &g->in;
  int i = piece->joint, mode = g->out.mode[i];
  piece->acc = acc;
  piece->x = x;
  piece->weight = 1;
  piece->held = piece->turned = 0;
  if (piece->shaft) {
    mjgp_lineShaft(piece, acc, x);
    return 1;
  }
  if (!mode) {
    piece->rate = 0;
    if (in->compliance[i] > 0) {
      piece->slope = h / in->compliance[i];
      piece->t = in->t_last[i] + (in->v[i] + h * acc) / in->compliance[i];
    } else {
      piece->held = 1;
      piece->target = -in->v[i] / h;
      piece->slope = piece->t = 0;
    }
    return 1;
  }

  // t = f lambda + offset with lambda = (gamma_u + gamma_v) u - gamma_v t
  mjtNum offset, gamma_v = in->gamma_v[i];
  mjgpBound bound = mjgp_boundOfPiece(piece, g, mode);
  mjtNum f = mjgi_lawRow(&offset, mjgi_piece(mode, g->out.load[i] > 0), bound.c, bound.r, bound.r);
  offset += f * bound.shift;
  mjtNum own = 1 + f * gamma_v;
  if (mju_abs(own) < mjgpSAME) {
    piece->weight = own;
    own = 1;
  }
  piece->turned = own < 0;
  piece->rate = f * (in->gamma_u[i] + gamma_v) / own;
  piece->slope = -piece->rate * in->inertia[i];
  piece->t = piece->rate * (in->tau[i] - in->inertia[i] * acc - x) + offset / own;
  return piece->weight == 1;
}


// Returns friction on the line.
static inline mjtNum mjgp_onLine(const mjgpPiece* piece, mjtNum acc, mjtNum x) {
  return piece->t + piece->slope * (acc - piece->acc) - piece->rate * (x - piece->x);
}


//---------------------------------- next piece ----------------------------------------------------

// The same for a joint behind a gap.
int mjgp_nextShaft(mjgpPiece* piece, mjgpGears* g, mjtNum acc, mjtNum x, mjtNum t, mjtNum size);

// Check the piece at acc and x, and set the next one in g->out. t: friction on the line,
// or torque balance of a stuck joint. size: size of the torques at the joints. Results in
// g->out: t, u, lambda, v_next, mode, load. Returns 1 if the piece changed
static inline int mjgp_nextPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x,
                                 mjtNum t, mjtNum size) {
  if (piece->shaft) {
    return mjgp_nextShaft(piece, g, acc, x, t, size);
  }
  const mjgpInput* in = &g->in;
  mjgpResult* out = &g->out;
  int i = piece->joint, mode = out->mode[i];
  mjtNum u = in->tau[i] - in->inertia[i] * acc - x;
  mjtNum lambda = mjgi_lawLoad(in->gamma_u[i], in->gamma_v[i], u, t);
  mjtNum v = in->v[i] + h * acc, slip = mjgp_slip(g, i, v, t);
  mjgpBound bound = mjgp_boundOfPiece(piece, g, mode ? mode : t > 0 ? 1 : -1);
  mjtNum load = lambda + bound.shift, most = mjgi_lawBound(load, bound.c, bound.r);
  out->u[i] = u;
  out->lambda[i] = lambda;
  out->v_next[i] = piece->held ? 0 : v;

  // a slipping joint lies on its bound; take the bound's exact value
  if (mjgi_lawKeeps(mode, out->load[i] > 0, t, slip, load, most)) {
    out->t[i] = mode ? mode * most : t;
    return 0;
  }

  // a joint held by torques that are round-off counts as held, and springs that share a
  // load amplify it; a load that is round-off may have either sign
  int was = mjgi_piece(mode, out->load[i] > 0);
  int next = mjgi_lawNext(was, t, slip, load, bound.c, bound.r, bound.r);
  int turned = mode && mjgi_pieceDirection(next) == mode;
  if (!mode ? mju_abs(t) <= most + (piece->held ? mjgpFACTORED : mjgpSAME) * size
            : turned && mju_abs(load) <= mjgpFACTORED * (mju_abs(u) + size)) {
    out->t[i] = mode ? mode * most : t;
    return 0;
  }
  out->t[i] = t;
  out->mode[i] = mjgi_pieceDirection(next);
  out->load[i] = next == mjgiSTUCK ? out->load[i] : mjgi_pieceLoad(next);
  return 1;
}


//---------------------------------- corrections of a solution -------------------------------------

// Static friction: if the gear slips on its static bound at a solution, release it and
// return 1; the step is solved again with the sliding bound. Call it at a solution only:
// an earlier iterate may slip where the solution sticks.
static inline int mjgp_releasePiece(mjgpPiece* piece, const mjgpGears* g) {
  int i = piece->joint, mode = piece->shaft ? 0 : g->out.mode[i];
  if (g->in.ordinary[i] || !mode || piece->released ||
      !(piece->brake[mode > 0] > g->in.brake[i].sliding ||
        mjgi_lawReleases(mode, piece->ratio[1], piece->ratio[0]))) {
    return 0;
  }
  piece->released = 1;
  return 1;
}

// The same for n gears. Returns the number of released ones.
static inline int mjgp_releasePieces(mjgpPiece* piece, int n, const mjgpGears* g) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    count += mjgp_releasePiece(piece + i, g);
  }
  return count;
}

// Returns 1 for a shaft whose torque has several branches.
static inline int mjgp_isBranch(const mjgpPiece* piece) {
  return piece->shaft && piece->shaft->branched;
}

// Does the work of mjgp_nextPiece for a shaft with several branches. W, R: decrease of
// its acceleration and of the torque into its gear per unit of friction.
int mjgp_nextBranch(mjgpPiece* piece, mjgpGears* g, mjtNum W, mjtNum R, mjtNum acc, mjtNum x,
                    mjtNum t, mjtNum size);

// Returns 0 if a solution of a gear is on the branch connected to rest for any W and R >= 0, as it is
// unless the gear is self-locking. As friction grows to t, all others given, the load goes from (gamma_u + gamma_v) (u - R t)
// to lambda. Only where it changes its sign in between, at a friction above c, may the bound be
// crossed before t: the motor pushes with the load, and the load is the larger.
static inline int mjgp_mayBeElsewhere(const mjgpPiece* piece, const mjgpGears* g) {
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  mjtNum t = g->out.t[i];
  if (piece->shaft || in->static_ratio[i] * in->gamma_v[i] < 1 || in->compliance[i] > 0) {
    return 0;  // one solution
  }
  int other = in->braked[i] || in->static_ratio[i] != 1 || (in->rows && in->row[i]) ||
              in->gamma_u[i] >= 1 || in->gamma_u[i] + in->gamma_v[i] < 0;
  return other || (t * g->out.u[i] > 0 && t * g->out.lambda[i] < 0 && mju_abs(t) > in->coulomb[i]);
}

// Returns 1 if a gear has one solution, all others given: r |P_ii| < 1 (theory.md) for all effects W
// of its friction on its acceleration from low to high.
static inline int mjgp_hasOneSolution(const mjgpGears* g, int i, mjtNum low, mjtNum high) {
  const mjgpInput* in = &g->in;
  mjtNum r = in->static_ratio[i], slope = (in->gamma_u[i] + in->gamma_v[i]) * in->inertia[i];
  return low > 0 && r * mju_abs(slope * low - in->gamma_v[i]) < 1 &&
         r * mju_abs(slope * high - in->gamma_v[i]) < 1;
}

// Returns where friction t of a shaft at a jump lies: 0 between its sides, 1 beyond shaft[1], -1
// beyond shaft[0]. mjgp_leaveJump moves it to that side.
int mjgp_jumpSide(const mjgpPiece* piece, mjtNum t);
void mjgp_leaveJump(mjgpPiece* piece, int side);

// Returns 1 if gear i has a piece on which friction and bound are nearly parallel, so that
// acceleration does not determine friction.
int mjgp_isParallel(const mjgpGears* g, int i);

// Jamming rule: move a self-locking gear to the branch connected to rest, the friction of all
// others given (44). W, R as above. Sets P_ii in g->out. Returns 1 if the piece in g->out
// changes.
int mjgp_connectPiece(const mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum W, mjtNum R);

// Solve for the gear alone, all others given (44): t, which balances at acc and x, becomes the
// friction of its law, with its piece in g->out; W, R as above. If W < 0 the problem is ill-posed
// and the piece is kept. Returns 1 if the piece changed.
int mjgp_proxPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum W, mjtNum R, mjtNum acc,
                   mjtNum x, mjtNum* t);

// Returns the friction of a shaft at acc; t if it is at a jump.
mjtNum mjgp_shaftFrictionAt(mjgpPiece* piece, mjtNum acc, mjtNum t);

// Returns the friction of a monotone gear at acc, for any piece; at rest, the friction on
// the side of along.
static inline mjtNum mjgp_frictionAt(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc,
                                     mjtNum along, mjtNum t) {
  if (piece->shaft) {
    return mjgp_shaftFrictionAt(piece, acc, t);
  }
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  mjtNum v = in->v[i] + h * acc, gamma_v = in->gamma_v[i];
  int rests = mju_abs(v) <= mjgpSUMMED * (1 + mju_abs(in->v[i]));
  int s = (rests ? along : v) > 0 ? 1 : -1;
  mjgpBound bound = mjgp_boundOfPiece(piece, g, s);
  mjtNum u = in->tau[i] - in->inertia[i] * acc;
  mjtNum driven = s * ((in->gamma_u[i] + gamma_v) * u + bound.shift);
  mjtNum up = (bound.c + driven) / (1 + gamma_v), down = (bound.c - driven) / (1 - gamma_v);
  return s * mjMAX(up, down);
}

// Set the piece of a shaft at acc. jumps: it may be at a jump between low and high.
void mjgp_setShaft(mjgpPiece* piece, mjtNum low, mjtNum acc, mjtNum high, int jumps);

#endif  // MJGEAR_PLUGIN_PIECE_H_

// A gear in the iteration of a step: its inputs, its branch of the law, its line and its friction.
//
// While a gear keeps its branch its friction is linear in the acceleration acc of its
// joint,
//
//   t = t0 + slope (acc - acc0) - rate (x - x0)
//
// or acc is known and t balances it (a stuck joint). x is the torque of rotor inertia due to
// other joints (row S without its diagonal). Slipping gears, pre-sliding gears and rotors behind
// gaps all have such lines; Newton (newton.c) and the linear system (system.h) see lines only.
// mjgp_storePiece copies the result to mjgpGears.

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
  // inputs of the step (mjgpInput); a path changes v, tau and coulomb
  int joint;               // number in mjgpGears
  mjtNum h;                // timestep
  mjtNum v, tau, coulomb;  //
  mjtNum inertia, gamma_u, gamma_v, static_ratio, compliance, t_last;
  const mjgpBrake* brake;  // null: none
  int ordinary;            // 1: mjgp_isOrdinary (config.h)
  int crossed;             // 1: rotor inertia couples it with other joints
  int monotone;            // 1: its friction never decreases as its acceleration grows

  // bounds backward and forward
  mjgpBound bound[2];
  mjtNum ratio[2];   // static ratio
  mjtNum torque[2];  // torque of the brake
  int released;      // 1: released from its static bound

  // branch, and results at the last point
  int mode, load;    // direction of motion, sign of the load (mjgpResult)
  mjgpShaft* shaft;  // rotor behind a gap, and room for a second; null: none
  int jumps;         // 1: at a jump of its torque, between shaft[0] and shaft[1]
  mjtNum friction;   // torque
  mjtNum u, lambda;  // torque into the gear, internal force
  mjtNum v_next;     // velocity after the step

  // line
  int held;       // 1: stuck, its acceleration is target
  int kept;       // 1: its line is unchanged since the last iteration (tree.c)
  int turned;     // 1: it slips where friction meets its bound from above
  mjtNum target;  // acceleration that stops it
  mjtNum acc, x;  // the point of the line
  mjtNum t;       // friction there, times weight
  mjtNum slope;   // dt/dacc, times weight
  mjtNum rate;    // -dt/dx, times weight
  mjtNum weight;  // 1; less where friction and its bound are nearly parallel
} mjgpPiece;


//---------------------------------- start ---------------------------------------------------------

// Set the bounds from coulomb and the static ratios; called again where coulomb changes (path.c)
static inline void mjgp_setBounds(mjgpPiece* piece) {
  for (int k = 0; k < 2; k++) {
    piece->bound[k] = mjgp_makeBound(piece->brake, piece->gamma_u, piece->gamma_v, piece->coulomb,
                                     2 * k - 1, piece->ratio[k], piece->torque[k]);
  }
}

// Set the bounds of a gear with static friction or a brake to those of rest, or released, of
// sliding.
void mjgp_setReleased(mjgpPiece* piece, int released);

// The part of mjgp_startPiece for such a gear.
void mjgp_startOther(mjgpPiece* piece, int released);

// Start from the branch of the last step in g->out. acc: acceleration, for gaps; shaft: room for
// two; released: on the sliding bound
static inline void mjgp_startPiece(mjgpPiece* piece, const mjgpGears* g, const mjModel* m, int i,
                                   mjtNum acc, mjgpShaft* shaft, int released) {
  const mjgpGearInput* in = g->in.gear + i;
  int gap = g->config->gaps && mjgp_hasGap(g->config->joint + i);

  // mjgp_linePiece sets the rest; clearing it would cost more
  piece->joint = i;
  piece->h = m->opt.timestep;
  piece->v = in->v;
  piece->tau = in->tau;
  piece->coulomb = in->coulomb;
  piece->inertia = in->inertia;
  piece->gamma_u = in->gamma_u;
  piece->gamma_v = in->gamma_v;
  piece->static_ratio = in->static_ratio;
  piece->compliance = in->compliance;
  piece->t_last = in->t_last;
  piece->brake = mjgp_brakeOf(&g->in, i);
  piece->ordinary = in->ordinary;
  piece->crossed = g->in.rows && g->in.row[i];
  piece->mode = g->out.mode[i];
  piece->load = g->out.load[i];
  piece->shaft = gap ? shaft : NULL;
  piece->released = piece->jumps = 0;
  piece->monotone = !piece->crossed;
  if (!piece->ordinary && (piece->brake || piece->static_ratio != 1)) {
    mjgp_startOther(piece, released);
  } else {
    piece->bound[0] = piece->bound[1] = (mjgpBound){1, piece->coulomb, 0};
    piece->ratio[0] = piece->ratio[1] = 1;
    piece->torque[0] = piece->torque[1] = 0;
    piece->monotone &= piece->ordinary ||
                       (mjgp_isDriven(piece->gamma_u, piece->gamma_v) && piece->compliance == 0);
  }
  if (gap) {
    mjgp_makeShaft(shaft, g, m, i, acc);
  }
}

// Copy friction, branch and motion to g->out; those of a shaft, mjgp_storeShaft copies.
static inline void mjgp_storePiece(const mjgpPiece* piece, mjgpGears* g) {
  int i = piece->joint;
  g->out.t[i] = piece->friction;
  if (!piece->shaft) {
    g->out.u[i] = piece->u;
    g->out.lambda[i] = piece->lambda;
    g->out.v_next[i] = piece->v_next;
    g->out.mode[i] = piece->mode;
    g->out.load[i] = piece->load;
  }
}

// Returns its slip at velocity v and friction t: v, less pre-sliding.
static inline mjtNum mjgp_slipOfPiece(const mjgpPiece* piece, mjtNum v, mjtNum t) {
  return piece->compliance > 0 ? mjg_preslidingSlip(v, t, piece->compliance, piece->t_last) : v;
}

// Returns the torque into the gear at acc and x.
static inline mjtNum mjgp_torqueOfPiece(const mjgpPiece* piece, mjtNum acc, mjtNum x) {
  return piece->tau - piece->inertia * acc - x;
}


//---------------------------------- line ----------------------------------------------------------

// The same for a joint behind a gap.
void mjgp_lineShaft(mjgpPiece* piece, mjtNum acc, mjtNum x);

// Make the line of the branch at acc and x. Returns 0 if friction on this branch is not a function
// of acc (weight).
static inline int mjgp_linePiece(mjgpPiece* piece, mjtNum acc, mjtNum x) {
  int mode = piece->mode;
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
    if (piece->compliance > 0) {
      piece->slope = piece->h / piece->compliance;
      piece->t = piece->t_last + (piece->v + piece->h * acc) / piece->compliance;
    } else {
      piece->held = 1;
      piece->target = -piece->v / piece->h;
      piece->slope = piece->t = 0;
    }
    return 1;
  }

  // t = f lambda + offset with lambda = (gamma_u + gamma_v) u - gamma_v t
  mjtNum offset, gamma_v = piece->gamma_v;
  mjgpBound bound = piece->bound[mode > 0];
  mjtNum f = mjgi_lawRow(&offset, mjgi_piece(mode, piece->load > 0), bound.c, bound.r, bound.r);
  offset += f * bound.shift;
  mjtNum own = 1 + f * gamma_v;
  if (mju_abs(own) < mjgpSAME) {
    piece->weight = own;
    own = 1;
  }
  piece->turned = own < 0;
  piece->rate = f * (piece->gamma_u + gamma_v) / own;
  piece->slope = -piece->rate * piece->inertia;
  piece->t = piece->rate * (piece->tau - piece->inertia * acc - x) + offset / own;
  return piece->weight == 1;
}


// Returns friction on the line.
static inline mjtNum mjgp_onLine(const mjgpPiece* piece, mjtNum acc, mjtNum x) {
  return piece->t + piece->slope * (acc - piece->acc) - piece->rate * (x - piece->x);
}


//---------------------------------- next branch ---------------------------------------------------

// The same for a joint behind a gap.
int mjgp_nextShaft(mjgpPiece* piece, mjtNum acc, mjtNum x, mjtNum t, mjtNum size);

// Set the branch of the piece.
static inline void mjgp_setBranch(mjgpPiece* piece, int branch) {
  piece->mode = mjgi_pieceDirection(branch);
  piece->load = branch == mjgiSTUCK ? piece->load : mjgi_pieceLoad(branch);
}

// Check the branch at acc and x, and set the next one and the results. t: friction on the line,
// or torque balance of a stuck joint. size: size of the torques at the joints. Returns 1 if the
// branch changed
static inline int mjgp_nextPiece(mjgpPiece* piece, mjtNum acc, mjtNum x, mjtNum t, mjtNum size) {
  if (piece->shaft) {
    return mjgp_nextShaft(piece, acc, x, t, size);
  }
  int mode = piece->mode;
  mjtNum u = mjgp_torqueOfPiece(piece, acc, x);
  mjtNum lambda = mjgi_lawLoad(piece->gamma_u, piece->gamma_v, u, t);
  mjtNum v = piece->v + piece->h * acc, slip = mjgp_slipOfPiece(piece, v, t);
  mjgpBound bound = piece->bound[(mode ? mode : t) > 0];
  mjtNum load = lambda + bound.shift, most = mjgi_lawBound(load, bound.c, bound.r);
  piece->u = u;
  piece->lambda = lambda;
  piece->v_next = piece->held ? 0 : v;

  // a slipping joint lies on its bound; take the bound's exact value
  piece->friction = mode ? mode * most : t;
  if (mjgi_lawKeeps(mode, piece->load > 0, t, slip, load, most)) {
    return 0;
  }

  // a joint held by torques that are round-off counts as held, and springs that share a
  // load amplify it; a load that is round-off may have either sign
  int next =
      mjgi_lawNext(mjgi_piece(mode, piece->load > 0), t, slip, load, bound.c, bound.r, bound.r);
  int turned = mode && mjgi_pieceDirection(next) == mode;
  if (!mode ? mju_abs(t) <= most + (piece->held ? mjgpFACTORED : mjgpSAME) * size
            : turned && mju_abs(load) <= mjgpFACTORED * (mju_abs(u) + size)) {
    return 0;
  }
  piece->friction = t;
  mjgp_setBranch(piece, next);
  return 1;
}


//---------------------------------- corrections of a solution -------------------------------------

// Static friction: if the gear slips on its static bound at a solution, release it and
// return 1; the step is solved again with the sliding bound. Call it at a solution only:
// an earlier iterate may slip where the solution sticks.
static inline int mjgp_releasePiece(mjgpPiece* piece) {
  int mode = piece->mode;
  if (piece->ordinary || piece->shaft || !mode || piece->released ||
      !((piece->brake && piece->torque[mode > 0] > piece->brake->sliding) ||
        mjgi_lawReleases(mode, piece->ratio[1], piece->ratio[0]))) {
    return 0;
  }
  mjgp_setReleased(piece, 1);
  return 1;
}

// The same for n gears. Returns the number of released ones.
static inline int mjgp_releasePieces(mjgpPiece* piece, int n) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    count += mjgp_releasePiece(piece + i);
  }
  return count;
}

// Returns 1 for a shaft whose torque has several branches.
static inline int mjgp_isBranch(const mjgpPiece* piece) {
  return piece->shaft && piece->shaft->branched;
}

// Does the work of mjgp_nextPiece for a shaft with several branches. W, R: decrease of
// its acceleration and of the torque into its gear per unit of friction.
int mjgp_nextBranch(mjgpPiece* piece, mjtNum W, mjtNum R, mjtNum acc, mjtNum x, mjtNum t,
                    mjtNum size);

// Returns 0 if a solution of a gear is on the branch connected to rest for any W and R >= 0, as it is
// unless the gear is self-locking. As friction grows to t, all others given, the load goes from (gamma_u + gamma_v) (u - R t)
// to lambda. Only where it changes its sign in between, at a friction above c, may the bound be
// crossed before t: the motor pushes with the load, and the load is the larger.
static inline int mjgp_mayBeElsewhere(const mjgpPiece* piece) {
  mjtNum gamma_u = piece->gamma_u, gamma_v = piece->gamma_v, t = piece->friction;
  if (piece->shaft || piece->static_ratio * gamma_v < 1 || piece->compliance > 0) {
    return 0;  // one solution
  }
  int other = piece->brake || piece->static_ratio != 1 || piece->crossed || gamma_u >= 1 ||
              gamma_u + gamma_v < 0;
  return other || (t * piece->u > 0 && t * piece->lambda < 0 && mju_abs(t) > piece->coulomb);
}

// Returns 1 if a gear has one solution, all others given: r |P_ii| < 1 (theory.md) for all effects W
// of its friction on its acceleration from low to high.
static inline int mjgp_hasOneSolution(const mjgpPiece* piece, mjtNum low, mjtNum high) {
  mjtNum r = piece->static_ratio, slope = (piece->gamma_u + piece->gamma_v) * piece->inertia;
  return low > 0 && r * mju_abs(slope * low - piece->gamma_v) < 1 &&
         r * mju_abs(slope * high - piece->gamma_v) < 1;
}

// Returns where friction t of a shaft at a jump lies: 0 between its sides, 1 beyond shaft[1], -1
// beyond shaft[0]. mjgp_leaveJump moves it to that side.
int mjgp_jumpSide(const mjgpPiece* piece, mjtNum t);
void mjgp_leaveJump(mjgpPiece* piece, int side);

// Returns 1 if a gear has a branch on which friction and bound are nearly parallel, so that
// acceleration does not determine friction.
int mjgp_isParallel(const mjgpInput* in, int i);

// Jamming rule: move a self-locking gear to the branch connected to rest, the friction of all
// others given (44). W, R as above. Returns 1 if the branch changes.
int mjgp_connectPiece(mjgpPiece* piece, mjtNum W, mjtNum R);

// Solve for the gear alone, all others given (44): t, which balances at acc and x, becomes the
// friction of its law, with its branch; W, R as above. If W < 0 the problem is ill-posed
// and the branch is kept. Returns 1 if the branch changed.
int mjgp_proxPiece(mjgpPiece* piece, mjtNum W, mjtNum R, mjtNum acc, mjtNum x, mjtNum* t);

// Returns the friction of a shaft at acc; t if it is at a jump.
mjtNum mjgp_shaftFrictionAt(const mjgpPiece* piece, mjtNum acc, mjtNum t);

// Returns the friction of a monotone gear at acc, for any branch; at rest, the friction on
// the side of along.
static inline mjtNum mjgp_frictionAt(const mjgpPiece* piece, mjtNum acc, mjtNum along, mjtNum t) {
  if (piece->shaft) {
    return mjgp_shaftFrictionAt(piece, acc, t);
  }
  mjtNum v = piece->v + piece->h * acc, gamma_v = piece->gamma_v;
  int rests = mju_abs(v) <= mjgpSUMMED * (1 + mju_abs(piece->v));
  int s = (rests ? along : v) > 0 ? 1 : -1;
  mjgpBound bound = piece->bound[s > 0];
  mjtNum u = piece->tau - piece->inertia * acc;
  mjtNum driven = s * ((piece->gamma_u + gamma_v) * u + bound.shift);
  mjtNum up = (bound.c + driven) / (1 + gamma_v), down = (bound.c - driven) / (1 - gamma_v);
  return s * mjMAX(up, down);
}

// Set the piece of a shaft at acc. jumps: it may be at a jump between low and high.
void mjgp_setShaft(mjgpPiece* piece, mjtNum low, mjtNum acc, mjtNum high, int jumps);

#endif  // MJGEAR_PLUGIN_PIECE_H_

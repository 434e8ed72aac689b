#include "gear/piece.h"


void mjgp_setReleased(mjgpPiece* piece, int released) {
  const mjgpBrake* brake = piece->brake;
  piece->released = released;
  for (int k = 0; k < 2; k++) {
    int s = 2 * k - 1, sliding = released || s * piece->v > 0;
    piece->ratio[k] = released ? 1 : mjgi_lawRatio(piece->static_ratio, piece->v, s);
    piece->torque[k] = brake ? (sliding ? brake->sliding : brake->holding) : 0;
  }
  mjgp_setBounds(piece);
}


void mjgp_startOther(mjgpPiece* piece, int released) {
  const mjgpBrake* brake = piece->brake;
  int sliding = piece->static_ratio == 1 && (!brake || brake->holding == brake->sliding);
  mjgp_setReleased(piece, released);
  piece->monotone &= mjgp_isDriven(piece->gamma_u, piece->gamma_v) & (piece->compliance == 0) &
                     (released | sliding) & !(brake && brake->blocked);
  if (brake && piece->mode == brake->blocked && !piece->shaft) {
    piece->mode = 0;
  }
}


int mjgp_jumpSide(const mjgpPiece* piece, mjtNum t) {
  mjtNum near = piece->shaft[0].t, far = piece->shaft[1].t;
  int up = far > near ? 1 : -1;
  return up * (t - far) > 0 ? 1 : up * (near - t) > 0 ? -1 : 0;
}


void mjgp_leaveJump(mjgpPiece* piece, int side) {
  piece->shaft[0] = piece->shaft[side > 0];
  piece->jumps = 0;
}


void mjgp_lineShaft(mjgpPiece* piece, mjtNum acc, mjtNum x) {
  const mjgpShaft* shaft = piece->shaft;
  piece->held = piece->jumps;
  piece->target = shaft->a;
  piece->t = piece->jumps ? 0 : shaft->t + shaft->slope * (acc - shaft->a) - x;
  piece->slope = piece->jumps ? 0 : shaft->slope;
  piece->rate = !piece->jumps;
}


int mjgp_nextShaft(mjgpPiece* piece, mjtNum acc, mjtNum x, mjtNum t, mjtNum size) {
  mjgpShaft* shaft = piece->shaft;
  if (piece->jumps) {
    int side = mjgp_jumpSide(piece, t + x);
    piece->friction = t;
    if (side) {
      mjgp_leaveJump(piece, side);
      piece->friction = shaft->t - x;
    }
    return side != 0;
  }
  mjtNum line = shaft->t + shaft->slope * (acc - shaft->a);
  mjtNum error = mjgp_moveShaft(shaft, acc);
  piece->friction = shaft->t - x;
  return !(error <= mjgpSUMMED || mju_abs(shaft->t - line) <= mjgpFACTORED * size);
}


int mjgp_nextBranch(mjgpPiece* piece, mjtNum W, mjtNum R, mjtNum acc, mjtNum x, mjtNum t,
                    mjtNum size) {
  mjgpShaft* shaft = piece->shaft;
  mjtNum own = t;
  int jumps = mjgp_proxShaft(shaft, W, R - piece->inertia * W, acc, x, &own);
  piece->jumps = jumps > 0;
  mjtNum speeds = mju_abs(acc) + mju_abs(shaft->v) / shaft->h;
  int same = mju_abs(own - t) * W <= mjgpSUMMED * speeds + mjgpFACTORED * size * W;
  piece->friction = same ? t : own;
  return jumps < 0 || !same;
}


int mjgp_isParallel(const mjgpInput* in, int i) {
  mjtNum gamma = in->gear[i].gamma_v, ratio = in->gear[i].static_ratio;
  return mju_abs(gamma - 1) < mjgpSAME || mju_abs(ratio * gamma - 1) < mjgpSAME;
}


// Returns the branch of a gear, and sets its friction own, with all others given: from t,
// its slip and its load. W, R: decrease of its acceleration and of the torque into its gear per
// unit of friction.
static int resolve(mjtNum* own, const mjgpPiece* piece, mjtNum W, mjtNum R, mjtNum t, mjtNum slip,
                   mjtNum lambda) {
  mjtNum P = (piece->gamma_u + piece->gamma_v) * R - piece->gamma_v;
  mjtNum hold = t + slip / (piece->h * W + piece->compliance);
  mjgpBound bound = piece->bound[hold > 0];
  return mjgi_lawResolve(own, hold, lambda - P * t + bound.shift, P, bound.c, bound.r, bound.r);
}


int mjgp_connectPiece(mjgpPiece* piece, mjtNum W, mjtNum R) {
  if (W <= 0) {
    return 0;
  }
  mjtNum t = piece->friction, own;
  int next = resolve(&own, piece, W, R, t, piece->v_next, piece->lambda);
  if (mju_abs(own - t) <= mjgpLAW * (mju_abs(own) + mju_abs(t))) {
    return 0;
  }
  mjgp_setBranch(piece, next);
  return 1;
}


int mjgp_proxPiece(mjgpPiece* piece, mjtNum W, mjtNum R, mjtNum acc, mjtNum x, mjtNum* t) {
  int was = mjgi_piece(piece->mode, piece->load > 0);
  if (W <= 0) {
    return 0;
  }
  if (piece->shaft) {
    mjtNum slope = piece->shaft->slope;
    int jumped = piece->jumps;
    int jumps = mjgp_proxShaft(piece->shaft, W, R - piece->inertia * W, acc, x, t);
    piece->jumps = jumps < 0 ? jumped : jumps;
    return piece->jumps != jumped || piece->shaft->slope != slope;
  }
  mjtNum u = mjgp_torqueOfPiece(piece, acc, x);
  mjtNum lambda = mjgi_lawLoad(piece->gamma_u, piece->gamma_v, u, *t);
  mjtNum slip = mjgp_slipOfPiece(piece, piece->v + piece->h * acc, *t);
  int next = resolve(t, piece, W, R, *t, slip, lambda);
  mjgp_setBranch(piece, next);
  return next != was;
}


mjtNum mjgp_shaftFrictionAt(const mjgpPiece* piece, mjtNum acc, mjtNum t) {
  if (piece->jumps && acc == piece->shaft->a) {
    return t;
  }
  if (!piece->jumps && acc == piece->acc) {
    return piece->t;
  }
  mjgpShaft shaft = piece->shaft[piece->jumps && acc > piece->shaft->a];
  if (mju_abs(acc - shaft.a) <= mjgpSUMMED * (mju_abs(acc) + mju_abs(shaft.a))) {
    return shaft.t + shaft.slope * (acc - shaft.a);
  }
  mjgp_moveShaft(&shaft, acc);
  return shaft.t;
}


void mjgp_setShaft(mjgpPiece* piece, mjtNum low, mjtNum acc, mjtNum high, int jumps) {
  piece->jumps = jumps && mjgp_findJump(piece->shaft, piece->shaft + 1, low, high);
  if (!piece->jumps) {
    mjgp_moveShaft(piece->shaft, acc);
  }
}

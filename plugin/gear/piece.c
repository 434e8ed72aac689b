#include "gear/piece.h"


void mjgp_startOther(mjgpPiece* piece, const mjgpGears* g) {
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  const mjgpBrake* brake = in->brake + i;
  for (int k = 0; k < 2; k++) {
    piece->ratio[k] = mjgi_lawRatio(in->static_ratio[i], in->v[i], 2 * k - 1);
    piece->brake[k] = mjgp_brakeTorque(in, i, 2 * k - 1);
  }
  mjgp_setBounds(piece, g);
  piece->monotone &= mjgp_isDriven(in, i) & (in->static_ratio[i] == 1) & (in->compliance[i] == 0) &
                     (brake->holding == brake->sliding) & !brake->blocked;
  if (g->out.mode[i] == brake->blocked && !piece->shaft) {
    g->out.mode[i] = 0;
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


int mjgp_nextShaft(mjgpPiece* piece, mjgpGears* g, mjtNum acc, mjtNum x, mjtNum t, mjtNum size) {
  mjtNum* out = g->out.t + piece->joint;
  mjgpShaft* shaft = piece->shaft;
  if (piece->jumps) {
    int side = mjgp_jumpSide(piece, t + x);
    *out = t;
    if (side) {
      mjgp_leaveJump(piece, side);
      *out = shaft->t - x;
    }
    return side != 0;
  }
  mjtNum line = shaft->t + shaft->slope * (acc - shaft->a);
  mjtNum error = mjgp_moveShaft(shaft, acc);
  *out = shaft->t - x;
  return !(error <= mjgpSUMMED || mju_abs(shaft->t - line) <= mjgpFACTORED * size);
}


int mjgp_nextBranch(mjgpPiece* piece, mjgpGears* g, mjtNum W, mjtNum R, mjtNum acc, mjtNum x,
                    mjtNum t, mjtNum size) {
  mjgpShaft* shaft = piece->shaft;
  mjtNum own = t, inertia = g->in.inertia[piece->joint];
  int jumps = mjgp_proxShaft(shaft, W, R - inertia * W, acc, x, &own);
  piece->jumps = jumps > 0;
  mjtNum speeds = mju_abs(acc) + mju_abs(shaft->v) / shaft->h;
  int same = mju_abs(own - t) * W <= mjgpSUMMED * speeds + mjgpFACTORED * size * W;
  g->out.t[piece->joint] = same ? t : own;
  return jumps < 0 || !same;
}


int mjgp_isParallel(const mjgpGears* g, int i) {
  mjtNum gamma = g->in.gamma_v[i], ratio = g->in.static_ratio[i];
  return mju_abs(gamma - 1) < mjgpSAME || mju_abs(ratio * gamma - 1) < mjgpSAME;
}


// Returns the piece of a gear, and sets its friction own, with all others given: from t,
// its slip and its load. W, P: decrease of its acceleration and increase of its load per
// unit of friction.
static int answer(mjtNum* own, const mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum W,
                  mjtNum P, mjtNum t, mjtNum slip, mjtNum lambda) {
  mjtNum hold = t + slip / (h * W + g->in.compliance[piece->joint]);
  mjgpBound bound = mjgp_boundOfPiece(piece, g, hold > 0 ? 1 : -1);
  return mjgi_lawResolve(own, hold, lambda - P * t + bound.shift, P, bound.c, bound.r, bound.r);
}


static mjtNum loadPerFriction(const mjgpInput* in, int i, mjtNum R) {
  return (in->gamma_u[i] + in->gamma_v[i]) * R - in->gamma_v[i];
}


static void goTo(mjgpResult* out, int i, int next) {
  out->mode[i] = mjgi_pieceDirection(next);
  out->load[i] = next == mjgiSTUCK ? out->load[i] : mjgi_pieceLoad(next);
}


int mjgp_connectPiece(const mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum W, mjtNum R) {
  mjgpResult* out = &g->out;
  int i = piece->joint;
  if (W <= 0) {
    return 0;
  }
  mjtNum t = out->t[i], own, P = loadPerFriction(&g->in, i, R);
  int next = answer(&own, piece, g, h, W, P, t, out->v_next[i], out->lambda[i]);
  if (mju_abs(own - t) <= mjgpLAW * (mju_abs(own) + mju_abs(t))) {
    return 0;
  }
  goTo(out, i, next);
  return 1;
}


int mjgp_proxPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum W, mjtNum R, mjtNum acc,
                   mjtNum x, mjtNum* t) {
  const mjgpInput* in = &g->in;
  int i = piece->joint, was = mjgi_piece(g->out.mode[i], g->out.load[i] > 0);
  if (W <= 0) {
    return 0;
  }
  if (piece->shaft) {
    mjtNum slope = piece->shaft->slope;
    int jumped = piece->jumps;
    int jumps = mjgp_proxShaft(piece->shaft, W, R - in->inertia[i] * W, acc, x, t);
    piece->jumps = jumps < 0 ? jumped : jumps;
    return piece->jumps != jumped || piece->shaft->slope != slope;
  }
  mjtNum u = in->tau[i] - in->inertia[i] * acc - x;
  mjtNum lambda = mjgi_lawLoad(in->gamma_u[i], in->gamma_v[i], u, *t);
  mjtNum slip = mjgp_slip(g, i, in->v[i] + h * acc, *t);
  int next = answer(t, piece, g, h, W, loadPerFriction(in, i, R), *t, slip, lambda);
  goTo(&g->out, i, next);
  return next != was;
}


mjtNum mjgp_shaftFrictionAt(mjgpPiece* piece, mjtNum acc, mjtNum t) {
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

#include "friction/piece.h"

#include "friction/bound.h"
#include "friction/friction.h"
#include "friction/tolerances.h"
#include "law/law.h"


int mjgp_isLinear(const mjgpGears* g, int i) {
  int gap = g->config->gaps ? g->config->joint[i].gap : mjgpGAP_NONE;
  return g->in.lag[i] == 0 && (gap == mjgpGAP_NONE || mjgp_areShafts(g, &i, 1));
}


void mjgp_startPiece(mjgpPiece* piece, const mjgpGears* g, const mjModel* m, int i, mjtNum acc,
                     mjgpShaft* shaft) {
  const mjgpInput* in = &g->in;
  int gap = g->config->gaps ? g->config->joint[i].gap : mjgpGAP_NONE;
  *piece = (mjgpPiece){.joint = i,
                       .shaft = gap == mjgpGAP_ROTOR ? shaft : NULL,
                       .up = mjgi_lawRatio(in->static_ratio[i], in->v[i], 1),
                       .down = mjgi_lawRatio(in->static_ratio[i], in->v[i], -1)};
  if (piece->shaft) {
    mjgp_makeShaft(shaft, g, m, i, acc);
  }
  if (g->out.mode[i] == in->brake[i].blocked && !piece->shaft) {
    g->out.mode[i] = 0;
  }
  for (int k = 0; k < 2; k++) {
    piece->brake[k] = mjgp_brakeTorque(in, i, 2 * k - 1);
  }
  piece->monotone = (in->gamma_u[i] >= 0) & (in->gamma_u[i] < 1) & (in->gamma_v[i] >= 0) &
                    (in->gamma_v[i] < 1) & (in->static_ratio[i] == 1) & (in->compliance[i] == 0) &
                    !in->row[i] & (in->brake[i].holding == in->brake[i].sliding) &
                    !in->brake[i].blocked;
}


mjgpBound mjgp_boundOfPiece(const mjgpPiece* piece, const mjgpGears* g, int s) {
  int i = piece->joint;
  mjtNum torque = piece->released ? g->in.brake[i].sliding : piece->brake[s > 0];
  return mjgp_makeBound(&g->in, i, s, mjgp_ratioOf(piece, s), torque);
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


int mjgp_isParallel(const mjgpPiece* piece, const mjgpGears* g) {
  mjtNum gamma = g->in.gamma_v[piece->joint], ratio = mju_max(piece->up, piece->down);
  return mju_abs(gamma - 1) < mjgpSINGULAR || mju_abs(ratio * gamma - 1) < mjgpSINGULAR;
}


int mjgp_linePiece(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x) {
  const mjgpInput* in = &g->in;
  int i = piece->joint, mode = g->out.mode[i];
  piece->held = piece->turned = 0;
  piece->weight = 1;
  if (piece->jumps) {
    piece->held = 1;
    piece->target = piece->shaft->a;
    piece->slope = piece->rate = piece->t = 0;
    return 1;
  }
  if (piece->shaft) {
    piece->t = piece->shaft->t + piece->shaft->slope * (acc - piece->shaft->a) - x;
    piece->slope = piece->shaft->slope;
    piece->rate = 1;
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
  if (mju_abs(own) < mjgpSINGULAR) {
    piece->weight = own;
    own = 1;
  }
  piece->turned = own < 0;
  piece->rate = f * (in->gamma_u[i] + gamma_v) / own;
  piece->slope = -piece->rate * in->inertia[i];
  piece->t = piece->rate * (in->tau[i] - in->inertia[i] * acc - x) + offset / own;
  return piece->weight == 1;
}


int mjgp_nextPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x, mjtNum t,
                   mjtNum size) {
  const mjgpInput* in = &g->in;
  mjgpResult* out = &g->out;
  int i = piece->joint, mode = out->mode[i];
  if (piece->jumps) {
    int side = mjgp_jumpSide(piece, t + x);
    out->t[i] = t;
    if (side) {
      mjgp_leaveJump(piece, side);
      out->t[i] = piece->shaft->t - x;
    }
    return side != 0;
  }
  if (piece->shaft) {
    mjtNum line = piece->shaft->t + piece->shaft->slope * (acc - piece->shaft->a);
    mjtNum error = mjgp_moveShaft(piece->shaft, acc);
    out->t[i] = piece->shaft->t - x;
    return !(error <= mjgpSUMMED || mju_abs(piece->shaft->t - line) <= mjgpFACTORED * size);
  }
  mjtNum u = in->tau[i] - in->inertia[i] * acc - x;
  mjtNum lambda = mjgi_lawLoad(in->gamma_u[i], in->gamma_v[i], u, t);
  mjtNum v = in->v[i] + h * acc;
  mjgpBound bound = mjgp_boundOfPiece(piece, g, mode ? mode : t > 0 ? 1 : -1);
  mjtNum load = lambda + bound.shift;
  int was = mjgi_piece(mode, out->load[i] > 0);
  int next = mjgi_lawNext(was, t, mjgp_slip(g, i, v, t), load, bound.c, bound.r, bound.r);
  out->u[i] = u;
  out->lambda[i] = lambda;
  out->v_next[i] = piece->held ? 0 : v;

  // a joint that torques of nothing but rounding hold is held
  if (piece->held && mju_abs(t) <= mjgi_lawBound(load, bound.c, bound.r) + mjgpFACTORED * size) {
    next = mjgiSTUCK;
  }

  // a load that is nothing but rounding may have either sign
  int turned = mode && mjgi_pieceDirection(next) == mode;
  int changes = next != was && !(turned && mju_abs(load) <= mjgpFACTORED * (mju_abs(u) + size));

  // what slips on lies on the bound itself, which has the sign of the motion
  out->t[i] = mode && !changes ? mode * mjgi_lawBound(load, bound.c, bound.r) : t;
  if (changes) {
    out->mode[i] = mjgi_pieceDirection(next);
    out->load[i] = next == mjgiSTUCK ? out->load[i] : mjgi_pieceLoad(next);
  }
  return changes;
}


int mjgp_releasePiece(mjgpPiece* piece, const mjgpGears* g) {
  int mode = piece->shaft ? 0 : g->out.mode[piece->joint];
  int holds =
      mode && !piece->released && piece->brake[mode > 0] > g->in.brake[piece->joint].sliding;
  if (!holds && !mjgi_lawReleases(mode, mjgp_ratioOf(piece, 1), mjgp_ratioOf(piece, -1))) {
    return 0;
  }
  piece->released = 1;
  return 1;
}


int mjgp_isLocking(const mjgpPiece* piece, const mjgpGears* g) {
  int i = piece->joint;
  return !piece->shaft && g->in.static_ratio[i] * g->in.gamma_v[i] >= 1 && g->in.compliance[i] == 0;
}


// friction of a gear and its piece on its own line, from t, its slip and its load; W: what a unit of friction takes of its
// acceleration, P: what it adds to its load
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
  mjtNum t = out->t[i], own, P = loadPerFriction(&g->in, i, R);
  out->P[i] = P;
  if (W <= 0) {
    return 0;
  }
  int next = answer(&own, piece, g, h, W, P, t, out->v_next[i], out->lambda[i]);
  if (mju_abs(own - t) <= mjgpLAW * (mju_abs(own) + mju_abs(t))) {
    return 0;
  }
  goTo(out, i, next);
  return 1;
}


mjtNum mjgp_answerPiece(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum W, mjtNum R,
                        mjtNum acc, mjtNum x, mjtNum t) {
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  mjtNum own = t, u = in->tau[i] - in->inertia[i] * acc - x;
  piece->known = W > 0 && !piece->shaft;
  if (piece->known) {
    mjtNum lambda = mjgi_lawLoad(in->gamma_u[i], in->gamma_v[i], u, t);
    mjtNum slip = mjgp_slip(g, i, in->v[i] + h * acc, t);
    piece->answer = answer(&own, piece, g, h, W, loadPerFriction(in, i, R), t, slip, lambda);
  }
  return own;
}


void mjgp_takeAnswer(const mjgpPiece* piece, mjgpGears* g) {
  if (piece->known) {
    goTo(&g->out, piece->joint, piece->answer);
  }
}


mjtNum mjgp_frictionAt(mjgpPiece* piece, const mjgpGears* g, mjtNum h, mjtNum acc, mjtNum x,
                       mjtNum t) {
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  if (piece->jumps && acc == piece->shaft->a) {
    return t;
  }
  if (piece->shaft) {
    mjgpShaft shaft = piece->shaft[piece->jumps && acc > piece->shaft->a];
    if (mju_abs(acc - shaft.a) <= mjgpSUMMED * (mju_abs(acc) + mju_abs(shaft.a))) {
      return shaft.t + shaft.slope * (acc - shaft.a) - x;
    }
    mjgp_moveShaft(&shaft, acc);
    return shaft.t - x;
  }
  mjtNum v = in->v[i] + h * acc, gamma_v = in->gamma_v[i];
  int s = v > 0 ? 1 : -1;
  if (mju_abs(v) <= mjgpSUMMED * (1 + mju_abs(in->v[i]))) {
    s = g->out.mode[i];
    if (!s) {
      return t;
    }
  }
  mjgpBound bound = mjgp_boundOfPiece(piece, g, s);
  mjtNum u = in->tau[i] - in->inertia[i] * acc;
  mjtNum driven = s * ((in->gamma_u[i] + gamma_v) * u + bound.shift);
  return s * mju_max((bound.c + driven) / (1 + gamma_v), (bound.c - driven) / (1 - gamma_v));
}


void mjgp_setPiece(mjgpPiece* piece, mjgpGears* g, mjtNum h, mjtNum low, mjtNum acc, mjtNum high,
                   mjtNum x) {
  const mjgpInput* in = &g->in;
  int i = piece->joint;
  if (piece->shaft) {
    piece->jumps = mjgp_findJump(piece->shaft, piece->shaft + 1, low, high);
    if (!piece->jumps) {
      mjgp_moveShaft(piece->shaft, acc);
    }
    return;
  }
  mjtNum v = in->v[i] + h * acc;
  if ((in->v[i] + h * low) * (in->v[i] + h * high) <= 0 ||
      mju_abs(v) <= mjgpSUMMED * (1 + mju_abs(in->v[i]))) {
    g->out.mode[i] = 0;
    return;
  }
  mjtNum u = in->tau[i] - in->inertia[i] * acc - x, t = mjgp_frictionAt(piece, g, h, acc, x, 0);
  g->out.mode[i] = v > 0 ? 1 : -1;
  mjtNum shift = mjgp_boundOfPiece(piece, g, g->out.mode[i]).shift;
  g->out.load[i] = mjgi_lawLoad(in->gamma_u[i], in->gamma_v[i], u, t) + shift < 0 ? -1 : 1;
}

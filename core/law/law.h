// The law of one joint's friction: the one place of the product that has its formulas.
//
// Seen from one joint, with everything else fixed, the step is
//
//     v+ = A_ii (hold - t),   lambda = phi + p t,   t in r (|lambda| + c) sgn(v+)
//
// where hold is the torque that would stop the joint and r >= 1 the static ratio in the
// direction of motion. The law knows nothing of solvers, of the engine or of other laws.
//
// An active set method solves the equations of the pieces (stuck: v+ = 0; slipping:
// mjgi_lawRow) and asks mjgi_lawResolve or mjgi_lawNext whether they were the right ones.
//
// This header needs no other one. It compiles as C, C++ and CUDA, at file scope, in a
// namespace or in the body of a struct, local ones included (that is how a function body,
// for instance Warp's native code, takes it in). Before it may be defined
//
//     mjgREAL      float; default double
//     mjgFUNCTION  specifiers of each function; default static inline
//
// To have both precisions in C++, include it twice in different scopes and undefine
// MJGEAR_LAW_H_ in between. The same compiler flags (no fused multiply-add) give the same
// bits everywhere.

#ifndef MJGEAR_LAW_H_
#define MJGEAR_LAW_H_

#ifndef mjgREAL
#define mjgREAL double
#endif
#ifndef mjgFUNCTION
#define mjgFUNCTION static inline
#endif

// absolute value and infinity without a header
#ifdef __CUDACC__
#define mjgiABS(x)   fabs(x)
#define mjgiINFINITY ((mjgREAL)INFINITY)
#else
#define mjgiABS(x)   ((mjgREAL)__builtin_fabs((double)(x)))
#define mjgiINFINITY ((mjgREAL)__builtin_inf())
#endif

// one affine piece of the law: the active set of a joint. It slips in direction
// sign(piece); the load keeps the sign that the numbers 1 and 2 say
enum {
  mjgiSTUCK = 0,          // v+ = 0
  mjgiFORWARD_POS = 1,    // v+ > 0, lambda >= 0
  mjgiFORWARD_NEG = 2,    // v+ > 0, lambda <= 0
  mjgiBACKWARD_POS = -1,  // v+ < 0, lambda >= 0
  mjgiBACKWARD_NEG = -2   // v+ < 0, lambda <= 0
};


// direction of motion of a piece: -1, 0, 1
mjgFUNCTION int mjgi_pieceDirection(int piece) {
  return (piece > 0) - (piece < 0);
}


// sign of the load of a slipping piece: -1, 1
mjgFUNCTION int mjgi_pieceLoad(int piece) {
  return (piece == mjgiFORWARD_POS || piece == mjgiBACKWARD_POS) ? 1 : -1;
}


// Returns the piece with direction s and a positive or negative load.
mjgFUNCTION int mjgi_piece(int s, int flg_positive) {
  return flg_positive ? s : 2 * s;
}


// Returns the factor on the bound in direction s = -1, 1: the static ratio for a joint that
// leaves rest or reverses, 1 for one that keeps moving. v0: velocity before the step.
mjgFUNCTION mjgREAL mjgi_lawRatio(mjgREAL static_ratio, mjgREAL v0, int s) {
  return (mjgREAL)s * v0 > 0 ? (mjgREAL)1 : static_ratio;
}


// lambda = (gamma_u + gamma_v) u - gamma_v t, with u the torque into the gear
mjgFUNCTION mjgREAL mjgi_lawLoad(mjgREAL gamma_u, mjgREAL gamma_v, mjgREAL u, mjgREAL t) {
  return (gamma_u + gamma_v) * u - gamma_v * t;
}


// the same by the torque out of the gear, x = u - t
mjgFUNCTION mjgREAL mjgi_lawLoadOut(mjgREAL gamma_u, mjgREAL gamma_v, mjgREAL x, mjgREAL t) {
  return gamma_u * t + (gamma_u + gamma_v) * x;
}


// largest friction torque at a load
mjgFUNCTION mjgREAL mjgi_lawBound(mjgREAL lambda, mjgREAL c, mjgREAL r) {
  return r * (mjgiABS(lambda) + c);
}


// Returns the largest friction torque of a joint that rests after the step with friction t. The
// static bound counts at rest and against a reversal (t v0 <= 0), not while the joint is slowed
// down.
mjgFUNCTION mjgREAL mjgi_lawHold(mjgREAL lambda, mjgREAL c, mjgREAL static_ratio, mjgREAL v0,
                                 mjgREAL t) {
  return mjgi_lawBound(lambda, c, mjgi_lawRatio(static_ratio, v0, t > 0 ? 1 : -1));
}


// largest friction torque in direction s = -1, 1 that is connected to zero friction: the
// end of the interval of x >= 0 from 0 on with x <= r (|phi + s p x| + c), infinite if it
// has none; sets load to the sign of lambda there. For phi other than 0 the limit is
// |lambda_s| of (35). For phi = 0 and |p| >= 1 the paper's first line has lambda = 0 and
// a joint that moves freely; here it jams, as for every nearby phi of one sign, and in
// accordance with the statics (23) of a non-backdrivable gear.
//
// The bound r (|phi + s p x| + c) is convex in x and not negative at x = 0, so that the
// torques below it that are connected to x = 0 are an interval [0, limit], and limit is
// where the bound first meets x. On a piece of constant load sign the bound is a line of
// slope r load s p: it meets x only if 1 - r load s p > 0, which is the jamming rule.
mjgFUNCTION mjgREAL mjgi_lawLimit(int* load, int s, mjgREAL phi, mjgREAL p, mjgREAL c, mjgREAL r) {
  mjgREAL sp = (mjgREAL)s * p;

  // without a load of its own the joint makes one in the direction of its friction
  if (phi == 0) {
    mjgREAL slope = r * mjgiABS(p);
    *load = sp > 0 ? 1 : -1;
    return slope < 1 ? r * c / (1 - slope) : mjgiINFINITY;
  }

  *load = phi > 0 ? 1 : -1;
  mjgREAL slope = r * (mjgREAL)*load * sp;
  mjgREAL bound = mjgi_lawBound(phi, c, r);

  // the load grows with friction
  if (slope >= 0) {
    return slope < 1 ? bound / (1 - slope) : mjgiINFINITY;
  }

  // the load falls with friction, and the bound is met before the load has changed sign
  if (r * c * mjgiABS(p) <= mjgiABS(phi)) {
    return bound / (1 - slope);
  }

  // the load has changed sign, and grows from there
  *load = -*load;
  return 1 + slope > 0 ? r * (c - mjgiABS(phi)) / (1 + slope) : mjgiINFINITY;
}


// friction torque t of the joint, on the branch that is connected to stick; returns its
// piece.
//   rp, rm  bound factors, >= 1, in forward and backward direction
mjgFUNCTION int mjgi_lawResolve(mjgREAL* t, mjgREAL hold, mjgREAL phi, mjgREAL p, mjgREAL c,
                                mjgREAL rp, mjgREAL rm) {
  if (hold == 0) {
    *t = 0;
    return mjgiSTUCK;
  }

  int load;
  int s = hold > 0 ? 1 : -1;
  mjgREAL limit = mjgi_lawLimit(&load, s, phi, p, c, s > 0 ? rp : rm);
  if ((mjgREAL)s * hold <= limit) {
    *t = hold;
    return mjgiSTUCK;
  }
  *t = (mjgREAL)s * limit;
  return mjgi_piece(s, load > 0);
}


// friction of a slipping piece, t = factor lambda + offset; returns factor. With lambda =
// phi + P t that is the equation t_i - factor (P t)_i = factor phi_i + offset
mjgFUNCTION mjgREAL mjgi_lawRow(mjgREAL* offset, int piece, mjgREAL c, mjgREAL rp, mjgREAL rm) {
  mjgREAL r = piece > 0 ? rp : rm;
  *offset = piece > 0 ? r * c : -r * c;
  return (mjgREAL)(mjgi_pieceDirection(piece) * mjgi_pieceLoad(piece)) * r;
}


// The same solved for t, with lambda = alpha x - beta t: t = slope x + constant. Returns 0 if the
// bound does not meet t, else 1.
mjgFUNCTION int mjgi_lawLine(mjgREAL* slope, mjgREAL* constant, mjgREAL factor, mjgREAL offset,
                             mjgREAL alpha, mjgREAL beta) {
  mjgREAL den = 1 + factor * beta;
  if (den <= 0) {
    return 0;
  }
  *slope = factor * alpha / den;
  *constant = offset / den;
  return 1;
}


// 1 if the piece of a joint was right. The piece gave the joint friction t, velocity v
// and load lambda, with the bound at this load. s: direction of the piece, 0: stuck; then
// v and the sign of the load are not read
mjgFUNCTION int mjgi_lawKeeps(int s, int flg_positive, mjgREAL t, mjgREAL v, mjgREAL lambda,
                              mjgREAL bound) {
  return s ? (mjgREAL)s * v > 0 && !((flg_positive ? lambda : -lambda) < 0) : mjgiABS(t) <= bound;
}


// next piece of a joint whose piece gave friction t, velocity v and load lambda: the same
// one if it was right. v is not read if the joint is stuck
mjgFUNCTION int mjgi_lawNext(int piece, mjgREAL t, mjgREAL v, mjgREAL lambda, mjgREAL c, mjgREAL rp,
                             mjgREAL rm) {
  int s = mjgi_pieceDirection(piece);
  if (piece == mjgiSTUCK) {
    s = t > 0 ? 1 : -1;
    return mjgiABS(t) <= mjgi_lawBound(lambda, c, s > 0 ? rp : rm) ? mjgiSTUCK
                                                                   : mjgi_piece(s, !(lambda < 0));
  }
  if (!((mjgREAL)s * v > 0)) {
    return mjgiSTUCK;
  }
  return (mjgREAL)mjgi_pieceLoad(piece) * lambda < 0 ? mjgi_piece(s, mjgi_pieceLoad(piece) < 0)
                                                     : piece;
}


// Returns 1 if the joint slips on its static bound: it is released, both ratios become 1, and the
// step is solved again on the sliding bound.
mjgFUNCTION int mjgi_lawReleases(int piece, mjgREAL rp, mjgREAL rm) {
  return piece != mjgiSTUCK && (piece > 0 ? rp : rm) > 1;
}


// Returns 1 if a joint at rest with friction t stays at rest under any load in its direction, with
// the torque into its gear given. Its load falls by beta per unit of friction, and from its zero on
// the bound grows with it.
mjgFUNCTION int mjgi_lawLocked(mjgREAL t, mjgREAL lambda, mjgREAL beta, mjgREAL c,
                               mjgREAL static_ratio, mjgREAL v0) {
  int s = t > 0 ? 1 : -1;
  mjgREAL r = mjgi_lawRatio(static_ratio, v0, s), load = (mjgREAL)s * lambda;
  if (t == 0 || !(r * beta >= 1)) {
    return t != 0 && c == mjgiINFINITY;
  }
  return load <= 0 || (mjgREAL)s * t + load / beta <= r * c;
}

#endif  // MJGEAR_LAW_H_

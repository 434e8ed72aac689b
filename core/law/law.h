// The law of one joint: its friction torque, given what holds it still.
//
// Seen from one joint, with everything else fixed, the step is
//
//     v+ = A_ii (hold - t),   lambda = phi + p t,   t in (|lambda| + c) sgn(v+)
//
// where hold is the torque that would stop the joint. The law answers with the t on the branch that
// is connected to stick. It knows nothing of solvers, and solvers know nothing else about friction.

#ifndef MJGEAR_LAW_H_
#define MJGEAR_LAW_H_

#include <math.h>

// one affine piece of the law. A joint slips in direction sign(piece); the load keeps the sign
// that the numbers 1 and 2 say
enum {
  mjgiSTUCK = 0,          // v+ = 0
  mjgiFORWARD_POS = 1,    // v+ > 0, lambda >= 0
  mjgiFORWARD_NEG = 2,    // v+ > 0, lambda <= 0
  mjgiBACKWARD_POS = -1,  // v+ < 0, lambda >= 0
  mjgiBACKWARD_NEG = -2   // v+ < 0, lambda <= 0
};

// direction of motion of a piece: -1, 0, 1
static inline int mjgi_pieceDirection(int piece) {
  return (piece > 0) - (piece < 0);
}


// sign of the load of a slipping piece: -1, 1
static inline int mjgi_pieceLoad(int piece) {
  return (piece == mjgiFORWARD_POS || piece == mjgiBACKWARD_POS) ? 1 : -1;
}


// largest friction torque in direction s = -1, 1 that is connected to zero friction: the end of the
// interval of x >= 0 from 0 on with x <= r (|phi + s p x| + c), INFINITY if it has none; sets load to
// the sign of lambda there. Where phi is not 0 it is |lambda_s| of (35). For phi = 0 and |p| >= 1 the
// paper's first line has lambda = 0 and a joint that moves freely; here it jams, as it does for every
// phi near by of one sign, and as the statics (23) of a gear that cannot be driven back demand.
//
// The bound r (|phi + s p x| + c) is convex in x and not negative at x = 0, so that the torques
// below it that are connected to x = 0 are an interval [0, limit], and limit is where the bound
// first meets x. On a piece of constant load sign the bound is a line of slope r load s p: it meets
// x only if 1 - r load s p > 0, which is the jamming rule.
static inline double mjgi_lawLimit(int* load, int s, double phi, double p, double c, double r) {
  double sp = s * p;

  // without a load of its own the joint makes one in the direction of its friction
  if (phi == 0) {
    double slope = r * fabs(p);
    *load = sp > 0 ? 1 : -1;
    return slope < 1 ? r * c / (1 - slope) : INFINITY;
  }

  *load = phi > 0 ? 1 : -1;
  double slope = r * *load * sp;
  double bound = r * (fabs(phi) + c);

  // the load grows with friction
  if (slope >= 0) {
    return slope < 1 ? bound / (1 - slope) : INFINITY;
  }

  // the load falls with friction, and the bound is met before the load has changed sign
  if (r * c * fabs(p) <= fabs(phi)) {
    return bound / (1 - slope);
  }

  // the load has changed sign, and grows from there
  *load = -*load;
  return 1 + slope > 0 ? r * (c - fabs(phi)) / (1 + slope) : INFINITY;
}


// friction torque t of the joint; returns the piece that t is on.
//   rp, rm  bound factors, >= 1, in forward and backward direction
static inline int mjgi_lawResolve(double* t, double hold, double phi, double p, double c, double rp,
                                  double rm) {
  if (hold == 0) {
    *t = 0;
    return mjgiSTUCK;
  }

  int load;
  int s = hold > 0 ? 1 : -1;
  double limit = mjgi_lawLimit(&load, s, phi, p, c, s > 0 ? rp : rm);
  if (s * hold <= limit) {
    *t = hold;
    return mjgiSTUCK;
  }
  *t = s * limit;
  return load > 0 ? s : 2 * s;
}

#endif  // MJGEAR_LAW_H_

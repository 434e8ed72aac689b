#include "law.h"

#include <math.h>


// The bound r (|phi + s p x| + c) is convex in x and not negative at x = 0, so that the torques
// below it that are connected to x = 0 are an interval [0, limit], and limit is where the bound
// first meets x. On a piece of constant load sign the bound is a line of slope r load s p: it meets
// x only if 1 - r load s p > 0, which is the jamming rule.
double mjg_lawLimit(int* load, int s, double phi, double p, double c, double r) {
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


int mjg_lawResolve(double* t, double hold, double phi, double p, double c, double rp, double rm) {
  if (hold == 0) {
    *t = 0;
    return mjgSTUCK;
  }

  int load;
  int s = hold > 0 ? 1 : -1;
  double limit = mjg_lawLimit(&load, s, phi, p, c, s > 0 ? rp : rm);
  if (s * hold <= limit) {
    *t = hold;
    return mjgSTUCK;
  }
  *t = s * limit;
  return load > 0 ? s : 2 * s;
}

// Zones of elliptic cones along a straight line of accelerations.
//
// In the coordinates in which a cone is regular (constraint.c), with normal N and
// tangential size T, a contact has no force where N >= mu T, all of its rows act where mu
// N + T <= 0, and it slides between. Along a line N is linear and T^2 quadratic. Forces
// of a contact that slides depend on the direction of (N, U) and are proportional to its
// length: along a line they are as linear as it turns little.

#ifndef MJGEAR_PLUGIN_ZONES_H_
#define MJGEAR_PLUGIN_ZONES_H_

#include <mujoco/mujoco.h>

// a boundary of a zone
typedef enum mjgpBoundary_ {
  mjgpBOUNDARY_UPPER = 0,  // N = mu T
  mjgpBOUNDARY_LOWER,      // mu N + T = 0
} mjgpBoundary;

// is a contact at the apex of its cone, as far as the rate by the length of a line tells
int mjgp_isApex(const mjContact* contact, const mjtNum* jar, const mjtNum* djar);

// does a zone (mjtConstraintState) have it; what is behind it. flg_apex: the line goes
// through the apex, from one side of the cone to the other
int mjgp_hasBoundary(int zone, int boundary);
int mjgp_zoneBehind(int zone, int boundary, int flg_apex);

// zone of a contact with this normal and tangential size
static inline int mjgp_zone(mjtNum N, mjtNum T, mjtNum mu) {
  return N >= mu * T       ? mjCNSTRSTATE_SATISFIED
         : mu * N + T <= 0 ? mjCNSTRSTATE_QUADRATIC
                           : mjCNSTRSTATE_CONE;
}

// the same of a residual, -1 nearer to a boundary than this share of its length
int mjgp_zoneOf(const mjContact* contact, const mjtNum* jar, mjtNum edge);

// length of the line until the boundary is crossed to the outside, in direction sign;
// infinite: never
mjtNum mjgp_boundaryDistance(const mjContact* contact, int zone, int boundary, const mjtNum* jar,
                             const mjtNum* djar, int sign);

// length until the contact has turned by an angle of this tangent
mjtNum mjgp_turnDistance(const mjContact* contact, const mjtNum* jar, const mjtNum* djar, int sign,
                         mjtNum tangent);

#endif  // MJGEAR_PLUGIN_ZONES_H_

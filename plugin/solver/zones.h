// Zones of elliptic cones along a straight line of accelerations.
//
// In the coordinates in which a cone is regular (contact.c), with normal N and tangential size
// T, a contact is open where N >= mu T, all its rows act where mu N + T <= 0, and it slides
// between. Along a line N is linear and T^2 quadratic. Forces of a sliding contact are linear
// while the direction of (N, U) is constant.

#ifndef MJGEAR_PLUGIN_ZONES_H_
#define MJGEAR_PLUGIN_ZONES_H_

#include <mujoco/mujoco.h>

// a boundary of a zone
typedef enum mjgpBoundary_ {
  mjgpBOUNDARY_UPPER = 0,  // N = mu T
  mjgpBOUNDARY_LOWER,      // mu N + T = 0
} mjgpBoundary;

// Returns 1 if a contact is at the apex of its cone, relative to its rate.
int mjgp_isApex(const mjContact* contact, const mjtNum* jar, const mjtNum* djar);

// Returns 1 if a zone (mjtConstraintState) has the boundary, and sets the zone beyond it.
// flg_apex: the line passes through the apex.
int mjgp_hasBoundary(int zone, int boundary);
int mjgp_zoneBehind(int zone, int boundary, int flg_apex);

// Returns the zone of a normal and tangential size.
static inline int mjgp_zone(mjtNum N, mjtNum T, mjtNum mu) {
  return N >= mu * T       ? mjCNSTRSTATE_SATISFIED
         : mu * N + T <= 0 ? mjCNSTRSTATE_QUADRATIC
                           : mjCNSTRSTATE_CONE;
}

// Returns the zone of a residual, or -1 if it is closer to a boundary than this share of
// its length.
int mjgp_zoneOf(const mjContact* contact, const mjtNum* jar, mjtNum edge);

// Returns the length of the line to the boundary in direction sign, or infinity.
mjtNum mjgp_boundaryDistance(const mjContact* contact, int zone, int boundary, const mjtNum* jar,
                             const mjtNum* djar, int sign);

// Returns the length over which the contact turns by an angle of this tangent.
mjtNum mjgp_turnDistance(const mjContact* contact, const mjtNum* jar, const mjtNum* djar, int sign,
                         mjtNum tangent);

#endif  // MJGEAR_PLUGIN_ZONES_H_

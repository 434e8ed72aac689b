// The bound of a gear's friction in one direction, with brake and backstop.
//
// A brake of torque B is Coulomb friction of its own, in front of the teeth or behind
// them. If the joint slips in direction s, the teeth receive u - s B or deliver x + s B.
// The friction of gear and brake together,
//
//   s t = r (|lambda + s turn B| + c) + B,      turn = -gamma_u in front, gamma_v behind
//
// with lambda of u and t, follows the law with another load and another constant. At
// rest t lies between the bounds of the two directions. For a joint that turns one way
// only, c of the other direction is infinite.

#ifndef MJGEAR_PLUGIN_BOUND_H_
#define MJGEAR_PLUGIN_BOUND_H_

#include <math.h>
#include <mujoco/mujoco.h>

#include "law/law.h"
#include "state/gears.h"

// r (|lambda + shift| + c)
typedef struct mjgpBound_ {
  mjtNum r, c, shift;
} mjgpBound;

// Returns 1 if a gear can be driven from either side.
static inline int mjgp_isDriven(mjtNum gamma_u, mjtNum gamma_v) {
  return (gamma_u >= 0) & (gamma_u < 1) & (gamma_v >= 0) & (gamma_v < 1);
}

// Returns the brake or backstop of gear i, or null.
static inline const mjgpBrake* mjgp_brakeOf(const mjgpInput* in, int i) {
  return in->gear[i].braked ? in->brake + i : NULL;
}

// Returns the torque of gear i's brake against motion in direction s = -1, 1.
static inline mjtNum mjgp_brakeTorque(const mjgpInput* in, int i, int s) {
  return s * in->gear[i].v > 0 ? in->brake[i].sliding : in->brake[i].holding;
}

// Returns the bound at this static ratio and brake torque; brake: null if there is none.
static inline mjgpBound mjgp_makeBound(const mjgpBrake* brake, mjtNum gamma_u, mjtNum gamma_v,
                                       mjtNum coulomb, int s, mjtNum r, mjtNum torque) {
  if (!brake) {
    return (mjgpBound){r, coulomb, 0};
  }
  mjtNum c = s == brake->blocked ? INFINITY : coulomb + torque / r;
  return (mjgpBound){r, c, s * (brake->front ? -gamma_u : gamma_v) * torque};
}

// Returns the bound of a joint; released: on its sliding bound.
static inline mjgpBound mjgp_boundOf(const mjgpInput* in, int i, int s, int released) {
  const mjgpGearInput* gear = in->gear + i;
  mjtNum r = released ? 1 : mjgi_lawRatio(gear->static_ratio, gear->v, s);
  return mjgp_makeBound(mjgp_brakeOf(in, i), gear->gamma_u, gear->gamma_v, gear->coulomb, s, r,
                        released ? in->brake[i].sliding : mjgp_brakeTorque(in, i, s));
}

#endif  // MJGEAR_PLUGIN_BOUND_H_

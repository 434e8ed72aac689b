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

// Returns 1 if gear i can be driven from either side in this step.
static inline int mjgp_isDriven(const mjgpInput* in, int i) {
  return (in->gamma_u[i] >= 0) & (in->gamma_u[i] < 1) & (in->gamma_v[i] >= 0) &
         (in->gamma_v[i] < 1);
}

// Returns the torque of gear i's brake against motion in direction s = -1, 1.
static inline mjtNum mjgp_brakeTorque(const mjgpInput* in, int i, int s) {
  const mjgpBrake* brake = in->brake + i;
  return brake->broken || s * in->v[i] > 0 ? brake->sliding : brake->holding;
}

// Returns the bound at this static ratio and brake torque.
static inline mjgpBound mjgp_makeBound(const mjgpInput* in, int i, int s, mjtNum r, mjtNum torque) {
  if (!in->braked[i]) {
    return (mjgpBound){r, in->coulomb[i], 0};
  }
  mjtNum c = s == in->brake[i].blocked ? INFINITY : in->coulomb[i] + torque / r;
  mjtNum turn = in->brake[i].front ? -in->gamma_u[i] : in->gamma_v[i];
  return (mjgpBound){r, c, s * turn * torque};
}

// Returns the bound of a joint; released: on its sliding bound.
static inline mjgpBound mjgp_boundOf(const mjgpInput* in, int i, int s, int released) {
  return released ? mjgp_makeBound(in, i, s, 1, in->brake[i].sliding)
                  : mjgp_makeBound(in, i, s, mjgi_lawRatio(in->static_ratio[i], in->v[i], s),
                                   mjgp_brakeTorque(in, i, s));
}

#endif  // MJGEAR_PLUGIN_BOUND_H_

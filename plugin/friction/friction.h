// The law of the gears in a step, from the engine's quantities, and what becomes of their
// friction.

#ifndef MJGEAR_PLUGIN_FRICTION_H_
#define MJGEAR_PLUGIN_FRICTION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// the law of the active joints in this step, from velocity, position and motor torque in
// g: gamma_u, gamma_v, coulomb, static_ratio, compliance, t_last
void mjgp_makeLaw(mjgpGears* g, const mjModel* m, const mjData* d);

// velocity of slip of joint i that moves with velocity v under friction t: v itself but
// for pre-sliding
static inline mjtNum mjgp_slip(const mjgpGears* g, int i, mjtNum v, mjtNum t) {
  mjtNum compliance = g->in.compliance[i];
  return compliance > 0 ? mjg_preslidingSlip(v, t, compliance, g->in.t_last[i]) : v;
}

// would a joint that is stuck not move however large its torque was, because its own load
// holds it
int mjgp_isJammed(const mjgpGears* g, int i);

// a rotor behind a gap takes its motor torque off the joint, on which the engine puts it
void mjgp_takeMotors(const mjgpGears* g, mjData* d);

// passive forces of the dofs on which gears act: without friction, less what belongs to
// rotors behind gaps, less friction t of all gears (n)
void mjgp_applyFriction(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* t);

// is a dof's tree awake
static inline int mjgp_isAwake(const mjModel* m, const mjData* d, int dof) {
  return !(m->opt.enableflags & mjENBL_SLEEP) || d->tree_awake[m->dof_treeid[dof]];
}

// count what a solve did, and warn of the first that is above the tolerance; worst: joint
// with the largest residual, -1: not known
void mjgp_recordSolve(mjgpGears* g, const mjModel* m, const mjData* d, int status, int worst);

#endif  // MJGEAR_PLUGIN_FRICTION_H_

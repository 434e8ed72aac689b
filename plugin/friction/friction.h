// The friction problem of one step, formed from the engine's quantities and solved by the core.

#ifndef MJGEAR_PLUGIN_FRICTION_H_
#define MJGEAR_PLUGIN_FRICTION_H_

#include <mujoco/mujoco.h>

#include "state/gears.h"

// friction problem of some of the active joints, which act on each other
typedef struct mjgpProblem_ {
  int n;             // joints
  const int* joint;  // their numbers in mjgpGears                         (n)
  mjtNum* W;         // effect of friction on acceleration: a - W t        (n x n)
  mjtNum* a;         // acceleration over the step without friction        (n)
  mjtNum* size;      // sum of the absolute values that a is a sum of      (n)

  // where rotor inertia is more than a number of each joint, else null: torque into the gear without friction, and the
  // effect of friction on it, u + R t. Of a rotor behind a gap: the torque that its gains take from the joint,
  // u - R t
  mjtNum* u;  // (n)
  mjtNum* R;  // (n x n)
} mjgpProblem;

// the law of the active joints in this step, from velocity, position and motor torque in g: gamma_u,
// gamma_v, coulomb, static_ratio, compliance, t_last
void mjgp_makeLaw(mjgpGears* g, const mjModel* m, const mjData* d);

// velocity of slip of joint i that moves with velocity v under friction t: v itself but for pre-sliding
static inline mjtNum mjgp_slip(const mjgpGears* g, int i, mjtNum v, mjtNum t) {
  mjtNum compliance = g->in.compliance[i];
  return compliance > 0 ? mjg_preslidingSlip(v, t, compliance, g->in.t_last[i]) : v;
}

// solve for the friction of these joints in g: t, mode (start values in, results out), v_next, lambda,
// u, info; tau, inertia, v and the law of g are inputs. The problem is overwritten. Returns a status of the core.
int mjgp_solveFriction(mjgpGears* g, const mjModel* m, mjData* d, mjgpProblem* problem);

// would a joint that is stuck not move however large its torque was, because its own load holds it
int mjgp_isJammed(const mjgpGears* g, int i);

// a rotor behind a gap takes its motor torque off the joint, on which the engine puts it
void mjgp_takeMotors(const mjgpGears* g, mjData* d);

// passive forces of the dofs on which gears act: without friction, less what belongs to rotors behind gaps, less
// friction t of all gears (n)
void mjgp_applyFriction(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* t);

// is a dof's tree awake
static inline int mjgp_isAwake(const mjModel* m, const mjData* d, int dof) {
  return !(m->opt.enableflags & mjENBL_SLEEP) || d->tree_awake[m->dof_treeid[dof]];
}

// count what a solve did, and warn of the first that is above the tolerance; worst: joint with the largest residual,
// -1: not known
void mjgp_countFriction(mjgpGears* g, const mjModel* m, const mjData* d, int status, int worst);

#endif  // MJGEAR_PLUGIN_FRICTION_H_

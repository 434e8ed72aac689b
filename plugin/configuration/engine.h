// Functions that MuJoCo exports but does not declare in its public headers. The plugin
// refuses to register with a library of another version than its headers (register.c),
// and every use is covered by a test that fails if the meaning changes.

#ifndef MJGEAR_PLUGIN_ENGINE_H_
#define MJGEAR_PLUGIN_ENGINE_H_

#include <mujoco/mujoco.h>

// 1: the engine has the integrator "discrete"
#define mjgpDISCRETE (mjVERSION_HEADER >= 3013000)

// Returns 1 if it is set.
static inline int mjgp_isDiscrete(const mjModel* m) {
  return mjgpDISCRETE && m->opt.integrator == mjINT_IMPLICITFAST + 1;
}

// Returns 1 if the engine's constraint solver does not end at the minimum: PGS, noslip, few
// iterations without a warm start.
static inline int mjgp_solvesAnother(const mjModel* m) {
  return m->opt.noslip_iterations > 0 || m->opt.solver == mjSOL_PGS ||
         (m->opt.disableflags & mjDSBL_WARMSTART);
}

// Returns 1 for the flags with which the compiler computes lengths of muscles; its data are not
// complete, and friction is useless.
static inline int mjgp_seeksLengths(const mjModel* m) {
  return m->opt.disableflags == (mjDSBL_FRICTIONLOSS | mjDSBL_CONTACT | mjDSBL_SPRING |
                                 mjDSBL_DAMPER | mjDSBL_GRAVITY | mjDSBL_ACTUATION);
}

// Returns 1 if an actuator may have - d(force)/d(v), or under "discrete" - d(force)/d(q).
static inline int mjgp_hasGain(const mjModel* m, int i) {
  int bias = m->actuator_biastype[i];
  const mjtNum* prm = m->actuator_biasprm + mjNBIAS * i;
  return m->actuator_gaintype[i] != mjGAIN_FIXED ||
         (bias != mjBIAS_NONE &&
          (bias != mjBIAS_AFFINE || prm[2] != 0 || (prm[1] != 0 && mjgp_isDiscrete(m))));
}

// Returns 1 if mj_fwdActuation calls plugins.
static inline int mjgp_actuationActive(const mjModel* m) {
  return m->nactuator && !(m->opt.disableflags & mjDSBL_ACTUATION);
}

// Returns 1 if a dof's tree is awake.
static inline int mjgp_isAwake(const mjModel* m, const mjData* d, int dof) {
  return !(m->opt.enableflags & mjENBL_SLEEP) || d->tree_awake[m->dof_treeid[dof]];
}

// damping and rotor inertia that a joint inherits from its actuators; poly is added to
MJAPI mjtNum mj_actuatorDamping(const mjModel* m, mjtObj type, int id, mjtNum poly[mjNPOLY]);
MJAPI mjtNum mj_actuatorArmature(const mjModel* m, mjtObj type, int id);

// d->qDeriv = d(qfrc_actuator + qfrc_passive - [qfrc_bias]) / d(qvel), in the sparsity of
// D
MJAPI void mjd_smooth_vel(const mjModel* m, mjData* d, int flg_bias);

// d->qDeriv += d(qfrc_actuator) / d(qvel)
MJAPI void mjd_actuator_vel(const mjModel* m, mjData* d);

// add the bias force of tendon armature to qfrc
MJAPI void mj_tendonBias(const mjModel* m, mjData* d, mjtNum* qfrc);

#endif  // MJGEAR_PLUGIN_ENGINE_H_

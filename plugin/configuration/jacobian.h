// The velocity w = j' v on which a gear acts, and the force j t of its friction on the dofs.
//
// For a joint, and for a fixed tendon of one joint with the coefficient 1, j is a unit
// vector. For any other tendon j is its row of ten_J, at the position before the step.

#ifndef MJGEAR_PLUGIN_JACOBIAN_H_
#define MJGEAR_PLUGIN_JACOBIAN_H_

#include <mujoco/mujoco.h>

#include "configuration/engine.h"
#include "configuration/joint.h"

// entries of j that may differ from zero; valid until positions are computed anew
typedef struct mjgpRow_ {
  int n;                // entries
  const int* dof;       // their dofs, ascending                                       (n)
  const mjtNum* value;  // their values                                                (n)
} mjgpRow;

static inline mjgpRow mjgp_row(const mjModel* m, const mjData* d, const mjgpJoint* joint) {
  static const mjtNum one = 1;
  if (joint->dof >= 0) {
    return (mjgpRow){1, &joint->dof, &one};
  }
  int adr = m->ten_J_rowadr[joint->tendon];
  return (mjgpRow){m->ten_J_rownnz[joint->tendon], m->ten_J_colind + adr, d->ten_J + adr};
}

// Returns the dofs of the row, without positions.
static inline const int* mjgp_rowDofs(int* n, const mjModel* m, const mjgpJoint* joint) {
  *n = joint->dof >= 0 ? 1 : m->ten_J_rownnz[joint->tendon];
  return joint->dof >= 0 ? &joint->dof : m->ten_J_colind + m->ten_J_rowadr[joint->tendon];
}

// j' v
static inline mjtNum mjgp_mulRow(mjgpRow row, const mjtNum* v) {
  mjtNum sum = 0;
  for (int k = 0; k < row.n; k++) {
    sum += row.value[k] * v[row.dof[k]];
  }
  return sum;
}

// force += j t
static inline void mjgp_addRow(mjtNum* force, mjgpRow row, mjtNum t) {
  for (int k = 0; k < row.n; k++) {
    force[row.dof[k]] += row.value[k] * t;
  }
}

// Returns 1 if no motion changes a tendon's length, as along a link: it has no friction then.
static inline int mjgp_standsStill(mjgpRow row) {
  mjtNum most = 0;
  for (int k = 0; k < row.n; k++) {
    most = mju_max(most, mju_abs(row.value[k]));
  }
  return most < mjMINVAL;
}

// Returns the position of the joint, or the tendon's last computed length.
static inline mjtNum mjgp_position(const mjData* d, const mjgpJoint* joint) {
  return joint->dof >= 0 ? d->qpos[joint->qpos] : d->ten_length[joint->tendon];
}

// Returns the engine's armature of the joint or tendon, without that of actuators.
static inline mjtNum mjgp_armature(const mjModel* m, const mjgpJoint* joint) {
  return joint->kind == mjgpTRN_TENDON ? m->tendon_armature[joint->tendon]
                                       : m->dof_armature[joint->dof];
}

// Returns the armature of the joint or tendon, with that of actuators.
static inline mjtNum mjgp_rotorArmature(const mjModel* m, const mjgpJoint* joint) {
  int id, type = mjgp_objectOf(&id, joint);
  return mjgp_armature(m, joint) + mj_actuatorArmature(m, (mjtObj)type, id);
}

// Returns 1 if the engine's inertia matrix has an entry for two dofs: not for different branches,
// nor for slides of one body without descendants.
static inline int mjgp_isInInertia(const mjModel* m, int i, int j) {
  int high = mjMAX(i, j), low = mjMIN(i, j), found = 0;
  for (int p = m->M_rowadr[high]; p < m->M_rowadr[high] + m->M_rownnz[high]; p++) {
    found |= m->M_colind[p] == low;
  }
  return found;
}

// Returns its inertia at qpos0, with other joints fixed for a joint and free for a tendon.
static inline mjtNum mjgp_restInertia(const mjModel* m, const mjgpJoint* joint) {
  if (joint->dof >= 0) {
    return m->dof_M0[joint->dof];
  }
  mjtNum inverse = m->tendon_invweight0[joint->tendon];
  return inverse > 0 ? 1 / inverse : 1;
}

#endif  // MJGEAR_PLUGIN_JACOBIAN_H_

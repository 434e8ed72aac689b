#include "configuration/explain.h"

#include "configuration/jacobian.h"


void mjgp_explain(mjgFacts* facts, double* load, const mjModel* m, mjData* d,
                  const mjgpJoint* joint) {
  // the rotor is the engine's
  int dof = joint->dof, tendon = joint->kind == mjgpTRN_TENDON;
  mjtNum armature = mjgp_armature(m, joint);
  mjgTransmission gear = joint->gear;
  gear.armature = joint->gap == mjgpGAP_ROTOR ? joint->rotor_inertia : armature;
  gear.viscous = tendon ? m->tendon_damping[joint->tendon] : m->dof_damping[dof];

  mj_markStack(d);
  mjtNum* unit = mj_stackAllocNum(d, (size_t)m->nv);
  mjtNum* effect = mj_stackAllocNum(d, (size_t)m->nv);
  mjgpRow row = mjgp_row(m, d, joint);
  mju_zero(unit, (int)m->nv);
  mjgp_addRow(unit, row, 1);
  mj_solveM(m, d, effect, unit, 1);
  mjtNum own = mjgp_mulRow(row, effect);
  double inertia = own > 0 ? mju_max(0, 1 / own - armature) : 0, now = 0;
  if (dof >= 0) {
    now = d->qfrc_bias[dof] - d->qfrc_spring[dof] - d->qfrc_gravcomp[dof];
  } else if (own > 0) {
    for (int k = 0; k < m->nv; k++) {
      now += effect[k] * (d->qfrc_bias[k] - d->qfrc_spring[k] - d->qfrc_gravcomp[k]) / own;
    }
  }
  mj_freeStack(d);
  mjg_explain(facts, &gear, now != 0 ? now : 1, inertia);
  if (load) {
    *load = now;
  }
}

#include "configuration/explain.h"


void mjgp_explain(mjgFacts* facts, double* load, const mjModel* m, mjData* d,
                  const mjgpJoint* joint) {
  // the rotor is the engine's
  int dof = joint->dof;
  mjgTransmission gear = joint->gear;
  gear.armature = joint->gap == mjgpGAP_ROTOR ? joint->rotor_inertia : m->dof_armature[dof];
  gear.viscous = m->dof_damping[dof];

  mj_markStack(d);
  mjtNum* unit = mj_stackAllocNum(d, (size_t)m->nv);
  mjtNum* effect = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(unit, (int)m->nv);
  unit[dof] = 1;
  mj_solveM(m, d, effect, unit, 1);
  double inertia = mju_max(0, 1 / effect[dof] - m->dof_armature[dof]);
  mj_freeStack(d);

  double now = d->qfrc_bias[dof] - d->qfrc_spring[dof] - d->qfrc_gravcomp[dof];
  mjg_explain(facts, &gear, now != 0 ? now : 1, inertia);
  if (load) {
    *load = now;
  }
}

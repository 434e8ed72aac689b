#include <math.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "callbacks/engines.h"

// a slide with a motor on a tendon, and a box on the ground
static const char kText[] =
    "<mujoco><option timestep='.0078125' gravity='0 0 -2'/><worldbody><geom type='plane' size='9 9 "
    "1'/>"
    "<body pos='0 0 3'><joint name='slide' type='slide' axis='0 0 1' armature='.5' damping='.25'/>"
    "<geom size='.1' mass='1.5'/></body><body pos='0 5 .0999'><freejoint/>"
    "<geom type='box' size='.1 .1 .1' mass='.75'/></body></worldbody><tendon><fixed name='rope'>"
    "<joint joint='slide' coef='4'/></fixed></tendon>"
    "<actuator><motor tendon='rope' gear='3'/></actuator></mujoco>";

#define mjgpFITS(what) \
  {                    \
    if (!(what)) {     \
      return #what;    \
    }                  \
  }


// Compare members of the model; the address of the last one shows whether a member was added.
static const char* compareModel(const mjModel* m) {
  mjgpFITS(m->signature != 0);
  mjgpFITS(m->nq == 8 && m->nv == 7 && m->nu == 1 && m->nbody == 3 && m->njnt == 2);
  mjgpFITS(m->ntree == 2 && m->ntendon == 1 && m->nwrap == 1 && m->nplugin == 0);
  mjgpFITS(m->opt.timestep == 0.0078125 && m->opt.gravity[2] == -2);
  mjgpFITS(m->opt.integrator == mjINT_EULER && m->opt.solver == mjSOL_NEWTON);
  mjgpFITS(m->jnt_type[0] == mjJNT_SLIDE && m->jnt_dofadr[1] == 1);
  mjgpFITS(m->dof_armature[0] == 0.5 && m->dof_damping[0] == 0.25 && m->dof_treeid[6] == 1);
  mjgpFITS(m->M_rownnz[6] >= 1 && m->D_rownnz[0] == 1 && m->dof_M0[0] == 2);
  mjgpFITS(m->wrap_prm[0] == 4 && m->ten_J_colind[0] == 0 && m->actuator_gear[0] == 3);
  mjgpFITS(!strcmp(m->names + m->name_jntadr[0], "slide"));
  return NULL;
}


// members of the data after a step with the control 1:
// (M + h damping) v+ = h (motor - weight)
static const char* compareData(const mjModel* m, const mjData* d) {
  double v = 0.0078125 * (12 - 1.5 * 2) / (2 + 0.0078125 * 0.25);
  mjgpFITS(d->signature == m->signature && d->time == 0.0078125);
  mjgpFITS(fabs(d->qvel[0] - v) < 1e-14 && fabs(d->qpos[0] - 0.0078125 * v) < 1e-16);
  mjgpFITS(d->ncon == 4 && d->nefc == 16 && d->efc_type[0] == mjCNSTR_CONTACT_PYRAMIDAL);
  mjgpFITS(d->nisland == 1 && d->dof_island[0] == -1 && d->island_nv[0] == 6);
  mjgpFITS(d->ten_J[0] == 4 && d->actuator_moment[0] == 12 && d->actuator_force[0] == 1);
  mjgpFITS(d->qfrc_actuator[0] == 12 && d->qfrc_bias[0] == 3 && d->M[0] == 2);
  mjgpFITS(d->timer[mjTIMER_STEP].number == 1 && d->tree_awake[1] == 1);
  return NULL;
}


const char* mjgp_misfit(void) {
  const char* misfit = "a model is compiled and stepped";
  mjSpec* spec = mj_parseXMLString(kText, NULL, NULL, 0);
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  mjData* d = m ? mj_makeData(m) : NULL;
  if (d) {
    misfit = compareModel(m);
  }
  if (!misfit) {
    d->ctrl[0] = 1;
    mj_step(m, d);
    misfit = compareData(m, d);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  mj_deleteSpec(spec);
  return misfit;
}

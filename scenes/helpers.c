#include "helpers.h"

#include "load.h"

int mjg_gridPoint(const mjModel* m, const mjData* d) { return (int)lround(d->time / m->opt.timestep); }

int mjg_lastGridPoint(const mjModel* m, const mjData* d) { return mjg_gridPoint(m, d) - 1; }

double mjg_gridValue(int i, int n, double most) { return most * (2.0 * i / (n - 1) - 1); }

double mjg_ease(double x) { return x * x * x * (10 - x * (15 - 6 * x)); }

int mjg_enumerate(double* t, double* next, const mjgProblem* problem) {
  double memory[1024], lambda[2];
  int mode[2];
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = mjgENUMERATION;
  mjgSolution solution = {t, next, lambda, mode};
  return mjg_solve(&solution, NULL, problem, &settings, mjg_create(memory, sizeof memory, problem->n, problem->n));
}

double mjg_contact(const mjModel* m, const mjData* d, const char* geom, const char* other) {
  int id[] = {geom ? mj_name2id(m, mjOBJ_GEOM, geom) : -2, other ? mj_name2id(m, mjOBJ_GEOM, other) : -2};
  double sum = 0;
  for (int i = 0; i < d->ncon; i++) {
    const int* pair = d->contact[i].geom;
    int wanted = 0;
    for (int k = 0; k < 2; k++) {
      wanted += id[k] == -2 || pair[0] == id[k] || pair[1] == id[k];
    }
    if (wanted == 2) {
      mjtNum force[6];
      mj_contactForce(m, d, i, force);
      sum += force[0];
    }
  }
  return sum;
}

void mjg_setLoss(mjModel* m, double loss, double armature) {
  for (int i = 0; i < m->nu; i++) {
    int dof = m->jnt_dofadr[m->actuator_trnid[2 * i]];
    m->dof_frictionloss[dof] = loss;
    m->dof_armature[dof] = armature > 0 ? armature : m->dof_armature[dof];
  }
}

int mjg_within(double time, double from, double to) { return mjg_reached(time, from) && !mjg_reached(time, to); }

void mjg_makeMotors(mjModel* m) {
  for (int i = 0; i < m->nu; i++) {
    // the gains stay where the servo had them: biasprm is 0, -kp, -kv
    if (m->actuator_biastype[i] == mjBIAS_AFFINE) {
      m->actuator_biastype[i] = mjBIAS_NONE;
      m->actuator_gainprm[mjNGAIN * i] = 1;
      m->actuator_ctrllimited[i] = 0;
    }
  }
}

double mjg_servo(const mjModel* m, const mjData* d, int actuator, double goal) {
  int joint = m->actuator_trnid[2 * actuator];
  double position = d->qpos[m->jnt_qposadr[joint]], velocity = d->qvel[m->jnt_dofadr[joint]];
  const mjtNum* bias = m->actuator_biasprm + mjNBIAS * actuator;
  double torque = -bias[1] * (goal - position) + bias[2] * velocity;
  const mjtNum* range = m->actuator_forcerange + 2 * actuator;
  return m->actuator_forcelimited[actuator] ? fmin(range[1], fmax(range[0], torque)) : torque;
}

//---------------------------------- friction that MuJoCo offers by itself -------------------------

// stiffness of a spring over its inertia and the square of the step: the engine takes springs at
// the step's beginning, and 4 is the stability limit of one joint
#define STIFFEST 1

void mjg_reserveRival(mjSpec* spec, const mjgCase* variant) {
#if mjgHAS_YIELD
  if (mjgRIVAL(variant) < mjgRIVAL_YIELD) {
    return;
  }
  for (mjsElement* e = mjs_firstElement(spec, mjOBJ_JOINT); e; e = mjs_nextElement(spec, e)) {
    mjsJoint* joint = mjs_asJoint(e);
    if (joint->type == mjJNT_HINGE || joint->type == mjJNT_SLIDE) {
      // any positive number: mjg_setRival has the right ones
      joint->stiffness[0] = 1;
      joint->springyield = 1;
    }
  }
#else
  (void)spec;
  (void)variant;
#endif
}

void mjg_setRival(mjModel* m, int joint, mjgRival rival, double bound) {
  int dof = m->jnt_dofadr[joint];
  if (rival >= mjgRIVAL_LOSS && rival <= mjgRIVAL_SOLREF) {
    m->dof_frictionloss[dof] = bound;
  }
  if (rival == mjgRIVAL_SOLIMP || rival == mjgRIVAL_SOLREF) {
    m->dof_solimp[mjNIMP * dof] = m->dof_solimp[mjNIMP * dof + 1] = mjMAXIMP;
  }
  if (rival == mjgRIVAL_SOLREF) {
    m->dof_solref[mjNREF * dof] = 2 * m->opt.timestep;
  }
#if mjgHAS_YIELD
  if (rival >= mjgRIVAL_YIELD) {
    double stable = STIFFEST / (m->opt.timestep * m->opt.timestep * m->dof_invweight0[dof]);
    double stiffness = fmin(bound / mjgYIELD, stable);
    m->jnt_stiffness[joint] = stiffness;
    m->jnt_springyield[joint] = bound / stiffness;
    if (rival == mjgRIVAL_YIELD_DAMPED) {
      m->dof_damping[dof] = 2 * sqrt(stiffness * m->dof_M0[dof]);
    }
  }
#endif
}

// let the spring of a joint rest at the first state
static void relax(mjModel* m, const mjData* d, int joint) {
  int q = m->jnt_qposadr[joint];
  m->qpos_spring[q] = d->qpos[q];
#if mjgHAS_YIELD
  int key = mjg_startKey(m), plastic = m->jnt_plasticadr[joint];
  if (key >= 0 && plastic >= 0) {
    m->key_plastic[key * m->nplastic + plastic] = d->qpos[q];
  }
#endif
}

void mjg_setRivals(mjModel* m, mjgRival rival, double factor, double floor) {
  mjData* d = mjg_startScene(m);
  if (!d) {
    return;
  }
  mj_forward(m, d);
  for (int i = 0; i < m->nu; i++) {
    int joint = m->actuator_trnid[2 * i];
    double load = fabs(d->qfrc_bias[m->jnt_dofadr[joint]]);
    mjg_setRival(m, joint, rival, fmax(floor, factor * load));
    relax(m, d, joint);
  }
  mj_deleteData(d);
}

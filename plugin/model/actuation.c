#include "model/actuation.h"

#include <string.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/backlash.h"
#include "model/rotors.h"


//---------------------------------- motor torque --------------------------------------------------

// forces per unit of force along the tendon are the actuator's gear ratio
static mjtNum ratioOf(const mjModel* m, int actuator) {
  return m->actuator_gear[6 * m->actuator_outadr[actuator]];
}


// Returns the gear of which this actuator is a motor, by a dof that it moves; -1: none.
static int gearOf(const mjgpGears* g, int actuator, int dof) {
  const mjgpConfig* c = g->config;
  int i = c->geared[dof];
  return i >= 0 && c->joint[i].kind == mjgpTRN_JOINT &&
                 mjgp_isMotor(&c->motors, actuator, c->joint, i)
             ? i
             : -1;
}


// Sum motor torque where actuators also act on links: motors and gravity compensation, within the
// joint's limits. The rest of qfrc_actuator is the load, which the limits also clamp.
static void sumMotors(mjgpGears* g, const mjModel* m, const mjData* d) {
  for (int k = 0; k < m->nactuator; k++) {
    int drive = g->config->motors.drive[k], out = m->actuator_outadr[k];
    if (drive >= 0) {
      g->in.gear[drive].motor += ratioOf(m, k) * d->actuator_force[out];
    }
    for (int row = out; row < out + m->actuator_outnum[k] && drive < 0; row++) {
      for (int p = d->moment_rowadr[row]; p < d->moment_rowadr[row] + d->moment_rownnz[row]; p++) {
        int i = gearOf(g, k, d->moment_colind[p]);
        if (i >= 0) {
          g->in.gear[i].motor += d->actuator_moment[p] * d->actuator_force[row];
        }
      }
    }
  }
  int gravity = !(m->opt.disableflags & mjDSBL_GRAVITY) && !mju_isZero(m->opt.gravity, 3);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], jnt = g->config->joint[i].joint;
    mjtNum* motor = &g->in.gear[i].motor;
    if (jnt >= 0 && m->jnt_actgravcomp[jnt] && gravity) {
      *motor += d->qfrc_gravcomp[m->jnt_dofadr[jnt]];
    }
    if (jnt >= 0 && m->jnt_actfrclimited[jnt]) {
      const mjtNum* range = m->jnt_actfrcrange + 2 * jnt;
      *motor = mju_clip(*motor, range[0], range[1]);
    }
  }
}


// Compute d->qDeriv of the actuators with the moments in d.
static void derive(const mjModel* m, mjData* d) {
  mju_zero(d->qDeriv, (int)m->nD);
  mjd_actuator_vel(m, d);
}


// Compute d->qDeriv of the motors of geared tendon which; -1: of all motors without a key; -2 - p: of
// the motors in the key of instance p. moment: all moments.
static void deriveSome(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* moment,
                       int which) {
  const mjgpMotors* motors = &g->config->motors;
  mju_zero(d->actuator_moment, (int)m->nJmom);
  for (int k = 0; k < m->nactuator; k++) {
    int own = motors->drive[k] == which && which >= mjgpDRIVES_JOINTS;
    for (int p = 0; p < motors->nnamed && which < mjgpDRIVES_JOINTS; p++) {
      own |= motors->named[2 * p] == k && motors->named[2 * p + 1] == -2 - which;
    }
    int row = m->actuator_outadr[k];
    for (int end = own ? row + m->actuator_outnum[k] : 0; row < end; row++) {
      int adr = d->moment_rowadr[row];
      mju_copy(d->actuator_moment + adr, moment + adr, d->moment_rownnz[row]);
    }
  }
  derive(m, d);
}


// Returns the entry of a tendon's row with the largest value.
static int largestOf(mjgpRow row) {
  int most = 0;
  for (int k = 1; k < row.n; k++) {
    most = mju_abs(row.value[k]) > mju_abs(row.value[most]) ? k : most;
  }
  return most;
}


// Add the velocity gains of a tendon's motors. The engine has no derivatives along tendons, only
// on joints.
static void addTendonGains(mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* moment, int i) {
  mjgpRow row = g->in.E[i];
  int most = largestOf(row);
  if (row.value[most] != 0) {
    int dof = row.dof[most];
    deriveSome(g, m, d, moment, i);
    g->in.gear[i].implicit -= m->opt.timestep * d->qDeriv[m->D_rowadr[dof] + m->D_diag[dof]] /
                              (row.value[most] * row.value[most]);
  }
}


// Add the engine's bias force of a tendon's armature, by the change of its Jacobian.
static void addTendonBias(mjgpGears* g, const mjModel* m, mjData* d, int i) {
  mjgpRow row = g->in.E[i];
  int tendon = g->config->joint[i].tendon, most = largestOf(row);
  if (m->wrap_type[m->tendon_adr[tendon]] == mjWRAP_JOINT || row.value[most] == 0 ||
      m->tendon_armature[tendon] + mj_actuatorArmature(m, mjOBJ_TENDON, tendon) == 0) {
    return;
  }

  // the engine sums over tendons: a copy of the model has no other armature
  mj_markStack(d);
  mjModel copy = *m;
  copy.tendon_armature = mj_stackAllocNum(d, (size_t)m->ntendon);
  copy.tendon_actuatorid = mj_stackAllocInt(d, (size_t)m->ntendon);
  for (int t = 0; t < m->ntendon; t++) {
    copy.tendon_armature[t] = t == tendon ? m->tendon_armature[t] : 0;
    copy.tendon_actuatorid[t] = t == tendon ? m->tendon_actuatorid[t] : -1;
  }
  mjtNum* force = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(force, (int)m->nv);
  mj_tendonBias(&copy, d, force);
  g->in.gear[i].tau -= force[row.dof[most]] / row.value[most];
  mj_freeStack(d);
}


//---------------------------------- rotor inertia --------------------------------------------------

// Returns row i of S without its diagonal, zero at first.
static mjtNum* rowOf(mjgpGears* g, const mjModel* m, mjData* d, int i) {
  if (!g->in.row[i]) {
    g->in.row[i] = mj_stackAllocNum(d, (size_t)m->nv);
    mju_zero(g->in.row[i], (int)m->nv);
    g->in.rows++;
  }
  return g->in.row[i];
}


// Add scale j' j to S for the gears on joints whose motor this actuator is; M contains
// the share armature of it. drag: factor of the torque proportional to velocity; tau +=
// force j
static void addTerm(mjgpGears* g, const mjModel* m, mjData* d, int actuator, mjtNum scale,
                    mjtNum armature, mjtNum drag, mjtNum force, int n, const int* dof,
                    const mjtNum* j) {
  for (int a = 0; a < n; a++) {
    int i = gearOf(g, actuator, dof[a]);
    if (i < 0 || j[a] == 0) {
      continue;
    }
    mjgpGearInput* in = g->in.gear + i;
    in->tau += j[a] * force;
    in->implicit += scale * j[a] * j[a];
    in->misplaced += armature * j[a] * j[a];
    in->drag += drag * j[a] * j[a];
    for (int b = 0; b < n; b++) {
      if (b == a || j[b] == 0) {
        continue;
      }
      rowOf(g, m, d, i)[dof[b]] += scale * j[a] * j[b];
    }
  }
}


// viscous damping of actuators at velocity v: force/(-v) and - d(force)/dv
static void actuatorDamping(mjtNum* drag, mjtNum* slope, const mjModel* m, mjtObj type, int id,
                            mjtNum v) {
  mjtNum poly[mjNPOLY] = {0}, power = 1, speed = mju_abs(v);
  *drag = *slope = mj_actuatorDamping(m, type, id, poly);
  for (int k = 0; k < mjNPOLY; k++) {
    power *= speed;
    *drag += poly[k] * power;
    *slope += (k + 2) * poly[k] * power;
  }
}


// Add armature and damping that joints and tendons have from their actuators.
static void addMechanics(mjgpGears* g, const mjModel* m, mjData* d) {
  int damps = !(m->opt.disableflags & mjDSBL_DAMPER), euler = m->opt.integrator == mjINT_EULER;
  int implicit = !euler || !(m->opt.disableflags & mjDSBL_EULERDAMP);
  mjtNum h = m->opt.timestep, drag, slope;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], joint = g->config->joint[i].joint;
    if (joint < 0 || m->jnt_actuatorid[joint] == -1) {
      continue;
    }
    mjgpGearInput* in = g->in.gear + i;
    in->implicit += mj_actuatorArmature(m, mjOBJ_JOINT, joint);
    in->misplaced += mj_actuatorArmature(m, mjOBJ_JOINT, joint);
    actuatorDamping(&drag, &slope, m, mjOBJ_JOINT, joint, in->v);
    if (damps) {
      in->drag += drag;
      in->tau -= drag * in->v;
      in->implicit += implicit ? h * slope : 0;
    }
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_actuatorid[t] == -1) {
      continue;
    }
    int gear = g->config->tendon[t], k = 0;
    if (gear >= 0) {
      mjgpGearInput* in = g->in.gear + gear;
      in->implicit += mj_actuatorArmature(m, mjOBJ_TENDON, t);
      in->misplaced += mj_actuatorArmature(m, mjOBJ_TENDON, t);
      actuatorDamping(&drag, &slope, m, mjOBJ_TENDON, t, in->v);
      in->tau -= damps ? drag * in->v : 0;
      in->drag += damps ? drag : 0;
      in->implicit += damps && !euler ? h * slope : 0;
      continue;
    }
    int n = m->ten_J_rownnz[t], adr = m->ten_J_rowadr[t];
    const int* dof = m->ten_J_colind + adr;
    const mjtNum* J = d->ten_J + adr;
    mjtNum armature = mj_actuatorArmature(m, mjOBJ_TENDON, t);
    actuatorDamping(&drag, &slope, m, mjOBJ_TENDON, t, d->ten_velocity[t]);
    drag = damps ? drag : 0;

    // all actuators of the tendon are motors of the same gears
    while (m->actuator_trntype[k] != mjTRN_TENDON || m->actuator_trnid[2 * k] != t) {
      k++;
    }
    addTerm(g, m, d, k, armature + (damps && !euler ? h * slope : 0), armature, drag,
            -drag * d->ten_velocity[t], n, dof, J);
  }
}


// Returns the form of all actuators' gains in any state.
static mjgpGains findGains(const mjModel* m) {
  mjgpGains gains = mjgpGAINS_NONE;
  for (int i = 0; i < m->nactuator; i++) {
    int type = m->actuator_trntype[i];
    if (!mjgp_hasGain(m, i)) {
      continue;
    }
    int id = m->actuator_trnid[2 * i];
    int scalar = (type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT) &&
                 (m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE);
    if (!scalar && !(type == mjTRN_TENDON && m->ten_J_rownnz[id] == 1)) {
      return mjgpGAINS_GENERAL;
    }
    gains = mjgpGAINS_DIAGONAL;
  }
  return gains;
}


int mjgp_actuationMatters(const mjgpGears* g, const mjModel* m) {
  int forces = g->config->motors.mixed || g->config->gaps, limited = 0, gains = 0;

  // an actuator at a force limit, its own or its target's, has no gain
  for (int i = 0; i < m->njnt; i++) {
    limited |= m->jnt_actfrclimited[i];
  }
  for (int i = 0; i < m->ntendon; i++) {
    limited |= m->tendon_actfrclimited[i];
  }
  for (int i = 0; i < m->nactuator && m->opt.integrator != mjINT_EULER && !forces; i++) {
    int own = mjgp_hasGain(m, i), bias = m->actuator_biastype[i];
    gains |= own;
    forces =
        own && (limited || m->actuator_forcelimited[i] || m->actuator_gaintype[i] != mjGAIN_FIXED ||
                (bias != mjBIAS_NONE && bias != mjBIAS_AFFINE));
  }
  return forces ? 1 : -gains;
}


// Rotors behind gaps may share an actuator, through a tendon without a gear for instance. Entries
// of S off its diagonal are no part of a shaft's law, and without them servos of three rotors
// diverge at any step. Their absolute values are added to the diagonal: exact if all rotors move
// alike, else an error of first order in the step.

// Returns 1 if an actuator has such rotors.
static int isShared(const mjgpGears* g, const mjModel* m, const mjData* d, int actuator) {
  int drive = g->config->motors.drive[actuator];
  return g->config->rotors && (drive == mjgpDRIVES_JOINTS || drive == mjgpDRIVES_NAMED) &&
         d->moment_rownnz[m->actuator_outadr[actuator]] > 1;
}


// Returns the sum of absolute values of a row of moments without one.
static mjtNum sumOthers(const mjData* d, const mjtNum* moment, int row, int own) {
  mjtNum sum = 0;
  for (int p = d->moment_rowadr[row]; p < d->moment_rowadr[row] + d->moment_rownnz[row]; p++) {
    sum += p == own ? 0 : mju_abs(moment[p]);
  }
  return sum;
}


// Add the row sums of gains for the implicit integrators: the engine's derivative with moments whose
// squares they are. moment: all moments. Returns 1 if it has changed d->qDeriv and the moments in d.
static int addSharedGains(mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* moment) {
  int shared = 0;
  for (int k = 0; k < m->nactuator; k++) {
    shared |= isShared(g, m, d, k);
  }
  if (!shared) {
    return 0;
  }
  mju_zero(d->actuator_moment, (int)m->nJmom);
  for (int k = 0; k < m->nactuator; k++) {
    int row = m->actuator_outadr[k];
    for (int end = isShared(g, m, d, k) ? row + m->actuator_outnum[k] : 0; row < end; row++) {
      for (int p = d->moment_rowadr[row]; p < d->moment_rowadr[row] + d->moment_rownnz[row]; p++) {
        d->actuator_moment[p] = mju_sqrt(mju_abs(moment[p]) * sumOthers(d, moment, row, p));
      }
    }
  }
  derive(m, d);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], dof = g->config->joint[i].dof;
    if (g->config->joint[i].gap == mjgpGAP_ROTOR && dof >= 0) {
      g->in.gear[i].shared -= m->opt.timestep * d->qDeriv[m->D_rowadr[dof] + m->D_diag[dof]];
    }
  }
  return 1;
}


// Add velocity gains of motors in d->qDeriv to the geared joints of one instance; -1: of all.
static void addJointGains(mjgpGears* g, const mjModel* m, mjData* d, int instance) {
  mjtNum h = m->opt.timestep;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], dof = g->config->joint[i].dof;
    if (g->config->joint[i].kind == mjgpTRN_TENDON ||
        (instance >= 0 && g->config->joint[i].instance != instance)) {
      continue;
    }
    int adr = m->D_rowadr[dof];
    g->in.gear[i].implicit -= h * d->qDeriv[adr + m->D_diag[dof]];
    for (int k = adr; k < adr + m->D_rownnz[dof] && g->in.gains == mjgpGAINS_GENERAL; k++) {
      int column = m->D_colind[k];
      if (column == dof || d->qDeriv[k] == 0 ||
          (m->opt.integrator == mjINT_IMPLICITFAST && !mjgp_isInInertia(m, dof, column))) {
        continue;
      }
      rowOf(g, m, d, i)[column] -= h * d->qDeriv[k];
    }
  }
}


// Add the same where not all actuators are motors of all gears that they move.
static void addMotorGains(mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* moment) {
  const mjgpMotors* motors = &g->config->motors;
  for (int a = 0; a < g->in.nactive; a++) {
    if (g->config->joint[g->in.active[a]].kind == mjgpTRN_TENDON) {
      addTendonGains(g, m, d, moment, g->in.active[a]);
    }
  }
  deriveSome(g, m, d, moment, mjgpDRIVES_JOINTS);
  addJointGains(g, m, d, -1);
  for (int p = 0; p < motors->nnamed; p++) {  // names of an instance stand side by side
    int instance = motors->named[2 * p + 1];
    if (!p || instance != motors->named[2 * p - 1]) {
      deriveSome(g, m, d, moment, -2 - instance);
      addJointGains(g, m, d, instance);
    }
  }
}


// Add velocity gains of the implicit integrators, from the engine's derivative.
static void addVelocityGains(mjgpGears* g, const mjModel* m, mjData* d) {
  int mixed = g->config->motors.mixed;
  if (g->in.gains == mjgpGAINS_NONE) {
    return;
  }
  mjtNum* moment = mixed || g->config->rotors ? mj_stackAllocNum(d, (size_t)m->nJmom) : NULL;
  if (moment) {
    mju_copy(moment, d->actuator_moment, (int)m->nJmom);
  }
  if (mixed) {
    addMotorGains(g, m, d, moment);
  } else {
    derive(m, d);
    addJointGains(g, m, d, -1);
  }

  // the effective inertia has the gains of all actuators
  if (addSharedGains(g, m, d, moment) || mixed) {
    mju_copy(d->actuator_moment, moment, (int)m->nJmom);
    derive(m, d);
  }
}


// Add gains in the effective inertia of "discrete".
static void addDiscreteGains(mjgpGears* g, const mjModel* m, mjData* d) {
#if mjgpDISCRETE
  for (int k = 0; k < d->nefmA; k++) {
    int actuator = d->efm_aid[k], out = m->actuator_outadr[actuator];
    int gear = g->config->motors.drive[actuator];
    if (gear >= 0) {
      mjgpGearInput* in = g->in.gear + gear;
      mjtNum ratio = ratioOf(m, actuator);
      in->implicit += d->efm_as[k] * ratio * ratio;
      in->drag += d->efm_ak[k] * ratio * ratio;
      in->tau -= d->efm_ak[k] * d->actuator_velocity[out] * ratio;
    }
    for (int row = out; row < out + m->actuator_outnum[actuator] && gear < 0; row++) {
      int adr = d->moment_rowadr[row];
      for (int p = adr; p < adr + d->moment_rownnz[row] && isShared(g, m, d, actuator); p++) {
        int i = gearOf(g, actuator, d->moment_colind[p]);
        if (i >= 0 && g->config->joint[i].gap == mjgpGAP_ROTOR) {
          g->in.gear[i].shared += d->efm_as[k] * mju_abs(d->actuator_moment[p]) *
                                  sumOthers(d, d->actuator_moment, row, p);
        }
      }
      addTerm(g, m, d, actuator, d->efm_as[k], 0, d->efm_ak[k],
              -d->efm_ak[k] * d->actuator_velocity[row], d->moment_rownnz[row],
              d->moment_colind + adr, d->actuator_moment + adr);
    }
  }
#else
  (void)g, (void)m, (void)d;
#endif
}


void mjgp_gatherActuation(mjgpGears* g, const mjModel* m, mjData* d, int actuated) {
  int implicit = m->opt.integrator == mjINT_IMPLICIT || m->opt.integrator == mjINT_IMPLICITFAST;
  int discrete = actuated && mjgp_isDiscrete(m), mechanics = m->ntendon > 0;
  g->in.reaches = g->in.rows = g->in.removes = 0;
  g->in.gains = actuated && implicit ? findGains(m) : mjgpGAINS_NONE;
  memset(g->in.row, 0, sizeof(*g->in.row) * (size_t)g->config->n);
  int mixed = g->config->motors.mixed && actuated > 0;
  if (mixed) {
    for (int i = 0; i < g->config->n; i++) {
      g->in.gear[i].motor = 0;
    }
    sumMotors(g, m, d);
  }
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], jnt = g->config->joint[i].joint, dof = g->config->joint[i].dof;
    mjgpGearInput* in = g->in.gear + i;
    if (!mixed) {
      in->motor = jnt >= 0 && actuated > 0 ? d->qfrc_actuator[dof] : 0;
    }
    in->tau = in->motor;
    in->inertia = mjgp_armature(m, g->config->joint + i);
    in->implicit = in->drag = in->shared = in->misplaced = in->removed = 0;
    mechanics |= jnt >= 0 && m->jnt_actuatorid[jnt] != -1;
  }
  if (!mechanics && !discrete && g->in.gains == mjgpGAINS_NONE) {
    return;
  }
  for (int a = 0; a < g->in.nactive && g->config->ngeared; a++) {
    if (g->config->joint[g->in.active[a]].kind == mjgpTRN_TENDON) {
      addTendonBias(g, m, d, g->in.active[a]);
    }
  }
  addMechanics(g, m, d);
  if (discrete) {
    addDiscreteGains(g, m, d);
  } else {
    addVelocityGains(g, m, d);
  }
  mjgp_splitGains(g, m, actuated != 0);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    g->in.gear[i].inertia += g->in.gear[i].implicit;
    if (g->in.row[i]) {
      int tree = m->dof_treeid[g->config->joint[i].dof];
      for (int k = 0; k < m->nv; k++) {
        g->in.reaches |= g->in.row[i][k] != 0 && m->dof_treeid[k] != tree;
      }
    }
  }

  // rows of rotor inertia may reach trees on which no gear acts
  for (int t = 0; t < g->config->ntree && g->in.reaches; t++) {
    g->in.tree[t] = t;
    g->in.ntree = g->config->ntree;
  }
}

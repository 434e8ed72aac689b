#include "callbacks/step.h"

#include <string.h>

#include "configuration/engine.h"
#include "configuration/names.h"
#include "gear/backlash.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "model/actuation.h"
#include "model/effective_inertia.h"
#include "model/evaluation.h"
#include "model/free_body.h"
#include "model/rotors.h"
#include "model/simd.h"
#include "observe/sensor.h"
#include "solver/coupling.h"
#include "state/changes.h"
#include "state/gears.h"


//---------------------------------- forces --------------------------------------------------------

// Returns 1 if the joint of a gear, or a joint of its tendon, is awake.
static int isAwake(const mjModel* m, const mjData* d, mjgpRow row) {
  int awake = !(m->opt.enableflags & mjENBL_SLEEP) && row.n;
  for (int k = 0; k < row.n && !awake; k++) {
    awake = mjgp_isAwake(m, d, row.dof[k]);
  }
  return awake;
}


// Returns the velocity on which a gear acts; for a gap between two joints, the motor's less the
// load's.
static mjgpRow rowOf(const mjModel* m, const mjData* d, const mjgpJoint* joint) {
  int pair = joint->gap == mjgpGAP_LOAD;
  return pair ? (mjgpRow){2, joint->sides, joint->signs} : mjgp_row(m, d, joint);
}


void mjgp_gatherActive(mjgpGears* g, const mjModel* m, const mjData* d) {
  const mjgpConfig* config = g->config;
  int all = !(m->opt.enableflags & mjENBL_SLEEP), nactive = 0, ntree = 0;
  for (int i = 0; i < config->n; i++) {
    g->in.E[i] = rowOf(m, d, config->joint + i);
    if ((all && config->own[i] >= 0) || isAwake(m, d, g->in.E[i])) {
      g->in.active[nactive++] = i;
      g->in.gear[i].v = mjgp_mulRow(g->in.E[i], d->qvel);
      g->in.gear[i].q = mjgp_position(d, config->joint + i);
      g->in.dozing[i] = 0;
    }
  }
  for (int t = 0; t < config->ntree; t++) {
    if (config->reached[t] && (all || d->tree_awake[t] || config->spanning)) {
      g->in.tree[ntree++] = t;
    }
  }
  g->in.nactive = nactive;
  g->in.ntree = ntree;
}


// Mark trees that the engine is putting to sleep, at rest. A saved state does not say who sleeps,
// and trees that wake return to the same numbers. Returns 1 if there are any.
static int markFallingAsleep(mjgpGears* g, const mjModel* m, mjData* d) {
  if (!(m->opt.enableflags & mjENBL_SLEEP)) {
    return 0;
  }
  mjtNum* acc = d->plugin_state + g->config->acc;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    g->in.dozing[i] = d->tree_asleep[m->dof_treeid[g->in.E[i].dof[0]]] >= 0;
  }
  for (int k = 0; k < (int)m->nv; k++) {
    acc[k] = d->tree_asleep[m->dof_treeid[k]] >= 0 ? 0 : acc[k];
  }
  int dozing = 0;
  for (int t = 0; t < (int)m->ntree && !dozing; t++) {
    dozing = d->tree_awake[t] && d->tree_asleep[t] >= 0;
  }
  return dozing;
}


// Keep only the gears of trees that fall asleep, and return the number before. The others move as
// solved, although activations are advanced already. Not under "discrete", which moves by new
// forces.
static int keepFallingAsleep(int* active, mjgpGears* g) {
  int nactive = g->in.nactive, n = 0;
  for (int a = 0; a < nactive; a++) {
    active[a] = g->in.active[a];
    if (g->in.dozing[active[a]]) {
      g->in.active[n++] = active[a];
    }
  }
  g->in.nactive = n;
  return nactive;
}


// Set passive forces without friction, in d->qfrc_passive too.
static void removeFriction(mjgpGears* g, const mjModel* m, mjData* d) {
  int fresh = g->phase == mjgpPHASE_FRESH, passive = mjgp_passiveActive(m);
  for (int k = 0; k < g->config->ndof; k++) {
    int dof = g->config->dof[k];
    if (!mjgp_isAwake(m, d, dof)) {
      continue;
    }
    if (!passive) {
      g->in.base[dof] = 0;
    } else if (fresh) {
      g->in.base[dof] = d->qfrc_passive[dof];
    }
    d->qfrc_passive[dof] = g->in.base[dof];
  }
  g->phase = mjgpPHASE_IDLE;
}


void mjgp_addWrenches(mjtNum* force, const mjModel* m, mjData* d, mjtNum scale) {
  if (mjgp_isZero(d->xfrc_applied, 1, 6 * (int)m->nbody)) {
    return;
  }
  for (int i = 1; i < (int)m->nbody; i++) {
    mjtNum wrench[6];
    mju_scl(wrench, d->xfrc_applied + 6 * i, scale, 6);
    if (!mjgp_isZero(wrench, 1, 6)) {
      mj_applyFT(m, d, wrench, wrench + 3, d->xipos + 3 * i, i, force);
    }
  }
}


// Sum all forces except those of constraints and friction                       (nv)
static void smoothForce(mjtNum* force, const mjModel* m, mjData* d, const mjtNum* actuator) {
  const mjtNum *passive = d->qfrc_passive, *bias = d->qfrc_bias, *applied = d->qfrc_applied;
  int nv = (int)m->nv;
  for (int i = 0; i < nv; i++) {
    force[i] = passive[i] - bias[i] + applied[i] + (actuator ? actuator[i] : 0);
  }
  mjgp_addWrenches(force, m, d, 1);
}


// Add the change of forces over the step by springs and position gains under "discrete".
static void addDiscreteShift(mjtNum* force, const mjModel* m, const mjData* d) {
#if mjgpDISCRETE
  for (int i = 0; i < (int)m->nv && mjgp_isDiscrete(m) && d->efm_active; i++) {
    force[i] += (d->efm_c ? d->efm_c[i] : 0) + (d->nefmA ? d->efm_ca[i] : 0);
  }
#else
  (void)force, (void)m, (void)d;
#endif
}


//---------------------------------- one step ------------------------------------------------------

// Warn that keyframes hold no state of plugins, for a start after time 0.
static void warnOfKeyframe(mjgpGears* g, const mjData* d) {
  int begun = g->begun, relaxed = 0, loaded = 0;
  g->begun = 1;
  if (begun || d->time == 0) {
    return;
  }
  for (int i = 0; i < g->config->n; i++) {
    int yields = g->in.joint[i]->gear.presliding_stiffness > 0;
    relaxed |= yields;
    loaded |= yields && d->plugin_state[g->config->state[i]] != 0;
  }
  int gaps = g->config->gaps && mjgp_areGapsNew(g, d);
  if (gaps || (relaxed && !loaded)) {
    mjgp_warn(
        g, mjgpWARN_KEYFRAME,
        "the simulation begins at time %g with %s, because keyframes and states without plugins "
        "hold no more. Save and restore running simulations with mj_getState and mj_setState",
        d->time,
        gaps ? "rotors at rest in the middle of their gaps" : "relaxed springs of pre-sliding");
  }
}


// Warn of a servo so stiff that constraints and integrator disagree about the joint's inertia.
static void warnOfGains(mjgpGears* g, const mjModel* m) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    const mjgpJoint* joint = g->config->joint + i;
    mjtNum gains = g->in.gear[i].implicit - g->in.gear[i].removed;
    mjtNum inertia = gains > 0 ? mjgp_restInertia(m, joint) : 0;
    if (gains > mjgpGAINS * inertia) {
      const char* name = mjgp_gearName(m, joint);
      mjgp_warn(g, mjgpWARN_STIFF,
                "%s '%.60s': the gains and the damping of its motor, which the integrator applies "
                "at the end of the step, are %.3g times its inertia, and the engine's constraint "
                "solver does not know them. Contacts of such joints are coarse and may have no "
                "solution; set integrator=\"discrete\"",
                mjgp_gearKind(joint), name ? name : "", gains / inertia);
    }
  }
}


static void setStuck(mjgpGears* g, int i) {
  g->out.t[i] = g->out.v_next[i] = g->out.cancellation[i] = g->out.rounding[i] = 0;
  g->out.u[i] = g->in.gear[i].tau;
  g->out.lambda[i] = (g->in.gear[i].gamma_u + g->in.gear[i].gamma_v) * g->in.gear[i].tau;
  g->out.mode[i] = 0;
}


void mjgp_reportNoFriction(mjgpGears* g, mjData* d, const mjModel* m, int status) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    g->out.t[i] = g->out.lambda[i] = g->out.u[i] = 0;
    g->out.v_next[i] = g->in.gear[i].v;
    g->out.mode[i] = 0;
  }
  g->out.info = (mjgInfo){.status = status};
  mjgp_writeSensors(g, m, d);
}


// Restore the actuator forces of the engine; null: they are unchanged.
static void restoreForces(mjData* d, const mjtNum* given, int n) {
  if (given) {
    mju_copy(d->actuator_force, given, n);
  }
}


// Compute the friction of this step and add it to the passive forces. Long because it is the
// table of contents of a step.
static void step(mjgpGears* g, const mjModel* m, mjData* d, int actuated) {
  mjgp_checkModel(g, m);
  mjgp_applyChanges(g, m, d);
  mjgp_restoreReference(g, m, d, g->phase == mjgpPHASE_FRESH);
  mjgp_gatherActive(g, m, d);
  int settles = markFallingAsleep(g, m, d) && g->done && !mjgp_isDiscrete(m);
  if (!g->in.nactive) {
    g->phase = mjgpPHASE_IDLE;
    return;
  }
  if (m->opt.integrator == mjINT_RK4) {
    mjgp_warn(g, mjgpWARN_INTEGRATOR,
              "the integrator was changed to RK4, for which gear friction does not hold; it is "
              "computed as for "
              "Euler. Set mjINT_IMPLICITFAST, mjINT_IMPLICIT, mjINT_EULER or mjINT_DISCRETE");
  }
  if (g->config->spanning && m->opt.enableflags & mjENBL_SLEEP) {
    mjgp_warn(g, mjgpWARN_SLEEP,
              "the flag sleep was set in a model where a gear connects kinematic trees, which may "
              "not fall asleep one by one. Disable it");
  }
  warnOfKeyframe(g, d);
  mj_markStack(d);
  removeFriction(g, m, d);
  int* active = settles ? mj_stackAllocInt(d, (size_t)g->config->n) : NULL;
  int nactive = settles ? keepFallingAsleep(active, g) : g->in.nactive;
  mjgInfo moved = g->out.info;

  // motor torque; without active actuators the callback comes earlier
  const mjtNum* given = mjgp_evaluateActuation(g, m, d, actuated);
  mjgp_gatherActuation(g, m, d, actuated);

  mjgp_takeMotors(g, d);

  // forces without friction and the effect of forces on velocity
  mjtNum* force = g->scratch.force;
  smoothForce(force, m, d, actuated ? d->qfrc_actuator : NULL);
  if (!actuated) {
    mju_copy(g->in.force, force, g->config->nv);
  }
  addDiscreteShift(force, m, d);
  if (!mjgp_isZero(force, 0, g->config->nv) || !mjgp_isZero(d->qvel, 0, g->config->nv)) {
    removeFriction(g, m, d);
    mjgp_reportNoFriction(g, d, m, mjgERR_NOT_FINITE);
    restoreForces(d, given, (int)m->nout);
    mj_freeStack(d);
    return;
  }
  g->early = !actuated;
  mjgpInertia Mhat;
  mjgp_makeInertia(&Mhat, m, d, g);
  mjgp_findBlocks(&Mhat, m, d, g);
  if (d->nefc && !Mhat.solver) {
    warnOfGains(g, m);
  }

  // gains through tendons are not in the sparsity of M: the engine iterates without a warm start
  g->out.tolerance = Mhat.coupled ? m->opt.tolerance : 0;

  memset(&g->out.info, 0, sizeof(g->out.info));
  g->out.info.status = g->refused ? mjgERR_ARGUMENT : mjgSOLVED;

  // the law of this step, from the last solution; with constraints both are solved together
  mjgp_makeLaw(g, m, d);
  int *joint = g->scratch.joint, n = 0;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    if (g->config->own[i] < 0 && mjgp_standsStill(g->in.E[i])) {
      setStuck(g, i);
      continue;
    }
    joint[n++] = i;
    mjgp_startJoint(g, d, i);
    if (g->config->gaps && mjgp_hasGap(g->config->joint + i)) {
      mjgp_makeCoupling(g, m, d, i);
    }
  }
  mjgp_solveGears(g, m, d, &Mhat, force, joint, n);
  if (settles && g->in.nactive < nactive) {
    memcpy(g->in.active, active, (size_t)nactive * sizeof(int));
    g->in.nactive = nactive;
    g->out.info = moved;
  }

  mjgp_applyFriction(g, m, d, g->out.t);
  mjgp_shiftReference(g, m, d);
  g->done = 1;
  mjgp_writeSensors(g, m, d);
  restoreForces(d, given, (int)m->nout);
  mj_freeStack(d);
}


//---------------------------------- callbacks -----------------------------------------------------

// Passive forces of inverse dynamics: without motor torque gears do nothing.
static void findInverse(mjgpGears* g, const mjData* d) {
  int stages = mjgp_inverseStages(d);
  g->inverse = stages > g->stages;
  g->stages = stages;
  if (g->inverse) {
    mjgp_warn(g, mjgpWARN_INVERSE,
              "the torques of mj_inverse are those without gears: friction in them is missing; "
              "doc/inverse.md has functions that know it");
  }
}


void mjgp_compute(const mjModel* m, mjData* d, int instance, int capability_bit) {
  // the leader is the first instance and alone has data; without actuation the last instance acts
  int alone = capability_bit != mjPLUGIN_PASSIVE || mjgp_actuationActive(m);
  if (alone && instance > 0 && m->plugin[instance] == m->plugin[instance - 1]) {
    return;
  }
  int leader = mjgp_leader(m, mjgp_slot());
  if ((alone && instance != leader) || mjgp_seeksLengths(m)) {
    return;
  }
  mjgpGears* g = mjgp_gearsOf(m, d, leader);
  if (g->nested) {
    return;
  }

  // passive forces are new; without actuation the step is computed here, after all instances
  if (capability_bit == mjPLUGIN_PASSIVE) {
    g->phase = mjgpPHASE_FRESH;
    if (instance == leader) {
      findInverse(g, d);
    }
    if (instance == g->config->last && !mjgp_actuationActive(m) && !g->inverse) {
      step(g, m, d, 0);
    }
  }

  // actuator forces are about to be summed: compute the step
  else if (capability_bit == mjPLUGIN_ACTUATOR) {
    step(g, m, d, 1);
  }
}

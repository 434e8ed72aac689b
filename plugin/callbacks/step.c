#include "callbacks/step.h"

#include <string.h>

#include "configuration/jacobian.h"
#include "configuration/names.h"
#include "coupled/coupling.h"
#include "friction/actuation.h"
#include "friction/backlash.h"
#include "friction/effective_inertia.h"
#include "friction/engine.h"
#include "friction/friction.h"
#include "friction/simd.h"
#include "friction/tree.h"
#include "observe/sensor.h"
#include "state/changes.h"
#include "state/gears.h"

// the engine's own solver must find the motion that was solved for, up to this fraction of the
// velocities that it is the difference of
#define mjgpCONFIRMED 1e-6

// a slipping joint that its friction drives is not confirmed above this fraction of them
#define mjgpDRIVES 1e-8

// a stuck joint's velocity is set to exactly 0 if it is below this fraction of the velocities that it
// is the difference of, that is if it can be nothing but rounding
#define mjgpROUNDING 1e-10

// the tolerance of the engine's iterations is that of their residual; velocities are known to this many times it
#define mjgpITERATED 10

// and of this part of those of the fastest joint: joints that act on each other are solved as one
#define mjgpSHARED 0.1

// share of the velocities of the fastest joint that the engine's solver may be wrong by besides, which ends when the
// cost of all joints together does not fall any more
#define mjgpFASTEST 1e-3

// velocity in rad/s or m/s that counts as none, whatever it is the difference of
#define mjgpSTILL 1e-14

// and one that is worth a warning
#define mjgpSEEN 1e-9

// change of the forces, of their sum, after which friction is not that of the step any more
#define mjgpCHANGED 1e-8

// gains of a motor that are this many times the inertia of its joint are said once
#define mjgpSTIFF 100


//---------------------------------- forces --------------------------------------------------------

// does mj_passive call plugins; if not it leaves passive forces at zero
static int passiveActive(const mjModel* m) {
  int flags = mjDSBL_SPRING | mjDSBL_DAMPER;
  return (m->opt.disableflags & flags) != flags;
}


// velocity on which gear i acts
static inline mjtNum velocityOf(const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  int own = g->config->own[i];
  return own >= 0 ? d->qvel[own] : mjgp_mulRow(m, d, g->config->joint + i, d->qvel);
}


// joints that are awake, with velocity and position, and their trees. Trees that a tendon connects fall asleep together
static void gatherActive(mjgpGears* g, const mjModel* m, const mjData* d) {
  int all = !(m->opt.enableflags & mjENBL_SLEEP), nactive = 0, ntree = 0;
  for (int i = 0; i < g->config->n; i++) {
    const mjgpJoint* joint = g->config->joint + i;
    int own = g->config->own[i], awake = all;
    if (!all || own < 0) {
      int n;
      const int* dof = mjgp_rowDofs(&n, m, joint);
      awake = all && n;
      for (int k = 0; k < n && !awake; k++) {
        awake = mjgp_isAwake(m, d, dof[k]);
      }
    }
    if (awake) {
      g->in.active[nactive++] = i;
      g->in.v[i] = velocityOf(g, m, d, i);
      g->in.q[i] = mjgp_position(d, joint);
    }
  }
  for (int t = 0; t < g->config->ntree; t++) {
    if (g->config->reached[t] && (all || d->tree_awake[t] || g->config->spanning)) {
      g->in.tree[ntree++] = t;
    }
  }
  g->in.nactive = nactive;
  g->in.ntree = ntree;
}


// passive force without friction; d->qfrc_passive returns to it
static void removeFriction(mjgpGears* g, const mjModel* m, mjData* d) {
  int fresh = g->phase == mjgpFRESH, passive = passiveActive(m);
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
  g->phase = mjgpIDLE;
}


// sum of all forces but those of constraints and of friction                    (nv)
static void smoothForce(mjtNum* force, const mjModel* m, mjData* d, const mjtNum* actuator) {
  const mjtNum *passive = d->qfrc_passive, *bias = d->qfrc_bias, *applied = d->qfrc_applied;
  int nv = (int)m->nv, nbody = (int)m->nbody;
  for (int i = 0; i < nv; i++) {
    force[i] = passive[i] - bias[i] + applied[i];
  }
  if (actuator) {
    mju_addTo(force, actuator, nv);
  }
  if (mjgp_isZero(d->xfrc_applied, 1, 6 * nbody)) {
    return;
  }
  for (int i = 1; i < nbody; i++) {
    const mjtNum* wrench = d->xfrc_applied + 6 * i;
    if (!mjgp_isZero(wrench, 1, 6)) {
      mj_applyFT(m, d, wrench, wrench + 3, d->xipos + 3 * i, i, force);
    }
  }
}


// under "discrete" springs and position gains act at the end of the step: what that changes at this velocity
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

// number of the first joints that act on each other without constraints: those of a tree, or of trees that gaps
// couple
static int countBlock(const mjgpGears* g, const int* joint, int n) {
  int count = 1;
  while (count < n && g->config->block[joint[count]] == g->config->block[joint[0]]) {
    count++;
  }
  return count;
}


// joints block by block; a tree's stay together
static void sortBlocks(const mjgpGears* g, mjData* d, int* joint, int n) {
  mj_markStack(d);
  int *sorted = mj_stackAllocInt(d, (size_t)(n + g->config->ntree + 1)), *adr = sorted + n;
  memset(adr, 0, sizeof(int) * (size_t)(g->config->ntree + 1));
  for (int i = 0; i < n; i++) {
    adr[g->config->block[joint[i]] + 1]++;
  }
  for (int t = 0; t < g->config->ntree; t++) {
    adr[t + 1] += adr[t];
  }
  for (int i = 0; i < n; i++) {
    sorted[adr[g->config->block[joint[i]]]++] = joint[i];
  }
  memcpy(joint, sorted, sizeof(int) * (size_t)n);
  mj_freeStack(d);
}


// is the rotor inertia of these joints more than a number of each of them
static int isCoupled(const mjgpGears* g, const int* joint, int n) {
  int coupled = 0;
  for (int a = 0; a < n; a++) {
    int i = joint[a];
    coupled |= g->in.row[i] || (g->config->joint[i].gap == mjgpGAP_ROTOR && g->in.implicit[i] != 0);
  }
  return coupled;
}


// friction of a tree that no constraint acts on, or with constraint forces of the last step; z: U^-1 force.
// Returns 0 if it is not solved
static int solveTree(mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                     const mjtNum* z, const int* joint, int n) {
  mj_markStack(d);
  size_t count = (size_t)n;
  mjtNum* number = mj_stackAllocNum(d, 2 * count + count * count);
  mjgpProblem problem = {
      .n = n, .joint = joint, .a = number, .size = number + n, .W = number + 2 * n};

  // acceleration without friction, and its effect
  for (int i = 0; i < n; i++) {
    problem.a[i] = mjgp_forward(problem.size + i, z, m, Mhat, g, joint[i]) + g->in.lag[joint[i]];
    for (int j = 0; j < n; j++) {
      problem.W[i * n + j] = Mhat->symmetric && j < i ? problem.W[j * n + i]
                                                      : mjgp_entry(m, Mhat, g, joint[i], joint[j]);
    }
  }
  int status = mjgp_solveFriction(g, m, d, &problem);
  int solved = status == mjgSOLVED || status == mjgJAMMED;
  if (solved) {
    mjgp_countFriction(g, m, d, status, -1);
  }
  mj_freeStack(d);
  return solved;
}


// gears on trees that tendons of several joints act on; returns the number of gears on others, which move to the front
static int solveTendons(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                        const mjtNum* force, int* joint, int n) {
  // tendons are the last ones
  while (n && g->config->joint[joint[n - 1]].dof < 0) {
    int block = g->config->block[joint[n - 1]], left = 0, npart = 0;
    mj_markStack(d);
    int* part = mj_stackAllocInt(d, (size_t)n);
    for (int i = 0; i < n; i++) {
      if (g->config->block[joint[i]] == block) {
        part[npart++] = joint[i];
      } else {
        joint[left++] = joint[i];
      }
    }
    mjgp_coupleFree(g, m, d, Mhat, force, part, npart);
    mj_freeStack(d);
    n = left;
  }
  return n;
}


// friction of joints that no constraint acts on, tree by tree
static void solveFree(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                      const mjtNum* force, int* joint, int n) {
  if (Mhat->coupled || g->in.reaches) {
    mjgp_coupleFree(g, m, d, Mhat, force, joint, n);
    return;
  }
  n = solveTendons(g, m, d, Mhat, force, joint, n);
  n = mjgp_solveTrees(g, m, d, Mhat, force, joint, n);
  if (!n) {
    return;
  }
  mj_markStack(d);
  mjtNum* z = mj_stackAllocNum(d, (size_t)m->nv);
  if (g->config->crossing) {
    sortBlocks(g, d, joint, n);
  }
  mjgp_makeChains(Mhat, m, d, g);
  mjgp_backward(z, force, m, Mhat, g);
  for (int start = 0, size; start < n; start += size) {
    size = countBlock(g, joint + start, n - start);
    if (isCoupled(g, joint + start, size) || !solveTree(g, m, d, Mhat, z, joint + start, size)) {
      mjgp_coupleFree(g, m, d, Mhat, force, joint + start, size);
    }
  }
  mj_freeStack(d);
}


// a servo so stiff that constraints and integrator see different joints: say so, and what helps
static void warnOfGains(mjgpGears* g, const mjModel* m) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    const mjgpJoint* joint = g->config->joint + i;
    mjtNum inertia = g->in.implicit[i] > 0 ? mjgp_restInertia(m, joint) : 0;
    if (g->in.implicit[i] > mjgpSTIFF * inertia) {
      const char* name = mjgp_gearName(m, joint);
      mjgp_warn(g, mjgpWARN_STIFF,
                "%s '%.60s': what the integrator takes at the end of the step of its motor is "
                "%.3g times its "
                "inertia, and the engine's constraint solver does not know it. Contacts of such "
                "joints are coarse and "
                "may have no solution; set integrator=\"discrete\"",
                mjgp_gearKind(joint), name ? name : "", g->in.implicit[i] / inertia);
    }
  }
}


// does no motion of its joints change a tendon's length, as where it lies along a link: friction does nothing then
static int standsStill(const mjModel* m, const mjData* d, const mjgpJoint* joint) {
  mjgpRow row = mjgp_row(m, d, joint);
  mjtNum most = 0;
  for (int k = 0; k < row.n; k++) {
    most = mju_max(most, mju_abs(row.value[k]));
  }
  return most < mjMINVAL;
}


static void holdStill(mjgpGears* g, int i) {
  g->out.t[i] = g->out.v_next[i] = g->out.cancellation[i] = g->out.rounding[i] = g->in.lag[i] = 0;
  g->out.u[i] = g->in.tau[i];
  g->out.lambda[i] = (g->in.gamma_u[i] + g->in.gamma_v[i]) * g->in.tau[i];
  g->out.mode[i] = g->out.jammed[i] = 0;
}


// no friction in this step, and a status that says why
static void leave(mjgpGears* g, mjData* d, const mjModel* m, int status) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    g->out.t[i] = g->out.lambda[i] = g->out.u[i] = 0;
    g->out.v_next[i] = g->in.v[i];
    g->out.mode[i] = 0;
  }
  g->out.info = (mjgInfo){.status = status};
  mjgp_writeSensors(g, m, d);
}


// compute the friction of this step and add it to the passive forces
// Long because it is the table of contents of a step: one call after the other, in their order
static void step(mjgpGears* g, const mjModel* m, mjData* d, int actuated) {
  mjgp_checkModel(g, m);
  mjgp_applyChanges(g, m, d);
  gatherActive(g, m, d);
  if (!g->in.nactive) {
    g->phase = mjgpIDLE;
    return;
  }
  if (m->opt.integrator == mjINT_RK4) {
    mjgp_warn(g, mjgpWARN_INTEGRATOR,
              "the integrator was changed to RK4, for which gear friction does not hold; it is "
              "computed as for "
              "Euler. Set mjINT_IMPLICITFAST, mjINT_IMPLICIT, mjINT_EULER or mjINT_DISCRETE");
  }
  mj_markStack(d);
  removeFriction(g, m, d);

  // motor torque; without active actuators we are called earlier and compute what is not there yet
  mjgp_evaluateActuation(g, m, d, actuated);
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
    // the engine finds out by itself
    removeFriction(g, m, d);
    leave(g, d, m, mjgERR_NOT_FINITE);
    mj_freeStack(d);
    return;
  }
  g->early = !actuated;
  mjgpInertia Mhat;
  mjgp_makeInertia(&Mhat, m, d, g);
  if (d->nefc && !Mhat.solver) {
    warnOfGains(g, m);
  }

  // gains through tendons are not in the sparsity of M: the engine iterates, and takes no start
  g->out.tolerance = Mhat.coupled ? m->opt.tolerance : 0;

  memset(&g->out.info, 0, sizeof(g->out.info));
  g->out.info.status = g->refused ? mjgERR_ARGUMENT : mjgSOLVED;

  // the law of this step; start from the last one, with constraints solve for both together
  mjgp_makeLaw(g, m, d);
  int implicit = g->config->options.coupling == mjgpIMPLICIT, lags = d->nefc && !implicit, n = 0;
  int* joint = g->scratch.joint;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    if (g->config->own[i] < 0 && standsStill(m, d, g->config->joint + i)) {
      holdStill(g, i);
      continue;
    }
    joint[n++] = i;
    mjgp_startJoint(g, d, i);
    g->in.lag[i] =
        lags ? d->plugin_state[g->config->state[i] + mjgpSTATE_LAG * g->config->stride[i]] : 0;
    int gap = g->config->gaps ? g->config->joint[i].gap : mjgpGAP_NONE;
    if (gap == mjgpGAP_ROTOR || gap == mjgpGAP_LOAD) {
      mjgp_makeCoupling(g, m, d, i);
    }
  }
  int nfree = n ? mjgp_freeFirst(g, m, d, &Mhat, joint, n) : 0;
  if (nfree) {
    solveFree(g, m, d, &Mhat, force, joint, nfree);
  }
  if (d->nefc && implicit) {
    mjgp_chooseStart(g, m, d, &Mhat, force);
    if (nfree < n) {
      mjgp_couple(g, m, d, &Mhat, force, joint + nfree, n - nfree);
    }
  }

  // add friction
  mjgp_applyFriction(g, m, d, g->out.t);
  g->done = 1;
  mjgp_writeSensors(g, m, d);
  mj_freeStack(d);
}


//---------------------------------- callbacks -----------------------------------------------------

void mjgp_compute(const mjModel* m, mjData* d, int instance, int capability_bit) {
  // only the leader has data; without actuation the last instance acts for it
  int leader = mjgp_leader(m, m->plugin[instance]);
  if (instance != leader && (capability_bit != mjPLUGIN_PASSIVE || mjgp_actuationActive(m))) {
    return;
  }
  mjgpGears* g = mjgp_gearsOf(m, d, leader);
  if (g->nested) {
    return;
  }

  // passive forces are new; without actuation this is also the place to act, behind all of our instances
  if (capability_bit == mjPLUGIN_PASSIVE) {
    g->phase = mjgpFRESH;
    if (instance == g->config->last && !mjgp_actuationActive(m)) {
      step(g, m, d, 0);
    }
  }

  // actuator forces are about to be summed up: the place of the plugin in a step
  else if (capability_bit == mjPLUGIN_ACTUATOR) {
    step(g, m, d, 1);
  }
}


// have forces changed since friction was computed ahead of them
static int forcesChanged(const mjgpGears* g, const mjModel* m, mjData* d) {
  mjtNum change = 0, scale = 0;
  mj_markStack(d);
  mjtNum* friction = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(friction, (int)m->nv);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgp_addRow(friction, m, d, g->config->joint + i, g->out.t[i]);
  }
  for (int k = 0; k < g->config->ndof; k++) {
    int dof = g->config->dof[k];
    if (mjgp_isAwake(m, d, dof)) {
      mjtNum sum = d->qfrc_smooth[dof] + friction[dof];
      change = mju_max(change, mju_abs(sum - g->in.force[dof]));
      scale = mju_max(scale, mju_abs(g->in.force[dof]) + mju_abs(friction[dof]));
    }
  }
  mj_freeStack(d);
  return change > mjgpCHANGED * scale;
}


// largest of the velocities that those of the joints are the differences of
static mjtNum largestCancellation(const mjgpGears* g) {
  const mjtNum* cancellation = g->out.cancellation;
  mjtNum most = 0;
  for (int a = 0; a < g->in.nactive; a++) {
    most = mjMAX(most, cancellation[g->in.active[a]]);
  }
  return most;
}


// difference between the velocity of joint i and the one that was solved for that can be nothing but rounding, or what
// the engine leaves where it iterates
static mjtNum rounding(const mjgpGears* g, int i, mjtNum most) {
  mjtNum scale = g->out.cancellation[i] + mjgpSHARED * most;
  return mjgpROUNDING * scale + mjgpEVALUATIONS * g->out.rounding[i] +
         mjgpITERATED * g->out.tolerance * most + mjgpSTILL;
}


// rows so stiff that rounding of their forces moves a joint: say so
static void warnOfRounding(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  mjtNum open = mjgpEVALUATIONS * g->out.rounding[i];
  if (open > mjgpSEEN && open > mjgpCONFIRMED * g->out.cancellation[i] + mjgpSEEN) {
    const char* name = mjgp_gearName(m, g->config->joint + i);
    mjgp_warn(
        g, mjgpWARN_ROUNDING,
        "at time %g: constraint forces on %s '%.60s' are so large that their rounding alone "
        "may change its velocity by %.2g. This happens where a contact finds no inertia (efc_D "
        "near 1e15), such as a geom on the axis of its joint; friction is as exact as that",
        d->time, mjgp_gearKind(g->config->joint + i), name ? name : "", open);
  }
}


// did the joints move as was solved for, in spite of what the engine may add to its constraint solver
static int confirmed(const mjgpGears* g, const mjModel* m, const mjData* d, mjtNum most) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjtNum v = velocityOf(g, m, d, i), error = mju_abs(v - g->out.v_next[i]);
    mjtNum scale = g->out.cancellation[i];

    // most joints need no closer look
    if (error <= mjgpCONFIRMED * scale && g->out.t[i] * v >= 0) {
      continue;
    }
    const mjgpJoint* joint = g->config->joint + i;
    int drives = g->out.t[i] * v < 0 && g->out.mode[i] && joint->gap == mjgpGAP_NONE &&
                 g->in.compliance[i] == 0 && mju_abs(v) > mjgpDRIVES * scale + rounding(g, i, most);

    // friction that is nothing but rounding has no sign
    drives = drives && m->opt.timestep * mju_abs(g->out.t[i]) >
                           rounding(g, i, most) * mjgp_restInertia(m, joint);

    // the first bound is the smaller one, and cheap
    int differs = error > mjgpCONFIRMED * scale &&
                  error > mjgpCONFIRMED * (scale + mjgpFASTEST * most) + rounding(g, i, most);
    if ((drives || differs) && !mju_isBad(v)) {
      return 0;
    }
  }
  return 1;
}


// Long because all that one step leaves to the next is written in this one place
void mjgp_advance(const mjModel* m, mjData* d, int instance) {
  if (instance != mjgp_leader(m, m->plugin[instance])) {
    return;
  }
  mjgpGears* g = mjgp_gearsOf(m, d, instance);

  // no callback came, or it came too early for forces that were set later
  if (!g->done) {
    if (!mjgp_actuationActive(m) && !passiveActive(m)) {
      mjgp_warn(g, mjgpWARN_NOT_COMPUTED,
                "no gear friction: with springs and dampers disabled the "
                "engine calls no plugin in a model without active actuators. Enable one of the "
                "flags spring, "
                "damper and actuation");
      leave(g, d, m, mjgITERATION_LIMIT);
      g->count.unsolved++;
    }
    return;
  }
  g->done = 0;
  mjtNum most = largestCancellation(g);
  if (g->early && forcesChanged(g, m, d)) {
    mjgp_warn(
        g, mjgpWARN_CHANGED,
        "forces were set after mj_step1, where gear friction is computed in "
        "a model without active actuators: it did not know them. Add an actuator to the model, "
        "or set forces before mj_step1");
  }

  // friction was solved for another motion: noslip iterations, no warmstart, or not solved at all
  else if (g->config->options.coupling == mjgpIMPLICIT && !confirmed(g, m, d, most)) {
    g->count.unconfirmed++;
    if (g->out.info.status >= 0 && g->out.info.status <= mjgJAMMED) {
      mjgp_warn(
          g, mjgpWARN_UNCONFIRMED,
          "at time %g the engine's constraint solver did not confirm the motion for which gear "
          "friction was solved. Enable warmstart, set noslip_iterations to 0, and increase the "
          "iterations of the constraint solver. Further occurrences are counted, not reported",
          d->time);

      // what the joints did is not what their friction was solved for
      g->out.info.status = mjgITERATION_LIMIT;
      mjgp_writeStatus(g, m, d);
    }
  }

  // commit what the next step starts from
  d->plugin_state[g->config->system + mjgpSYSTEM_FALLBACKS] += g->out.info.fallbacks;
  if (d->nefc && g->config->options.coupling == mjgpIMPLICIT) {
    mju_copy(d->plugin_state + g->config->acc, d->qacc, g->config->nv);
  }
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], stride = g->config->stride[i], mode = g->out.mode[i];
    const mjgpJoint* joint = g->config->joint + i;
    mjtNum v = velocityOf(g, m, d, i), t = g->out.t[i], next = g->out.v_next[i];
    mjtNum* state = d->plugin_state + g->config->state[i];
    state[mjgpSTATE_FRICTION] = t;
    state[mjgpSTATE_PIECE * stride] = g->out.lambda[i] < 0 ? 2 * mode : mode;
    state[mjgpSTATE_LAG * stride] = d->nefc ? (v - next) / m->opt.timestep + g->in.lag[i] : 0;

    // the gap; mode is the rotor's
    if (g->config->gaps && (joint->gap == mjgpGAP_ROTOR || joint->gap == mjgpGAP_LOAD)) {
      mjgp_advanceGap(g, m, d, i);
      continue;
    }

    // a stuck joint stands still, to the last bit, and friction does not drive: where that is a matter of rounding
    // the motion is the one that was solved for. Several joints of a tendon have no velocity of their own to set
    warnOfRounding(g, m, d, i);
    int drives = t * v < 0 && t * next >= 0;
    if ((!mode || drives) && joint->dof >= 0 && g->in.compliance[i] == 0 &&
        mju_abs(v - next) <= rounding(g, i, most)) {
      d->qvel[joint->dof] = mode ? next : 0;
      d->qpos[joint->qpos] = g->in.q[i] + m->opt.timestep * next;
    }
  }
}

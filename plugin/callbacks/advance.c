#include "callbacks/step.h"

#include "configuration/engine.h"
#include "configuration/names.h"
#include "gear/backlash.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "model/actuation.h"
#include "observe/sensor.h"
#include "solver/delassus.h"


// Returns 1 if forces have changed since friction was computed from them.
static int forcesChanged(const mjgpGears* g, const mjModel* m, mjData* d) {
  mjtNum change = 0, scale = 0;
  mj_markStack(d);
  mjtNum* friction = mj_stackAllocNum(d, (size_t)m->nv);
  mju_zero(friction, (int)m->nv);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgp_addRow(friction, g->in.E[i], g->out.t[i]);
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
  return change > mjgpLAW * scale;
}


// Returns the round-off of joint i's velocity, with the tolerance of an engine that iterates.
static mjtNum rounding(const mjgpGears* g, int i, mjtNum most) {
  mjtNum scale = g->out.cancellation[i] + mjgpLEFT * most;
  return mjgpSAME * scale + mjgpZERO * g->out.rounding[i] + mjgpITERATED * g->out.tolerance * most +
         mjgpSTILL;
}


// Returns the difference of joint i's velocity up to which the engine's motion is the solved one.
static mjtNum velocityTolerance(const mjgpGears* g, int i, mjtNum most) {
  return mjgpCLOSE * (g->out.cancellation[i] + mjgpLEAST * most) + rounding(g, i, most);
}


// Warn of rows so stiff that round-off of their forces moves a joint.
static void warnOfRounding(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  mjtNum open = mjgpZERO * g->out.rounding[i];
  if (open > mjgpSEEN && open > mjgpCLOSE * g->out.cancellation[i] + mjgpSEEN) {
    mjgp_warn(
        g, mjgpWARN_ROUNDING,
        "at time %g constraint forces on %s '%.60s' are so large that their rounding alone may "
        "change its velocity by %.2g. This happens where a contact finds no inertia (efc_D near "
        "1e15), such as a geom on the axis of its joint. Gear friction is no more exact than that",
        d->time, mjgp_gearKind(g->config->joint + i), mjgp_gearName(m, g->config->joint + i), open);
  }
}


// Returns 1 if gear i has no friction and no gap: any motion fits it
static int isIdeal(const mjgpGears* g, int i) {
  const mjgpGearInput* in = g->in.gear + i;
  return in->ordinary && in->gamma_u == 0 && in->gamma_v == 0 && in->coulomb == 0 &&
         g->config->joint[i].gap == mjgpGAP_NONE;
}


// Returns 1 if the joints moved as solved. most: largest velocity in their differences.
static int motionMatches(mjtNum* most, const mjgpGears* g, const mjModel* m, const mjData* d) {
  mjtNum largest = 0;
  int close = 1, gaps = g->config->gaps;
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjtNum v = mjgp_velocityOf(g, d, i), scale = g->out.cancellation[i];
    close &= mju_abs(v - g->out.v_next[i]) <= mjgpCLOSE * scale;
    close &= g->out.t[i] * v >= 0 || (gaps && g->config->joint[i].gap != mjgpGAP_NONE);
    largest = scale > largest ? scale : largest;
  }
  *most = largest;
  for (int a = 0; a < g->in.nactive && !close; a++) {
    int i = g->in.active[a];
    const mjgpJoint* joint = g->config->joint + i;
    mjtNum v = mjgp_velocityOf(g, d, i), error = mju_abs(v - g->out.v_next[i]);
    mjtNum scale = g->out.cancellation[i];
    if (isIdeal(g, i) || (error <= mjgpCLOSE * scale && g->out.t[i] * v >= 0)) {
      continue;
    }
    mjtNum open = rounding(g, i, largest);
    int drives = g->out.t[i] * v < 0 && g->out.mode[i] && joint->gap == mjgpGAP_NONE &&
                 g->in.gear[i].compliance == 0 && mju_abs(v) > mjgpLAW * scale + open;

    drives = drives && m->opt.timestep * mju_abs(g->out.t[i]) > open * mjgp_restInertia(m, joint);

    // the first bound is the smaller one, and cheap
    int differs = error > mjgpCLOSE * scale && error > velocityTolerance(g, i, largest);
    // the engine puts trees to sleep after our step, at zero velocity
    int asleep = (m->opt.enableflags & mjENBL_SLEEP) && !mjgp_isAwake(m, d, g->in.E[i].dof[0]);
    if ((drives || differs) && !mju_isBad(v) && !asleep) {
      return 0;
    }
  }
  return 1;
}


// Returns 1 if the engine left joints without acceleration although forces act on them. Under
// "discrete" with gains it ignores forces whose squares sum to less than mjMINVAL.
static int engineReturnedZero(const mjgpGears* g, const mjModel* m, const mjData* d) {
  int status = g->out.info.status;
  return mjgp_isDiscrete(m) && !d->nefc && (status == mjgSOLVED || status == mjgJAMMED) &&
         mju_isZero(d->qacc, (int)m->nv);
}


static void setVelocity(const mjgpGears* g, const mjModel* m, mjData* d, int i, mjtNum v) {
  const mjgpJoint* joint = g->config->joint + i;
  d->qvel[joint->dof] = v;
  d->qpos[joint->qpos] = g->in.gear[i].q + m->opt.timestep * v;
}


static void countStep(mjtNum* system, mjtNum layout, const mjgInfo* info) {
  system[mjgpSYSTEM_LAYOUT] = system[mjgpSYSTEM_LAYOUT] == 0 ? layout : system[mjgpSYSTEM_LAYOUT];
  system[mjgpSYSTEM_STEPS]++;
  system[mjgpSYSTEM_UNSOLVED] += info->status < mjgSOLVED || info->status > mjgJAMMED;
  system[mjgpSYSTEM_SLOW] += info->fallbacks > 0;
  system[mjgpSYSTEM_FALLBACKS] += info->fallbacks;
}


// Long because it writes everything that the next step needs.
void mjgp_advance(const mjModel* m, mjData* d, int instance) {
  if (instance != mjgp_leader(m, m->plugin[instance]) || mjgp_seeksLengths(m)) {
    return;
  }
  mjgpGears* g = mjgp_gearsOf(m, d, instance);
  const mjgpConfig* config = g->config;

  // no callback came, or forces were set after it
  if (!g->done) {
    if (!mjgp_actuationActive(m) && !mjgp_passiveActive(m)) {
      mjgp_warn(g, mjgpWARN_NOT_COMPUTED,
                "there is no gear friction, because with springs and dampers disabled the engine "
                "calls no plugin in a model without active actuators. Enable one of the flags "
                "spring, damper and actuation");
      mjgp_reportNoFriction(g, d, m, mjgITERATION_LIMIT);
      countStep(d->plugin_state + config->system, config->layout, &g->out.info);
      g->count.unsolved++;
    }
    return;
  }
  g->done = 0;
  mjtNum most;
  int iterates = g->out.tolerance > 0 || mjgp_solvesAnother(m);
  int returned_zero = engineReturnedZero(g, m, d), moved = motionMatches(&most, g, m, d);
  if (g->early && forcesChanged(g, m, d)) {
    mjgp_warn(g, mjgpWARN_CHANGED,
              "forces were set after mj_step1, where gear friction is computed in a model without "
              "active actuators, so it did not know them. Add an actuator to the model, or set "
              "forces before mj_step1");
  }

  // friction belongs to another motion: noslip, no warm start, or an unsolved step
  else if (!returned_zero && !moved) {
    g->count.unconfirmed++;
    if (g->out.info.status >= 0 && g->out.info.status <= mjgJAMMED) {
      if (m->opt.integrator != mjINT_RK4) {
        mjgp_warn(
            g, mjgpWARN_UNCONFIRMED,
            "at time %g the engine's constraint solver did not confirm the motion for which gear "
            "friction was solved. Enable warmstart, set noslip_iterations to 0, and increase the "
            "iterations of the constraint solver. Further occurrences are counted, not reported",
            d->time);
      }

      g->out.info.status = mjgITERATION_LIMIT;
      mjgp_writeStatus(g, m, d);
    }
  }

  countStep(d->plugin_state + config->system, config->layout, &g->out.info);
  // trees that fall asleep lose theirs, so others must not keep one of earlier contacts
  if (d->nefc || m->opt.enableflags & mjENBL_SLEEP) {
    mju_sub(d->plugin_state + config->acc, d->qacc, g->out.shift, config->nv);
  }
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], stride = config->stride[i], mode = g->out.mode[i],
        own = config->own[i];
    mjtNum t = g->out.t[i], next = g->out.v_next[i];
    mjtNum v = own >= 0 ? d->qvel[own] : mjgp_velocityOf(g, d, i);
    mjtNum* state = d->plugin_state + config->state[i];
    if (returned_zero && own >= 0) {
      setVelocity(g, m, d, i, v = next);
    }
    state[mjgpSTATE_FRICTION] = t;
    state[mjgpSTATE_PIECE * stride] = g->out.lambda[i] < 0 ? 2 * mode : mode;
    if (g->in.gear[i].braked) {
      state[mjgpSTATE_TOOTH * stride] = g->in.brake[i].tooth;
      state[mjgpSTATE_BRAKE * stride] = g->in.brake[i].travel;
    }

    // the gap; mode is the rotor's
    if (config->gaps && mjgp_hasGap(config->joint + i)) {
      mjgp_advanceGap(g, m, d, i);
      continue;
    }

    // a stuck joint stands still to the last bit, and friction does not drive: within round-off
    // take the solved motion
    warnOfRounding(g, m, d, i);
    int drives = t * v < 0 && t * next >= 0;
    if ((!mode || drives) && own >= 0 && g->in.gear[i].compliance == 0 &&
        mju_abs(v - next) <= (iterates ? velocityTolerance(g, i, most) : rounding(g, i, most))) {
      setVelocity(g, m, d, i, mode ? next : 0);
    }
  }
}

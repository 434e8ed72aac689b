// Motor torques that make a motion: the law of a gear, solved for its input.
//
// All torques on the dofs except those of motors and friction follow from the motion, by the
// engine's inverse dynamics at the constraint solver's acceleration: Mhat a = M qacc in two
// metrics (mjENBL_INVDISCRETE). So the output of a gear is known,
//
//   x = y + (tau - motor) - S a        y = motor - t: torque on the dof of the gear
//
// with tau - motor and S of model/actuation.h. At given x, lambda = (gamma_u + gamma_v) x +
// gamma_u t depends on friction by gamma_u alone, |gamma_u| < 1. A moving gear has one t, a
// resting one an interval, and motor = x + t + S a - (tau - motor).

#include <math.h>

#include "callbacks/step.h"
#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/backlash.h"
#include "gear/bound.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "inverse/branch.h"
#include "law/law.h"
#include "law/transmission.h"
#include "mjgear_plugin.h"
#include "model/actuation.h"
#include "model/effective_inertia.h"
#include "model/free_body.h"
#include "model/rotors.h"
#include "model/simd.h"
#include "state/changes.h"


// rounds for coefficients that depend on the motor torque; they converge in a few, or not at all
#define mjgpROUNDS 100


//---------------------------------- the engine's part ---------------------------------------------

// Shift the reference acceleration of constraints by the gains that our matrix omits (rotors.h).
// Returns the force of these gains (nv).
static mjtNum* takeRemoved(mjgpGears* g, const mjModel* m, mjData* d) {
  int nv = g->config->nv;
  mjtNum* force = mj_stackAllocNum(d, (size_t)nv);
  mju_zero(force, nv);
  mjgp_addRemoved(force, g, d->qacc, 1);
  if (d->nefc) {
    mj_markStack(d);
    mjtNum* x = mj_stackAllocNum(d, (size_t)nv);
    mj_solveM(m, d, x, force, 1);
    mjgp_addReference(m, d, x);
    mj_freeStack(d);
  }
  return force;
}


// Compute d->qfrc_inverse from d->qacc, over the step or of the constraint solver. If the metric is
// M and a diagonal this is mj_inverse without its derivatives.
static void invertDynamics(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                           int flg_step) {
  int nv = g->config->nv, diagonal = Mhat->slope != NULL;
  for (int t = 0; t < (int)m->ntree; t++) {
    diagonal &= m->opt.integrator != mjINT_IMPLICITFAST || !mjgp_isLone(m, t);
  }
  if (!diagonal) {
    mjModel copy = *m;
    copy.opt.enableflags &= ~mjENBL_INVDISCRETE;
    copy.opt.enableflags |= flg_step ? mjENBL_INVDISCRETE : 0;
    mjtNum* shift = flg_step && g->in.removes ? takeRemoved(g, m, d) : NULL;
    mj_inverseSkip(&copy, d, mjSTAGE_VEL, 1);
    Mhat->derived = flg_step && m->opt.integrator != mjINT_EULER;
    if (shift) {
      mju_subFrom(d->qfrc_inverse, shift, nv);
      mj_referenceConstraint(m, d);
    }
    return;
  }
  mjtNum* force = mj_stackAllocNum(d, (size_t)nv);
  mj_mulM(m, d, force, d->qacc);
  for (int k = 0; k < nv && flg_step; k++) {
    force[k] += Mhat->slope[k] * d->qacc[k];
  }
  if (d->nefc && flg_step) {
    mj_solveM(m, d, d->qacc, force, 1);
  }
  mj_invConstraint(m, d);
  for (int k = 0; k < nv; k++) {
    d->qfrc_inverse[k] = force[k] + d->qfrc_bias[k] - d->qfrc_passive[k] - d->qfrc_constraint[k];
  }
}


// Compute positions, velocities, gains and generalized forces y of motion qacc; a = (v+ - v)/h (nv)
static void findForces(mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* qacc, mjtNum* a,
                       mjtNum* y, mjgpBranch* branch) {
  int nv = g->config->nv, actuated = mjgp_actuationActive(m) ? mjgp_actuationMatters(g, m) : 0;
  int discrete = mjgp_isDiscrete(m);
  mju_copy(a, qacc ? qacc : d->qacc, nv);
  for (int k = 0; k < nv && !qacc && g->out.shifted; k++) {
    a[k] -= g->out.shift[k];
  }
  mjtNum* before = mj_stackAllocNum(d, (size_t)nv);
  mju_copy(before, d->qacc, nv);
  mju_copy(d->qacc, a, nv);

  g->nested = 1;
  mj_invPosition(m, d);
  mj_invVelocity(m, d);
  mjgp_gatherActive(g, m, d);
  mjgp_addEncoder(g, m, d, 1);
  if (actuated > 0 || !mjgp_actuationActive(m)) {  // none are zero
    mj_fwdActuation(m, d);
  }
  if (discrete) {
    mj_inverseSkip(m, d, mjSTAGE_VEL, 1);
    mjgp_gatherActuation(g, m, d, actuated);
  }
  mjgp_addEncoder(g, m, d, -1);
  if (!discrete) {
    mjgp_gatherActuation(g, m, d, actuated);
  }

  g->in.ntree = g->config->ntree;
  for (int t = 0; t < g->in.ntree; t++) {
    g->in.tree[t] = t;
  }
  mjgp_makeInertia(&branch->Mhat, m, d, g);
  if (!discrete) {
    mjgp_addEncoder(g, m, d, 1);
    invertDynamics(g, m, d, &branch->Mhat, qacc != NULL);
    mjgp_addEncoder(g, m, d, -1);
  }
  g->nested = 0;
  mju_copy(d->qacc, before, nv);

  // passive forces are new, without the stage of positions of mj_inverse
  g->phase = mjgpPHASE_FRESH;
  g->stages = mjgp_inverseStages(d);
  mju_sub(y, d->qfrc_inverse, d->qfrc_applied, nv);
  mjgp_addWrenches(y, m, d, -1);
  mjgp_makeLaw(g, m, d);
}


// a = Mhat^-1 M a, from mj_forward's acceleration to the integrator's.
static void integrate(mjtNum* a, const mjModel* m, mjData* d, mjgpInertia* Mhat, mjgpGears* g) {
  mjtNum* acc = mj_stackAllocNum(d, (size_t)m->nv);
  mju_copy(acc, a, (int)m->nv);
  mj_mulM(m, d, a, acc);
  mjgp_factorInertia(Mhat, m, d, g);
  mjgp_solveInertia(a, m, Mhat, 0, (int)m->nv);
}


// Subtract the forces of actuators that are loads from y.
static void takeLoads(mjtNum* y, const mjgpGears* g, const mjModel* m, const mjData* d) {
  mju_subFrom(y, d->qfrc_actuator, (int)m->nv);
  for (int b = 0; b < g->in.nactive; b++) {
    int i = g->in.active[b];
    mjgp_addRow(y, mjgp_row(m, d, g->config->joint + i), g->in.gear[i].motor);
  }
}


// Solve y = E' z for the forces along gears (n), by least squares where tendons share dofs.
static void splitForces(mjtNum* z, const mjgpGears* g, const mjModel* m, mjData* d,
                        const mjtNum* y) {
  int n = g->config->n, nv = g->config->nv;
  mjtNum* E = mj_stackAllocNum(d, (size_t)(n * nv));
  mjtNum* gram = mj_stackAllocNum(d, (size_t)(n * n));
  mju_zero(E, n * nv);
  for (int i = 0; i < n; i++) {
    mjgp_addRow(E + i * nv, mjgp_row(m, d, g->config->joint + i), 1);
  }
  mju_mulMatVec(z, E, y, n, nv);
  mju_mulMatMatT(gram, E, E, n, nv, n);
  for (int i = 0; i < n; i++) {
    gram[i * n + i] += gram[i * n + i] < mjMINVAL;  // a tendon that no motion of its joints changes
  }
  mju_cholFactor(gram, n, mjMINVAL);
  mju_cholSolve(z, gram, z, n);
}


//---------------------------------- the law of one gear -------------------------------------------

// Returns friction on the bound in direction s, at this static ratio and brake torque.
static inline mjtNum boundOf(const mjgpInput* in, const mjgpMotion* p, int s, mjtNum r,
                             mjtNum torque) {
  int load, i = p->i;
  const mjgpGearInput* gear = in->gear + i;
  mjgpBound bound = mjgp_makeBound(mjgp_brakeOf(in, i), gear->gamma_u, gear->gamma_v, gear->coulomb,
                                   s, r, torque);
  mjtNum phi = (gear->gamma_u + gear->gamma_v) * p->x + bound.shift;
  return s * mjgi_lawLimit(&load, s, phi, gear->gamma_u, bound.c, bound.r);
}


// Returns the same if coefficients depend on the unknown torque, and sets them; NaN: none.
static mjtNum settleBound(mjgpInput* in, const mjgpMotion* p, int s, mjtNum r, mjtNum torque) {
  mjgpGearInput* gear = in->gear + p->i;
  mjtNum last = gear->t_last, t = last, from = NAN, before = NAN;
  for (int k = 0; k < mjgpROUNDS; k++) {
    mjtNum tau = p->x + t + p->taken;
    mjg_frictionAt(&gear->gamma_u, &gear->gamma_v, &gear->coulomb, &in->joint[p->i]->gear, gear->q,
                   p->v0, tau, tau - last);
    mjtNum next = boundOf(in, p, s, r, torque), off = next - t;
    if (mju_abs(off) <= 1e-15 * (mju_abs(next) + mju_abs(tau))) {
      return next;
    }
    t = mjgi_secant(t, off, &from, &before);
  }
  return NAN;
}


// Returns the bound that holds a joint; released: its sliding bound.
static inline mjtNum limitOf(mjgpInput* in, const mjgpMotion* p, int s, int released) {
  mjtNum r = released ? 1 : mjgi_lawRatio(in->gear[p->i].static_ratio, p->v0, s);
  mjtNum torque = released ? in->brake[p->i].sliding : mjgp_brakeTorque(in, p->i, s);
  return in->joint[p->i]->constant ? boundOf(in, p, s, r, torque)
                                   : settleBound(in, p, s, r, torque);
}


// Find the friction of a motion, from low to high.
static mjgMotion frictionOf(mjtNum* low, mjtNum* high, mjgpGears* g, const mjModel* m, mjData* d,
                            mjgpMotion* p, mjgpBranch* branch) {
  const mjgpGearInput* in = g->in.gear + p->i;
  mjtNum compliance = in->compliance;
  mjtNum* end[2] = {low, high};
  int s = (p->v > 0) - (p->v < 0), gap = g->config->joint[p->i].gap != mjgpGAP_NONE;

  // it rests, or yields before it slips
  if (!s || compliance > 0) {
    for (int k = 0; k < 2; k++) {
      *end[k] = limitOf(&g->in, p, 2 * k - 1, 0);
      if (isnan(*end[k])) {
        *low = *high = NAN;
        return mjgMOTION_NONE;
      }
    }
    if (compliance == 0) {
      return mjgMOTION_RESTS;
    }
    mjtNum t = in->t_last + p->v / compliance;
    if (*low <= t && t <= *high) {
      *low = *high = t;
      return mjgMOTION_MOVES;
    }
    s = t > *high ? 1 : -1;
  }

  // it slips, on the sliding bound
  *low = *high = limitOf(&g->in, p, s, 1);
  if (!isfinite(*low)) {
    *low = *high = NAN;
    return mjgMOTION_NONE;
  }
  int moves = gap || compliance > 0 || in->ordinary || mjgp_keepsSlipping(&g->in, p, *low);
  mjgMotion motion = moves ? mjgMOTION_MOVES : mjgp_findBranch(branch, g, m, d, p, *low);
  if (motion == mjgMOTION_HELD) {
    *end[s > 0] = limitOf(&g->in, p, s, 0);
  }
  return motion;
}


// Returns the velocity after the step; 0 if it is round-off.
static mjtNum nextVelocity(mjtNum v, mjtNum acc, mjtNum h, mjtNum relative, mjtNum fastest) {
  mjtNum next = v + h * acc;
  mjtNum size = relative * (mju_abs(v) + h * mju_abs(acc) + fastest) + mjgpSTILL;
  return mju_abs(next) <= size ? 0 : next;
}


// Set the motion of the rotor behind a gap. Returns 0 if its acceleration is unknown.
static int moveRotor(mjgpMotion* p, const mjgpGears* g, const mjModel* m, const mjData* d,
                     const mjtNum* rotor) {
  const mjgpJoint* joint = g->in.joint[p->i];
  if (!rotor || joint->joint < 0 || isnan(rotor[joint->joint])) {
    return 0;
  }
  mjtNum angle, acc = rotor[joint->joint];
  mjgp_rotorMotion(&angle, &p->v0, g, m, d, p->i);
  p->v = nextVelocity(p->v0, acc, m->opt.timestep, mjgpFACTORED, 0);
  p->taken = joint->rotor_inertia * acc;
  if (joint->encoder == mjgpENCODER_MOTOR) {
    const mjgpGearInput* in = g->in.gear + p->i;
    p->taken += (in->implicit + in->shared) * acc + in->drag * p->v0 + p->shift;
  }
  return 1;
}


//---------------------------------- all gears -----------------------------------------------------

// Returns 1 if one of n numbers is NaN, or so large that the engine would reset.
static int hasBad(const mjtNum* x, mjtSize n) {
  int bad = 0;
  for (mjtSize k = 0; x && k < n; k++) {
    bad |= !(mju_abs(x[k]) <= mjMAXVAL);
  }
  return bad;
}


static const char* argumentError(const mjModel* m, const mjData* d, const mjtNum* qacc) {
  const char* belongs = mjgp_belongError(m, d);
  if (belongs) {
    return belongs;
  }
  if (hasBad(qacc, m->nv)) {
    return "an acceleration is not finite or beyond 1e10; give (v+ - v)/h of each dof";
  }
  if (hasBad(d->qpos, m->nq) || hasBad(d->qvel, m->nv) || hasBad(d->qfrc_applied, m->nv) ||
      (!mjgp_isZero(d->xfrc_applied, 1, 6 * (int)m->nbody) &&
       hasBad(d->xfrc_applied, 6 * m->nbody))) {
    return "a position, velocity or applied force in the data is not finite or beyond 1e10, where "
           "the engine resets; give a state that a step could begin with";
  }
  return m->opt.integrator == mjINT_RK4
             ? "gears are not for RK4; set the integrator Euler, implicit, implicitfast or discrete"
             : NULL;
}


// Solve for gear i; z: forces along gears.
static mjgMotion solveGear(double* low, double* high, mjgpGears* g, const mjModel* m, mjData* d,
                           int i, const mjtNum* a, const mjtNum* z, const mjtNum* rotor,
                           mjtNum relative, mjtNum fastest, mjgpBranch* branch) {
  const mjgpInput* in = &g->in;
  const mjgpJoint* joint = g->config->joint + i;
  mjtNum h = m->opt.timestep, acc = mjgp_mulRow(in->E[i], a);
  const mjgpGearInput* gear = in->gear + i;
  mjtNum own = (joint->gap == mjgpGAP_ROTOR ? gear->misplaced : gear->inertia) * acc;
  for (int k = 0; in->row[i] && k < g->config->nv; k++) {
    own += in->row[i][k] * a[k];
  }
  mjgpMotion p = {.i = i, .v0 = gear->v, .taken = own, .shift = gear->tau - gear->motor};
  p.v = nextVelocity(p.v0, acc, h, relative, fastest);
  p.x = z[i] + p.shift - own;

  // a motor joint also drives its load by the shaft
  if (joint->gap == mjgpGAP_MOTOR) {
    p.x += z[joint->partner] - in->gear[joint->partner].motor;
  }
  if (joint->gap == mjgpGAP_ROTOR && !moveRotor(&p, g, m, d, rotor)) {
    *low = *high = NAN;
    return mjgMOTION_ROTOR;
  }
  mjgMotion motion = frictionOf(low, high, g, m, d, &p, branch);
  *low += p.x + p.taken - p.shift;
  *high += p.x + p.taken - p.shift;
  return motion;
}


int mjg_inverse(double* low, double* high, int* motion, const mjModel* m, mjData* d,
                const mjtNum* qacc, const mjtNum* rotor, char* error, int error_sz) {
  const char* wrong =
      !low || !high ? "no place for torques; give low and high" : argumentError(m, d, qacc);
  if (wrong) {
    return mjgp_refuseCall(error, error_sz, wrong);
  }
  mjgpGears* g = mjgp_gears(m, d);
  int nv = g->config->nv, n = g->config->n, count = 0;
  mj_markStack(d);
  mjtNum* a = mj_stackAllocNum(d, (size_t)nv);
  mjtNum* y = mj_stackAllocNum(d, (size_t)nv);
  mjtNum* z = mj_stackAllocNum(d, (size_t)n);
  motion = motion ? motion : mj_stackAllocInt(d, (size_t)(m->njnt + m->ntendon));
  mjgp_applyChanges(g, m, d);
  mjgpBranch branch = {.factored = -1, .a = a};
  mjtNum fastest = 0, relative = qacc ? mjgpFACTORED : mjgpSAME;
  findForces(g, m, d, qacc, a, y, &branch);
  if (!qacc && !branch.Mhat.solver) {
    integrate(a, m, d, &branch.Mhat, g);
  }
  if (g->config->motors.mixed) {
    takeLoads(y, g, m, d);
  }
  if (g->config->ngeared) {
    splitForces(z, g, m, d, y);
  } else {
    for (int i = 0; i < n; i++) {
      z[i] = y[g->config->joint[i].dof];
    }
  }
  for (int i = 0; i < (int)(m->njnt + m->ntendon); i++) {
    low[i] = high[i] = NAN;
    motion[i] = mjgMOTION_UNGEARED;
  }
  for (int i = 0; i < n; i++) {
    motion[g->config->joint[i].number] = mjgMOTION_SLEEPS;
  }
  for (int b = 0; b < g->in.nactive && !qacc; b++) {
    mjtNum acc = mjgp_mulRow(g->in.E[g->in.active[b]], a);
    fastest = mju_max(fastest, mjgpLEFT * m->opt.timestep * mju_abs(acc));
  }
  for (int b = 0; b < g->in.nactive; b++) {
    int i = g->in.active[b], at = g->config->joint[i].number, also = at;
    if (g->config->joint[i].gap == mjgpGAP_LOAD) {
      continue;
    }

    // a motor joint and the joint that it drives through a gap are one gear
    if (g->config->joint[i].gap == mjgpGAP_MOTOR) {
      also = g->config->joint[g->config->joint[i].partner].number;
    }
    motion[at] = motion[also] =
        solveGear(low + at, high + at, g, m, d, i, a, z, rotor, relative, fastest, &branch);
    low[also] = low[at];
    high[also] = high[at];
    count += motion[at] == mjgMOTION_NONE || motion[at] == mjgMOTION_JAMS;
  }
  mj_freeStack(d);
  return count;
}

// Derivatives of a step by its controls: another right side of the equations of a Newton step,
//
//     H da + E' dt = df,     dt = slope R da - rate dx + dt0          (solver/system.h)
//
// with the active set fixed. df and dt0, changes of forces and of friction on each gear's line at
// the acceleration of the step, are linear in the control.

#include <string.h>

#include "callbacks/step.h"
#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/backlash.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "mjgear_plugin.h"
#include "model/actuation.h"
#include "model/effective_inertia.h"
#include "model/free_body.h"
#include "model/rotors.h"
#include "solver/coupling.h"
#include "solver/newton.h"


// relative difference of the slopes on both sides that indicates a clamp; of a wider change,
// smaller
#define mjgpBENT  1e-3
#define mjgpWIDER 1e3

// error of a gear's line, relative to its torques
#define mjgpTANGENT 1e-6

// input and results of a step: forces on the dofs of the group (nv) and, a row of all gears each,
enum {
  mjgpLINE,    // friction on the line of the piece
  mjgpTRAVEL,  // travel of the brake
  mjgpROTOR,   // velocity of a rotor behind a gap, after the step
  mjgpPLACE,   // theta_b
  mjgpTWIST,   // omega_s
  mjgpNROW
};

typedef struct mjgpDerivative_ {
  mjgpStep* s;  // t: friction; search, target: change of acceleration, friction
  mjgpSystem system;
  mjgpPiece *piece, *moved;  // pieces of the step, and with another control           (n)
  mjgpShaft* shaft;          // shafts of both                                       (2 n)
  int *mode, *load;          // pieces of the step                                         (n)
  mjtNum *base, *ahead, *back, *change;  // rows at the control, at +eps, at -eps; slope
  mjtNum* dacc;     // change of the acceleration of gears                                    (ld)
  mjtNum kink_tol;  // mjgpBENT, divided by the factor of a wider change
} mjgpDerivative;


// Returns 1 if the step is linear in the control.
static int isLinear(const mjModel* m, const mjgpGears* g, int control) {
  int k = 0;
  while (control >= m->actuator_ctrladr[k] + m->actuator_ctrlnum[k]) {
    k++;
  }
  int plugin = m->actuator_plugin[k], gain = m->actuator_gaintype[k];
  int fixed = gain == mjGAIN_FIXED || (m->opt.integrator == mjINT_EULER && gain <= mjGAIN_MUSCLE);
  return fixed && m->actuator_dyntype[k] == mjDYN_NONE &&
         (plugin < 0 || mjgp_isOurs(m, plugin, m->plugin[g->config->leader]));
}


static void gather(mjgpGears* g, const mjModel* m, mjData* d) {
  g->nested = 1;
  mjgp_addEncoder(g, m, d, 1);
  mj_fwdActuation(m, d);
  mjgp_addEncoder(g, m, d, -1);
  g->nested = 0;
  mjgp_gatherActuation(g, m, d, 1);
  mjgp_makeLaw(g, m, d);
}


// Write input and results of the step with another control, at the acceleration and pieces of the
// step. Returns 1 if all gears keep their pieces.
static int move(mjgpDerivative* p, mjtNum* to, int control, mjtNum change) {
  mjgpStep* s = p->s;
  mjgpGears* g = s->g;
  mjtNum before = s->d->ctrl[control];
  int keeps = 1;
  mj_markStack(s->d);
  s->d->ctrl[control] = before + change;
  gather(g, s->m, s->d);
  s->d->ctrl[control] = before;
  mj_freeStack(s->d);
  for (int k = 0; k < s->group->nv; k++) {
    to[k] = -s->d->qfrc_actuator[s->group->dof[k]];
  }
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    mjgpPiece* piece = p->moved + i;
    mjtNum acc = s->acc[i] + change * p->dacc[i], *row = to + s->group->nv + i;
    mjtNum x = mjgp_taken(s, s->acc, i), next = x + change * mjgp_taken(s, p->dacc, i);
    if (g->config->joint[joint].gap == mjgpGAP_ROTOR) {
      mjgp_makeCoupling(g, s->m, s->d, joint);
      for (int k = s->group->E_adr[i]; k < s->group->E_adr[i + 1]; k++) {
        to[s->group->E_dof[k]] += s->group->E[k] * g->in.gear[joint].tau;  // acts on the rotor
      }
    }
    g->out.mode[joint] = p->mode[i];
    g->out.load[joint] = p->load[i];
    mjgp_startPiece(piece, g, s->m, joint, s->acc[i], p->shaft + 2 * i, 0);
    mjgp_releasePiece(piece);
    mjgp_linePiece(piece, s->acc[i], x);
    row[mjgpLINE * s->n] = piece->t;
    row[mjgpTRAVEL * s->n] = piece->brake ? piece->brake->travel : 0;
    keeps &= !mjgp_nextPiece(piece, acc, next, s->t[i] + change * s->target[i], 0);
    if (piece->shaft) {
      mjgp_storeShaft(g, joint, piece->shaft, piece->shaft->t, 0);
    }
    const mjgCouplingStep none = {0}, *gap = piece->shaft ? g->out.gap + joint : &none;
    row[mjgpROTOR * s->n] = gap->velocity;
    row[mjgpPLACE * s->n] = gap->theta_b;
    row[mjgpTWIST * s->n] = gap->omega_s;
  }
  return keeps;
}


// Set p->change on one side or both. Returns 1 if the sides differ.
static int differ(mjgpDerivative* p, mjtNum eps, int side) {
  int differs = 0;
  for (int k = 0; k < p->s->group->nv + mjgpNROW * p->s->n; k++) {
    mjtNum up = p->ahead[k] - p->base[k], down = p->base[k] - p->back[k];
    mjtNum most = p->kink_tol * (mju_abs(up) + mju_abs(down)) + mjgpFACTORED * mju_abs(p->base[k]);
    differs |= mju_abs(up - down) > most;
    p->change[k] = (side > 0 ? up : side < 0 ? down : (up + down) / 2) / eps;
  }
  return differs;
}


// Derive the results in plugin_state.
static void deriveState(const mjgpDerivative* p, double* state, double* qvel) {
  const mjgpStep* s = p->s;
  const mjgpConfig* config = s->g->config;
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i], stride = config->stride[joint];
    const mjtNum* row = p->change + s->group->nv + i;
    state[config->state[joint] + mjgpSTATE_FRICTION] = s->target[i];
    if (p->piece[i].held && config->own[joint] >= 0) {
      qvel[config->own[joint]] = 0;  // to the last bit
    }
    state[config->state[joint] + mjgpSTATE_BRAKE * stride] = row[mjgpTRAVEL * s->n];
    if (p->piece[i].shaft) {
      double* gap = state + config->gap[joint];
      mjtNum rate = row[mjgpROTOR * s->n] - mjgp_mulRow(s->g->in.E[joint], qvel);
      if (config->joint[joint].gap == mjgpGAP_ROTOR) {
        gap[mjgpGAPSTATE_RATE * stride] = rate;
        gap[mjgpGAPSTATE_ANGLE * stride] = s->m->opt.timestep * rate;
      }
      gap[mjgpGAPSTATE_POSITION * stride] = row[mjgpPLACE * s->n];
      gap[mjgpGAPSTATE_TWIST * stride] = row[mjgpTWIST * s->n];
    }
  }
}


// Derive by one control. Returns its mjgSide.
static int deriveControl(mjgpDerivative* p, double* qvel, double* state, int k, mjtNum eps) {
  mjgpStep* s = p->s;
  const mjModel* m = s->m;
  int nv = s->group->nv, one = 0;
  mju_zero(p->dacc, s->group->ld);
  mju_zero(s->target, s->n);
  move(p, p->ahead, k, eps);
  move(p, p->back, k, -eps);
  if (differ(p, eps, 0)) {
    int ends = s->d->ctrl[k] + eps > m->actuator_ctrlrange[2 * k + 1];
    one = m->actuator_ctrllimited[k] && ends ? -1 : 1;
    differ(p, eps, one);
  }
  for (int i = 0; i < s->n; i++) {
    p->piece[i].t = p->change[nv + mjgpLINE * s->n + i];
    p->piece[i].target = s->acc[i];
  }
  mjgp_solveSystem(&p->system, p->piece, p->change, 0, s->search, s->target);
  mjgp_accelerationsOf(s, p->dacc, s->search);

  // over the step, in all trees
  mjgp_mulInertia(s->group, s->next, s->search);
  for (int i = 0; i < nv; i++) {
    qvel[s->group->dof[i]] = m->opt.timestep * (s->Mhat->solver ? s->search : s->next)[i];
  }
  if (!s->Mhat->solver) {
    mjgp_solveInertia(qvel, m, s->Mhat, 0, nv);
  }
  int ahead = move(p, p->ahead, k, eps) && one >= 0, back = move(p, p->back, k, -eps) && one <= 0;
  if (differ(p, eps, 0) || !ahead || !back) {
    back = back && !ahead;
    differ(p, eps, ahead ? 1 : -1);
  }
  deriveState(p, state, qvel);
  return ahead || back ? ahead - back : mjgSIDE_NEITHER;
}


// Prepare at the acceleration of the step. Returns 0 if a piece has no line.
static int prepare(mjgpDerivative* p, mjgpStep* s) {
  mjData* d = s->d;
  size_t n = (size_t)s->n, all = (size_t)s->group->nv + mjgpNROW * n, ld = (size_t)s->group->ld;
  mjtNum* number = mj_stackAllocNum(d, 4 * all + ld);
  *p = (mjgpDerivative){.s = s, .base = number, .ahead = number + all, .back = number + 2 * all};
  p->change = p->back + all;
  p->dacc = p->change + all;
  p->mode = mj_stackAllocInt(d, 2 * n);
  p->load = p->mode + n;
  p->piece = mj_stackAllocByte(d, 2 * n * sizeof(mjgpPiece), _Alignof(mjgpPiece));
  p->moved = p->piece + n;
  p->shaft = mj_stackAllocByte(d, 2 * n * sizeof(mjgpShaft), _Alignof(mjgpShaft));
  for (int i = 0; i < s->n; i++) {
    int joint = s->group->joint[i];
    s->t[i] = s->g->out.t[joint];
    p->mode[i] = s->g->out.mode[joint];
    p->load[i] = s->g->out.load[joint];
  }
  mju_zero(p->dacc, s->group->ld);
  mju_zero(s->target, s->n);
  for (int i = 0; i < s->n; i++) {
    if (mjgp_isBranched(s->g, s->group->joint[i])) {
      return 0;
    }
  }
  move(p, p->base, 0, 0);
  memcpy(p->piece, p->moved, sizeof(mjgpPiece) * n);
  for (int i = 0; i < s->n; i++) {
    const mjgpPiece* piece = p->piece + i;
    mjtNum u = mjgp_torqueOfPiece(piece, s->acc[i], 0);
    mjtNum most = mjgpTANGENT * (mju_abs(s->t[i]) + mju_abs(piece->t) + mju_abs(u));
    if (!piece->held && !(mju_abs(piece->t - piece->weight * s->t[i]) <= most)) {
      return 0;
    }
  }
  mjgp_makeSystem(&p->system, s);
  return mjgp_updateSystem(&p->system, p->piece);
}


int mjg_controlDerivative(double* qvel, double* state, int* side, const mjModel* m, mjData* d,
                          double eps, char* error, int error_sz) {
  const char* wrong = !qvel || !state || !side
                          ? "no place for derivatives; give qvel, state and side"
                      : !(eps > 0) ? "eps is not positive; give 1e-6, for instance"
                                   : mjgp_belongError(m, d);
  if (wrong) {
    return mjgp_refuseCall(error, error_sz, wrong);
  }
  mjgpGears* g = mjgp_gears(m, d);
  int nv = (int)m->nv, known = 0, count = 0;
  mjgpDerivative derivative;
  mjgpGroup group;
  mjgpInertia Mhat;
  mjgpStep step;
  mj_markStack(d);
  mjtNum* acc = mj_stackAllocNum(d, (size_t)nv);
  mju_zero(qvel, (int)m->nu * nv);
  mju_zero(state, (int)(m->nu * m->npluginstate));
  mj_forwardSkip(m, d, mjSTAGE_NONE, 0);
  int minimum = !mjgp_solvesAnother(m) && !(m->opt.enableflags & mjENBL_SLEEP) &&
                m->opt.integrator != mjINT_RK4;
  int status = g->out.info.status;
  mju_sub(acc, d->qacc, g->out.shift, nv);
  mjgp_restoreReference(g, m, d, 0);
  if (minimum && (status == mjgSOLVED || status == mjgJAMMED)) {
    gather(g, m, d);
    g->in.ntree = (int)m->ntree;
    for (int t = 0; t < g->in.ntree; t++) {
      g->in.tree[t] = t;
    }
    mjgp_makeInertia(&Mhat, m, d, g);
    mjgp_findBlocks(&Mhat, m, d, g);
    mjgp_wholeStep(&step, &group, g, m, d, &Mhat, acc);
    mjgp_accelerations(&step);
    known = group.njoint && prepare(&derivative, &step);
  }
  for (int k = 0; k < (int)m->nu; k++) {
    int own = known && isLinear(m, g, k);
    count += own;
    side[k] = mjgSIDE_UNKNOWN;
    for (mjtNum wider = mjgpWIDER; own && wider >= 1 && side[k]; wider /= mjgpWIDER) {
      derivative.kink_tol = mjgpBENT / wider;
      side[k] =
          deriveControl(&derivative, qvel + k * nv, state + k * m->npluginstate, k, wider * eps);
    }
  }

  if (known) {
    move(&derivative, derivative.base, 0, 0);
  }
  mj_freeStack(d);
  return count;
}

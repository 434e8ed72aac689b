#include "friction/friction.h"

#include <math.h>

#include "configuration/brake.h"
#include "configuration/jacobian.h"
#include "configuration/names.h"
#include "friction/actuation.h"
#include "friction/bound.h"
#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/simd.h"
#include "state/layout.h"


// the direction in which a gear cannot turn in this step. A ratchet holds from where it is back at the tooth that it
// passed last; it may be behind this tooth by what a step moves it, but not by a whole pitch
static int findBlocked(mjtNum* tooth, const mjgTransmission* gear, mjtNum q) {
  if (gear->tooth_pitch == 0) {
    return -(int)gear->oneway;
  }
  mjtNum place = gear->oneway * (q - gear->tooth_phase) / gear->tooth_pitch, below = floor(place);
  int holds = place == below || *tooth == 2 * (below + 1) + 1;
  *tooth = place > below && holds ? *tooth : 2 * below + 1;
  return holds ? -(int)gear->oneway : 0;
}


// the brake or backstop of a gear in this step
static mjgpBrake brakeOf(const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpBrakeKeys* brake = &g->config->joint[i].brake;
  mjtNum tooth = d->plugin_state[g->config->state[i] + mjgpSTATE_TOOTH * g->config->stride[i]];
  int blocked = findBlocked(&tooth, &g->in.joint[i]->gear, g->in.q[i]);
  if (brake->actuator < 0) {
    return (mjgpBrake){.blocked = blocked, .tooth = tooth};
  }
  int group = m->actuator_group[brake->actuator];
  int off = !mjgp_actuationActive(m) ||
            (group >= 0 && group <= 30 && m->opt.disableactuator >> group & 1);
  mjtNum ctrl = off ? 0 : d->ctrl[m->actuator_ctrladr[brake->actuator]];
  mjtNum share =
      mjgp_closeBrake(brake, d->plugin_state[g->config->brake[i]], ctrl, m->opt.timestep);
  return (mjgpBrake){.blocked = blocked,
                     .tooth = tooth,
                     .share = share,
                     .sliding = share * brake->sliding,
                     .holding = share * brake->holding,
                     .turn = brake->side == mjgpSIDE_MOTOR ? -g->in.gamma_u[i] : g->in.gamma_v[i]};
}


// what the law has beside its coefficients where a gear is not ordinary, or was not
static void makeOther(mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  mjgpInput* in = &g->in;
  const mjgpJoint* joint = in->joint[i];
  mjtNum stiffness = joint->gear.presliding_stiffness;
  int braked = joint->brake.actuator >= 0 || joint->gear.oneway != 0;
  in->static_ratio[i] = joint->gear.static_ratio;
  in->compliance[i] = stiffness > 0 ? mjg_preslidingCompliance(stiffness, m->opt.timestep) : 0;
  in->ordinary[i] = mjgp_isOrdinary(joint, in->gamma_u[i], in->gamma_v[i]);

  // most gears have no brake: then what there was is gone
  if (braked || in->braked[i]) {
    in->braked[i] = braked;
    in->brake[i] = braked ? brakeOf(g, m, d, i) : (mjgpBrake){0};
  }
}


void mjgp_makeLaw(mjgpGears* g, const mjModel* m, const mjData* d) {
  mjgpInput* in = &g->in;
  for (int a = 0; a < in->nactive; a++) {
    int i = in->active[a];
    const mjgpJoint* joint = in->joint[i];
    const mjgTransmission* gear = &joint->gear;

    // where friction depends on the load beyond the law, the load is that of a steady motion with the
    // friction of the last step
    mjtNum last = in->t_last[i] = d->plugin_state[g->config->state[i]];
    if (joint->constant) {
      in->gamma_u[i] = gear->gamma_u;
      in->gamma_v[i] = gear->gamma_v;
      in->coulomb[i] = gear->coulomb;
    } else {
      mjg_frictionAt(in->gamma_u + i, in->gamma_v + i, in->coulomb + i, gear, in->q[i], in->v[i],
                     in->tau[i], in->tau[i] - last);
    }
    if (!joint->ordinary || !in->ordinary[i]) {
      makeOther(g, m, d, i);
    }
  }
}


//---------------------------------- gaps between two joints ---------------------------------------

// Rotors behind gaps: the engine has the inertia that gains of a motor mean at the joint. With y = y0 - Y t the
// torque that this takes, and t' = t + y the torque of the shaft, t = G (t' - y0), G = (1 - Y)^-1. Changes the problem
// from t to t': A and R by G from the right, a and u by what y0 does. Returns 0 if there is no such change
static int removeMisplaced(const mjgpGears* g, mjgpProblem* problem, mjtNum* G, mjtNum* shift,
                           mjtNum* t, int* pivot) {
  int n = problem->n;
  mjtNum* row = shift + n;
  for (int i = 0; i < n; i++) {
    int joint = problem->joint[i], rotor = g->config->joint[joint].gap == mjgpGAP_ROTOR;
    shift[i] = rotor ? problem->u[i] : 0;
    mjtNum own = t[i] + shift[i];
    for (int j = 0; j < n; j++) {
      mjtNum Y = rotor ? problem->R[i * n + j] : 0;
      G[i * n + j] = (i == j) - Y;
      own -= Y * t[j];
    }
    row[i] = own;
  }
  mju_copy(t, row, n);
  if (!mjgi_inverse(G, pivot, n)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    mjtNum* source[2] = {problem->W + i * n, problem->R + i * n};
    for (int k = 0; k < 2; k++) {
      mju_zero(row, n);
      for (int j = 0; j < n; j++) {
        mjgi_addScaled(row, G + j * n, source[k][j], n);
      }
      mju_copy(source[k], row, n);
    }
    mjtNum Wy = mju_dot(problem->W + i * n, shift, n), Ry = mju_dot(problem->R + i * n, shift, n);
    problem->a[i] += Wy;
    problem->u[i] -= Ry;
    problem->size[i] += mju_abs(Wy);
  }
  return 1;
}


// P = [gamma] R - [gamma_v] with R, the effect of friction on the torque into the gear, in the rows of the problem
static void makeP(mjtNum* P, const mjgpGears* g, const mjgpProblem* problem) {
  int n = problem->n;
  for (int i = 0; i < n; i++) {
    int joint = problem->joint[i];
    mjtNum gamma = g->in.gamma_u[joint] + g->in.gamma_v[joint];
    for (int j = 0; j < n; j++) {
      P[i * n + j] = gamma * problem->R[i * n + j];
    }
    P[i * n + i] -= g->in.gamma_v[joint];
  }
}


// Long because it fills, field by field, the problem that the core solves, and reads the solution back
int mjgp_solveFriction(mjgpGears* g, const mjModel* m, mjData* d, mjgpProblem* problem) {
  int n = problem->n, general = problem->R != NULL, yields = 0, gaps = 0, misplaced = 0;
  size_t count = (size_t)n;
  mjtNum h = m->opt.timestep;
  mj_markStack(d);
  for (int a = 0; a < n; a++) {
    yields |= g->in.compliance[problem->joint[a]] > 0;
  }
  for (int a = 0; a < n && g->config->gaps; a++) {
    int gap = g->config->joint[problem->joint[a]].gap;
    gaps |= gap != mjgpGAP_NONE;
    misplaced |= general && gap == mjgpGAP_ROTOR;
  }
  size_t nmatrix = general || yields ? 2 * count * count : 0;
  mjtNum* number = mj_stackAllocNum(d, 14 * count + nmatrix);
  mjtNum *v = number, *phi = v + n, *alpha = phi + n, *beta = alpha + n, *t = beta + n;
  mjtNum *v_next = t + n, *lambda = v_next + n, *v0 = lambda + n, *coulomb = v0 + n;
  mjtNum *static_ratio = coulomb + n, *shift = static_ratio + n;
  mjtNum *G = shift + 2 * n, *P = G + n * n;
  int *mode = (int*)(G + nmatrix), *pivot = mode + n;
  const mjgCoupling** coupling =
      gaps ? mj_stackAllocByte(d, sizeof(mjgCoupling*) * count, _Alignof(mjgCoupling*)) : NULL;
  for (int a = 0; a < n; a++) {
    t[a] = g->out.t[problem->joint[a]];
  }
  if (misplaced && !removeMisplaced(g, problem, G, shift, t, pivot)) {
    misplaced = 0;
  }

  // velocity and internal force without friction, scale of rounding errors
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    mjtNum gamma = g->in.gamma_u[i] + g->in.gamma_v[i];
    mjtNum u = general ? problem->u[a] : g->in.tau[i] - g->in.inertia[i] * problem->a[a];
    v[a] = g->in.v[i] + h * problem->a[a];
    phi[a] = gamma * u;
    alpha[a] = gamma * g->in.inertia[i] / h;
    beta[a] = g->in.gamma_v[i];
    coulomb[a] = g->in.coulomb[i] + g->in.brake[i].sliding;  // the core knows no brakes
    static_ratio[a] = g->in.static_ratio[i];
    v0[a] = g->in.v[i];
    mode[a] = g->out.mode[i];
    g->out.cancellation[i] = mju_abs(g->in.v[i]) + h * problem->size[a];
  }

  // A = h W
  mju_scl(problem->W, problem->W, h, n * n);
  if (general) {
    makeP(P, g, problem);
  }
  for (int a = 0; a < n && gaps; a++) {
    int i = problem->joint[a];
    coupling[a] = mjgp_hasGap(g->config->joint + i) ? g->in.coupling + i : NULL;
  }

  // joints that yield: the problem of their slip, with P as it is
  for (int a = 0; a < n && yields && !general; a++) {
    for (int b = 0; b < n; b++) {
      P[a * n + b] = alpha[a] * problem->W[a * n + b];
    }
    P[a * (n + 1)] -= beta[a];
  }
  for (int a = 0; a < n && yields; a++) {
    int i = problem->joint[a];
    mjg_addPresliding(v + a, problem->W + a * (n + 1), g->in.compliance[i], g->in.t_last[i]);
    g->out.cancellation[i] += mju_abs(g->in.compliance[i] * g->in.t_last[i]);
  }

  // solve
  mjgProblem core = {.n = n,
                     .v = v,
                     .A = problem->W,
                     .phi = phi,
                     .P = general || yields ? P : NULL,
                     .alpha = alpha,
                     .beta = beta,
                     .coulomb = coulomb,
                     .static_ratio = static_ratio,
                     .v0 = v0,
                     .coupling = coupling};
  mjgSolution solution = {.t = t, .v = v_next, .lambda = lambda, .mode = mode};
  mjgWorkspace* work = g->scratch.work;
  if (n > g->scratch.nwork) {
    size_t bytes = mjg_memsize(n, n);
    work = mjg_create(mj_stackAllocByte(d, bytes, 64), bytes, n, n);
  }
  g->out.last_info = (mjgInfo){.sigma_max = -1};
  int status = mjg_solve(&solution, &g->out.last_info, &core, &g->in.settings, work);

  // no finite input, or nothing that the core accepts: no friction
  if (status < 0) {
    g->out.last_info.status = status;
    for (int a = 0; a < n; a++) {
      t[a] = 0;
      lambda[a] = phi[a];
      v_next[a] = v[a];
      mode[a] = (v[a] > 0) - (v[a] < 0);
    }
  }

  // what the gaps did
  for (int a = 0; a < n && gaps; a++) {
    if (coupling[a]) {
      mjtNum A = problem->W[a * (n + 1)];
      mjg_couplingResolve(g->out.gap + problem->joint[a], coupling[a], v_next[a] + A * t[a], A);
    }
  }
  for (int a = 0; a < n && yields; a++) {
    int i = problem->joint[a];
    v_next[a] = mjg_preslidingVelocity(v_next[a], t[a], g->in.compliance[i], g->in.t_last[i]);
  }
  // results
  for (int a = 0; a < n; a++) {
    int i = problem->joint[a];
    g->out.u[i] = general ? problem->u[a] + mju_dot(problem->R + a * n, t, n)
                          : g->in.tau[i] - g->in.inertia[i] * (v_next[a] - g->in.v[i]) / h;
    g->out.t[i] = misplaced ? mju_dot(G + a * n, t, n) - mju_dot(G + a * n, shift, n) : t[a];
    g->out.v_next[i] = v_next[a];
    g->out.lambda[i] = lambda[a];
    g->out.mode[i] = mode[a];
    mjtNum p = general || yields ? P[a * (n + 1)] : alpha[a] * problem->W[a * (n + 1)] - beta[a];
    g->out.P[i] = status >= 0 && !gaps ? p : 0;

    // what a gap transmits is not among the accelerations without friction
    if (gaps) {
      g->out.cancellation[i] = mju_max(g->out.cancellation[i], mju_abs(v_next[a]));
    }
  }
  mj_freeStack(d);
  return status;
}


int mjgp_isJammed(const mjgpGears* g, int i) {
  const mjgpInput* in = &g->in;
  mjgpBound bound = mjgp_boundOf(in, i, g->out.t[i] > 0 ? 1 : -1, 0);
  return g->out.mode[i] == 0 && mjgi_lawJammed(g->out.t[i], g->out.lambda[i] + bound.shift,
                                               g->out.P[i], bound.c, in->static_ratio[i], in->v[i]);
}


void mjgp_takeMotors(const mjgpGears* g, mjData* d) {
  for (int a = 0; a < g->in.nactive && g->config->rotors; a++) {
    int i = g->in.active[a];
    if (g->config->joint[i].gap == mjgpGAP_ROTOR) {
      mjgp_addRow(d->qfrc_passive, g->in.E[i], -g->in.tau[i]);
    }
  }
}


void mjgp_applyFriction(const mjgpGears* g, const mjModel* m, mjData* d, const mjtNum* t) {
  const mjgpConfig* config = g->config;
  const mjtNum* base = g->in.base;
  mjtNum* passive = d->qfrc_passive;
  for (int k = 0; k < config->ndof; k++) {
    int dof = config->dof[k];
    if (mjgp_isAwake(m, d, dof)) {
      passive[dof] = base[dof];
    }
  }
  mjgp_takeMotors(g, d);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgp_addRow(passive, g->in.E[i], -t[i]);
  }
}


void mjgp_countFriction(mjgpGears* g, const mjModel* m, const mjData* d, int status, int worst) {
  // what is reported of a step is the worst of its problems
  const mjgInfo* last = &g->out.last_info;
  g->out.info.iterations = mjMAX(g->out.info.iterations, last->iterations);
  g->out.info.factorizations += last->factorizations;
  g->out.info.fallbacks += last->fallbacks;
  g->out.info.residual = mju_max(g->out.info.residual, last->residual);
  if (status < 0 || (g->out.info.status >= 0 && status > g->out.info.status)) {
    g->out.info.status = status;
  }

  g->count.steps++;
  g->count.solved += status == mjgSOLVED;
  g->count.ill_posed += status == mjgJAMMED;
  g->count.iterations += last->iterations;
  g->count.fallbacks += last->fallbacks;
  g->count.unsolved += status < mjgSOLVED || status > mjgJAMMED;
  if (status == mjgITERATION_LIMIT || status == mjgNO_SOLUTION) {
    const mjgpJoint* joint = worst >= 0 ? g->config->joint + worst : NULL;
    const char* name = joint ? mjgp_gearName(m, joint) : NULL;
    mjgp_warn(g, mjgpWARN_UNSOLVED,
              "at time %g: %s (relative residual %g, %s '%.60s'). Further occurrences are "
              "counted, not reported",
              d->time, mjg_statusString(status), last->residual,
              joint ? mjgp_gearKind(joint) : "joint", name ? name : "");
  }
}

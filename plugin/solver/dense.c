#include "solver/dense.h"

#include "gear/friction.h"
#include "gear/tolerances.h"
#include "solver/convex.h"
#include "solver/law_error.h"
#include "solvers/dense.h"
#include "solvers/simd.h"

// accelerations a - W t and torques into the gears u + R t
typedef struct mjgpDense_ {
  mjgpStep* s;
  int n;
  mjtNum *W, *R;     //                                                       (n x n)
  mjtNum *a, *size;  // size: sum of a's absolute terms        (n, in lanes of ld)
  mjtNum* u;         //                                                       (n)
  mjtNum* t;         // friction, in and out                                  (n)
} mjgpDense;


static void make(mjgpDense* p, mjgpStep* s) {
  const mjgpGroup* group = s->group;
  int n = s->n, ld = group->ld;
  size_t count = (size_t)n;
  mjtNum* number = mj_stackAllocNum(s->d, 2 * count * count + 2 * count + 2 * (size_t)ld);
  *p = (mjgpDense){.s = s, .n = n, .W = number};
  p->R = p->W + n * n;
  p->u = p->R + n * n;
  p->t = p->u + n;
  p->a = p->t + n;
  p->size = p->a + ld;
  mjgp_freeAcceleration(s, p->a, p->size);
  for (int i = 0; i < n; i++) {
    int joint = group->joint[i], e = group->extra[i];
    const mjgpGearInput* in = s->g->in.gear + joint;
    mjtNum taken = in->inertia * p->a[i] + (e >= 0 ? p->a[n + e] : 0);
    p->u[i] = in->tau - taken;
    p->t[i] = s->g->out.t[joint];
    mju_copy(p->W + i * n, s->W + i * ld, n);
    for (int j = 0; j < n; j++) {
      p->R[i * n + j] = in->inertia * p->W[i * n + j] + (e >= 0 ? s->W[(n + e) * ld + j] : 0);
    }
  }
}


// Solve for friction s->t of the linearization, with results in s->g. Returns 0 if the core
// refuses the problem. Long because it fills the problem and reads the solution field by field.
static int solveLinear(mjgpStep* s) {
  mjgpDense dense, *p = &dense;
  mjgpGears* g = s->g;
  int n = s->n;
  mjtNum h = s->m->opt.timestep;
  make(p, s);
  mjtNum* number = mj_stackAllocNum(s->d, 9 * (size_t)n);
  mjtNum *v = number, *phi = v + n, *beta = phi + n, *v_next = beta + n, *lambda = v_next + n;
  mjtNum *v0 = lambda + n, *coulomb = v0 + n, *ratio = coulomb + n;
  int* mode = (int*)(ratio + n);
  mju_scl(p->W, p->W, h, n * n);
  for (int i = 0; i < n; i++) {
    int joint = s->group->joint[i];
    const mjgpGearInput* in = g->in.gear + joint;
    mjtNum gamma = in->gamma_u + in->gamma_v, e = in->compliance;
    v[i] = in->v + h * p->a[i];
    phi[i] = gamma * p->u[i];
    beta[i] = in->gamma_v;
    const mjgpBrake* brake = mjgp_brakeOf(&g->in, joint);  // which the core does not know
    coulomb[i] = in->coulomb + (brake ? brake->sliding : 0);
    ratio[i] = in->static_ratio;
    v0[i] = in->v;
    mode[i] = g->out.mode[joint];
    g->out.cancellation[joint] = mju_abs(in->v) + h * p->size[i];

    // P = [gamma] R - [gamma_v], of the slip where the joint yields
    mju_scl(p->R + i * n, p->R + i * n, gamma, n);
    p->R[i * n + i] -= beta[i];
    if (e > 0) {
      mjg_addPresliding(v + i, p->W + i * (n + 1), e, in->t_last);
      g->out.cancellation[joint] += mju_abs(e * in->t_last);
    }
  }
  mjgProblem core = {.n = n, .v = v, .A = p->W, .phi = phi, .P = p->R, .beta = beta};
  core.coulomb = coulomb;
  core.static_ratio = ratio;
  core.v0 = v0;
  mjgSolution solution = {.t = p->t, .v = v_next, .lambda = lambda, .mode = mode};
  size_t bytes = mjg_memsize(n, n);
  mjgWorkspace* work = mjg_create(mj_stackAllocByte(s->d, bytes, 64), bytes, n, n);
  g->out.last_info = (mjgInfo){0};
  if (mjg_solve(&solution, &g->out.last_info, &core, &g->in.settings, work) < 0) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    int joint = s->group->joint[i];
    s->t[i] = p->t[i];
    const mjgpGearInput* in = g->in.gear + joint;
    if (in->compliance > 0) {
      v_next[i] = mjg_preslidingVelocity(v_next[i], p->t[i], in->compliance, in->t_last);
    }
    g->out.t[joint] = s->t[i];
    g->out.v_next[joint] = v_next[i];
    g->out.lambda[joint] = lambda[i];
    g->out.mode[joint] = mode[i];
  }
  return 1;
}


int mjgp_solveDense(mjgpStep* s) {
  int solved = 0, worst;
  mjgp_evaluate(s);
  int going = mjgp_linearize(s);
  for (int k = 0; k < mjgpITERATIONS && going && !solved; k++) {
    mj_markStack(s->d);
    going = solveLinear(s) && mjgp_inner(s, s->t);
    mj_freeStack(s->d);
    mjgp_accelerations(s);
    for (int i = 0; i < s->n; i++) {
      s->g->out.u[s->group->joint[i]] = mjgp_torqueIn(s, i);
    }
    solved = going && mjgp_lawError(s, &worst) <= mjgpROOT;
  }
  if (going) {
    mjgp_addRounding(s);
  }
  return going;
}

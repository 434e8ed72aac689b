// The step of a group of constraints and gears: its methods and results.
//
// Newton on the active set (newton.h) solves nearly every group, the homotopy path (path.h) the
// others. With another key "solver" friction is a dense problem of the core first (dense.h). A
// step is solved only if it is on the law (law_error.h).

#include "solver/coupling.h"

#include <string.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/friction.h"
#include "gear/tolerances.h"
#include "model/simd.h"
#include "solver/contact.h"
#include "solver/dense.h"
#include "solver/fallback.h"
#include "solver/forces.h"
#include "solver/law_error.h"
#include "solver/newton.h"
#include "solver/parts.h"
#include "solver/path.h"
#include "solver/tree.h"


//---------------------------------- one group -----------------------------------------------------

// Make a step of a group: what every method needs.
static mjgpStep* prepare(mjgpStep* s, mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                         mjgpGroup* group) {
  *s = (mjgpStep){.m = m, .d = d, .g = g, .group = group, .Mhat = Mhat, .n = group->njoint};
  s->most = g->in.settings.iterations ? g->in.settings.iterations : mjgpBUDGET;
  size_t size = (size_t)mjgi_simdEnd(group->nv), ld = (size_t)group->ld;
  s->a = mj_stackAllocNum(d, 3 * size + ld + (size_t)s->n);
  s->gradient = s->a + size;
  s->rounding = s->gradient + size;
  s->acc = s->rounding + size;
  s->t = s->acc + ld;
  s->piece = mj_stackAllocByte(d, sizeof(mjgpPiece) * (size_t)s->n, _Alignof(mjgpPiece));
  mju_zero(s->a, (int)(3 * size + ld));
  for (int i = 0; i < s->n && g->config->gaps; i++) {
    s->gaps |= g->config->joint[group->joint[i]].gap != mjgpGAP_NONE;
  }
  return s;
}


// Add what Newton, the path and the dense problem need: the pattern of H, and room for the Delassus
// matrix.
static void extend(mjgpStep* s) {
  size_t nv = (size_t)s->group->nv, n = (size_t)s->n, nefc = (size_t)s->group->nefc,
         ld = (size_t)s->group->ld;
  size_t size = (size_t)mjgi_simdEnd(s->group->nv), row = n + (size_t)s->group->nextra;
  size_t nvector = 3 * size, ncolumn = (s->Mhat->solver ? 1 : 4) * ld * nv;
  mjgp_makePattern(s->group, s->d);
  if (!s->Mhat->solver) {
    mjgp_factorInertia(s->Mhat, s->m, s->d, s->g);
  }
  mjtNum* number = mj_stackAllocNum(s->d, nvector + ncolumn + n + row * ld + 2 * nefc);
  mju_zero(number, (int)nvector);
  s->next = number;
  s->search = number + size;
  s->descent = number + 2 * size;
  s->right = number + nvector;
  s->left = s->Mhat->solver ? s->right : s->right + ld * nv;
  s->rows = s->Mhat->solver ? NULL : s->left + ld * nv;
  s->forces = s->Mhat->solver ? NULL : s->rows + ld * nv;
  s->W = s->right + ncolumn;
  s->target = s->W + row * ld;
  s->jar = s->target + n;
  s->factored = (int*)(s->jar + nefc);
  s->reduced_state = s->factored + nefc;
}


// Newton, then the path. flg_start: from the last step, else from s->a. Returns 1 if solved.
static int solveOnPieces(mjgpStep* s, int* method, int flg_start) {
  mjgpNewton newton;
  mj_markStack(s->d);
  if (flg_start) {
    mjgp_startAtLast(s);
  }
  mjgp_makeNewton(&newton, s);
  *method = mjgpMETHOD_NEWTON;
  int solved = mjgp_newton(&newton, flg_start);
  if (!solved) {
    *method = mjgpMETHOD_PATH;
    solved = mjgp_followPath(&newton);
  }
  mj_freeStack(s->d);
  return solved;
}


// Solve friction as a dense problem of the core.
static int solveDense(mjgpStep* s, int* method) {
  mjgp_startAtLast(s);
  *method = mjgpMETHOD_DENSE;
  return mjgp_solveDense(s);
}


// Returns 1 if another key "solver" than newton is given. The dense problem has no gaps.
static int wantsDense(const mjgpStep* s) {
  return !s->gaps && s->g->in.settings.solver != mjgNEWTON;
}


// Solve by one method. flg_start: from the last step. Returns 1 if the result is on the law.
static int solve(mjgpStep* s, int* method, mjtNum* error, int* worst, int flg_start) {
  if (wantsDense(s) && solveDense(s, method) && (*error = mjgp_lawError(s, worst)) <= mjgpLAW) {
    return 1;
  }
  return solveOnPieces(s, method, flg_start) && (*error = mjgp_lawError(s, worst)) <= mjgpLAW;
}


// The first try, with few rows. flg_started: 1 if it has left s->a and pieces to continue from.
static int solveInForces(mjgpStep* s, int* flg_started, mjtNum* error, int* worst) {
  if (wantsDense(s) || !mjgp_hasForces(s)) {
    return 0;
  }
  mj_markStack(s->d);
  mjgp_startAtLast(s);
  int solved = mjgp_solveForces(s) && (*error = mjgp_lawError(s, worst)) <= mjgpLAW;
  mj_freeStack(s->d);
  *flg_started = 1;
  return solved;
}


// Returns 1 if velocities of gears may be linearly dependent; those of joints are not
static int mayShare(const mjgpStep* s) {
  int tendons = 0;
  for (int i = 0; i < s->n; i++) {
    tendons |= s->g->config->own[s->group->joint[i]] < 0;
  }
  return tendons && s->n > 1;
}


// Solve for gears with dependent motions, for instance two winches on one load: many
// distributions of the load are solutions. Stiff springs behind the gears select one close to
// the last step. From the forces of one solution the next one has less of their motion.
static int shareLoad(mjgpStep* s, int* method, mjtNum* error, int* worst) {
  mjtNum share = mjgpCLOSE * s->m->opt.timestep;
  int found = 1;
  mj_markStack(s->d);
  s->spring = mj_stackAllocNum(s->d, 2 * (size_t)s->n);
  *error = 1;
  for (int pass = 0; found && pass < mjgpITERATIONS; pass++) {
    if (pass > 1 && *error <= mjgpSAME) {
      break;
    }
    for (int i = 0; i < s->n; i++) {
      const mjgpGearInput* in = s->g->in.gear + s->group->joint[i];
      mjtNum own = in->compliance, t = pass && own == 0 ? s->t[i] : in->t_last;
      s->spring[2 * i] = mju_max(own, share * mjgp_delassus(s, i, i));

      // less of each torque, so that no gear lies at its bound with an unstretched spring
      s->spring[2 * i + 1] = own == 0 ? (1 - mjgpCLOSE) * t : t;
    }
    found = solveOnPieces(s, method, 1);
    *error = mjgp_lawError(s, worst);
    share *= pass ? 0.25 : 1;
  }
  s->spring = NULL;
  mj_freeStack(s->d);
  return found && *error <= mjgpLAW;
}


// Returns 1 if a joint has a static bound above its sliding bound.
static int hasStatic(const mjgpStep* s) {
  int any = 0;
  for (int i = 0; i < s->n; i++) {
    const mjgpPiece* piece = s->piece + i;
    any |=
        piece->static_ratio > 1 || (piece->brake && piece->brake->holding > piece->brake->sliding);
  }
  return any;
}


// Solve for friction and acceleration of one group
static void solveGroup(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                       mjgpGroup* group) {
  mjgpStep step, *s = prepare(&step, g, m, d, Mhat, group);
  g->count.coupled++;
  int worst = -1, method = mjgpMETHOD_NEWTON, started = 0;
  mjtNum error = 0;
  int solved = solveInForces(s, &started, &error, &worst);
  if (!solved) {
    extend(s);
    solved = solve(s, &method, &error, &worst, !started);
  }
  if (!solved || method == mjgpMETHOD_PATH) {
    g->count.hard++;
    g->count.fallbacks++;
    g->out.info.fallbacks++;
    if (!solved) {
      mjgp_renewBudget(s);
      s->released = hasStatic(s);
      solved = s->released && solve(s, &method, &error, &worst, 1);
      s->released = 0;
    }
    solved = solved || (mayShare(s) && shareLoad(s, &method, &error, &worst));
  }
  if (!solved) {
    mjgp_startAtLast(s);
    mjgp_giveUp(s);
    error = mjgp_lawError(s, &worst);

    // passive friction on the law is a solution, for instance if all motion is round-off
    solved = error <= mjgpLAW;
    g->out.last_info = (mjgInfo){.status = solved ? mjgSOLVED : mjgITERATION_LIMIT};
    method = mjgpMETHOD_NONE;
  }
  g->count.by[method]++;

  // solved, although not to the core's tolerance; uniqueness is unknown
  if (solved && g->out.last_info.status > mjgJAMMED) {
    g->out.last_info.status = mjgJAMMED;
    g->out.last_info.residual = error;
  }
  g->out.last_info.residual = mju_max(g->out.last_info.residual, error);
  g->count.newton_steps += step.newton_steps;

  // warm start of the engine at the solution
  for (int i = 0; i < group->nv; i++) {
    d->qacc_warmstart[group->dof[i]] = s->a[i];
  }
  mjgp_recordSolve(g, m, d, g->out.last_info.status, worst);
}


//---------------------------------- hand over ----------------------------------------------------

// Returns the island of a gear that does not couple trees, or -1.
static int islandOf(const mjgpGears* g, const mjData* d, int i) {
  return d->dof_island[g->in.E[i].dof[0]];
}


// Returns the cost of an island without gears at an acceleration of all dofs.
static mjtNum costOf(mjgpGroup* group, mjtNum* a, const mjtNum* acceleration) {
  mjtNum cost = 0;
  for (int i = 0; i < group->nv; i++) {
    a[i] = acceleration[group->dof[i]];
  }
  for (int i = 0; i < group->nv; i++) {
    int adr = group->M_adr[i];
    mjtNum sum = 0.5 * group->M[adr] * a[i] - group->force[i];
    for (int k = adr + 1; k < group->M_adr[i + 1]; k++) {
      sum += group->M[k] * a[group->M_col[k]];
    }
    cost += sum * a[i];
  }
  mjgp_residual(group, group->jar, a);
  return cost + mjgp_constraintForce(group, group->f, group->state, NULL, group->jar);
}


// Warm-start an island without gears at the cheaper of qacc_warmstart and qacc_smooth.
static void startIsland(mjgpGears* g, const mjModel* m, mjData* d, const mjgpInertia* Mhat,
                        const mjtNum* force, const mjtNum* smooth, int island) {
  mjgpPart part = mjgp_islandPart(d, island);
  mjgpGroup group;
  mj_markStack(d);
  mjgp_makeGroup(&group, m, d, g, Mhat, g->scratch.local, force, &part);
  int lanes = mjgi_simdEnd(group.nv);
  mjtNum* a = mj_stackAllocNum(d, (size_t)lanes);
  mju_zero(a, lanes);
  if (costOf(&group, a, d->qacc_warmstart) > costOf(&group, a, smooth)) {
    for (int i = 0; i < group.nv; i++) {
      d->qacc_warmstart[group.dof[i]] = smooth[group.dof[i]];
    }
  }
  mj_freeStack(d);
}


// Set d->qacc_warmstart of awake trees without constraints, and of islands without gears the cheaper
// start. The engine compares the cost of qacc_warmstart and qacc_smooth for all islands at once,
// so that one bad island would spoil the start of all.
static void chooseStart(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                        const mjtNum* force) {
  int nv = (int)m->nv, ncoupled = 0, discrete = mjgp_isDiscrete(m) && !Mhat->flg_M;
  if (!d->nisland || mjgp_connectsTrees(g, Mhat)) {
    return;
  }
  mj_markStack(d);
  int* coupled = mj_stackAllocInt(d, (size_t)d->nisland + 1);
  memset(coupled, 0, sizeof(int) * (size_t)d->nisland);
  for (int a = 0; a < g->in.nactive; a++) {
    int island = islandOf(g, d, g->in.active[a]);
    if (island >= 0) {
      ncoupled += !coupled[island];
      coupled[island] = 1;
    }
  }
  if (ncoupled == d->nisland && d->nidof == nv) {
    mj_freeStack(d);
    return;
  }

  mjtNum* smooth = mj_stackAllocNum(d, (size_t)nv);
  mju_copy(smooth, force, nv);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    mjgp_addRow(smooth, g->in.E[i], -g->out.t[i]);
  }
  if (discrete) {
    mjgp_factorInertia(Mhat, m, d, g);
  }
  const mjgpInertia M = {.upper = d->qLD, .pivot = d->qLDiagInv, .adr = m->M_rowadr};
  for (int t = 0; t < m->ntree; t++) {
    int begin = m->tree_dofadr[t], end = begin + m->tree_dofnum[t];
    int awake = end > begin && mjgp_isAwake(m, d, begin);
    int island = awake ? d->dof_island[begin] : -1;
    if (awake && (island < 0 || !coupled[island])) {
      mjgp_solveInertia(smooth, m, discrete ? Mhat : &M, begin, end);
    }
  }
  for (int i = 0; i < nv; i++) {
    if (d->dof_island[i] < 0 && mjgp_isAwake(m, d, i)) {
      d->qacc_warmstart[i] = smooth[i];
    }
  }
  for (int k = 0; k < d->nisland; k++) {
    if (!coupled[k]) {
      startIsland(g, m, d, Mhat, force, smooth, k);
    }
  }
  mj_freeStack(d);
}


//---------------------------------- all groups ----------------------------------------------------

static void solveParts(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                       const mjtNum* force, const int* joint, int n, int flg_rows) {
  mj_markStack(d);
  mjgpPart* part = mj_stackAllocByte(d, sizeof(mjgpPart) * (size_t)n, _Alignof(mjgpPart));
  int npart = mjgp_makeParts(part, g, m, d, Mhat, joint, n, flg_rows);
  for (int p = 0; p < npart; p++) {
    mjgpGroup group;
    mj_markStack(d);
    mjgp_makeGroup(&group, m, d, g, Mhat, g->scratch.local, force, part + p);
    solveGroup(g, m, d, Mhat, &group);
    mj_freeStack(d);
  }
  mj_freeStack(d);
}


// Solve for friction of joints without constraints, tree by tree where no tendon has a gear.
static void solveFree(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                      const mjtNum* force, int* joint, int n) {
  int tendons = g->config->joint[joint[n - 1]].dof < 0;  // they are the last ones
  if (!Mhat->coupled && !g->in.reaches && !tendons) {
    n = mjgp_solveTrees(g, m, d, Mhat, force, joint, n);
  }
  if (n) {
    solveParts(g, m, d, Mhat, force, joint, n, 0);
  }
}


// Move joints without constraints to the front. Returns their number.
static int freeFirst(const mjgpGears* g, mjData* d, const mjgpInertia* Mhat, int* joint, int n) {
  if (!d->nefc) {
    return n;
  }
  if (!d->nisland || mjgp_connectsTrees(g, Mhat)) {
    return 0;
  }
  mj_markStack(d);
  int nfree = 0, nheld = 0, *held = mj_stackAllocInt(d, (size_t)n);
  for (int i = 0; i < n; i++) {
    if (islandOf(g, d, joint[i]) < 0) {
      joint[nfree++] = joint[i];
    } else {
      held[nheld++] = joint[i];
    }
  }
  memcpy(joint + nfree, held, sizeof(int) * (size_t)nheld);
  mj_freeStack(d);
  return nfree;
}


void mjgp_solveGears(mjgpGears* g, const mjModel* m, mjData* d, mjgpInertia* Mhat,
                     const mjtNum* force, int* joint, int n) {
  int nfree = n ? freeFirst(g, d, Mhat, joint, n) : 0;
  if (nfree) {
    solveFree(g, m, d, Mhat, force, joint, nfree);
  }
  if (d->nefc) {
    chooseStart(g, m, d, Mhat, force);
    if (nfree < n) {
      solveParts(g, m, d, Mhat, force, joint + nfree, n - nfree, 1);
    }
  }
}


mjgpStep* mjgp_wholeStep(mjgpStep* s, mjgpGroup* group, mjgpGears* g, const mjModel* m, mjData* d,
                         mjgpInertia* Mhat, const mjtNum* a) {
  int nv = g->config->nv, *number = mj_stackAllocInt(d, (size_t)(nv + d->nefc + g->config->n));
  mjgpPart part = {nv, d->nefc, 0, number, number + nv, number + nv + d->nefc};
  for (int k = 0; k < nv + d->nefc; k++) {
    number[k] = k < nv ? k : k - nv;
  }
  for (int b = 0; b < g->in.nactive; b++) {
    if (!mjgp_standsStill(g->in.E[g->in.active[b]])) {
      part.joint[part.njoint++] = g->in.active[b];
    }
  }
  mjgp_makeGroup(group, m, d, g, Mhat, g->scratch.local, d->qfrc_smooth, &part);
  extend(prepare(s, g, m, d, Mhat, group));
  for (int k = 0; k < nv; k++) {
    s->a[k] = a[group->dof[k]];
  }
  mjgp_evaluate(s);
  return s;
}

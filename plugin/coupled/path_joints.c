#include "coupled/path.h"

#include "friction/friction.h"
#include "solvers/dense.h"

// changes of the inverse of the joints' equations before it is made anew
#define mjgpUPDATES 100

// of the terms of a change: what is left of them makes the equations nearly singular
#define mjgpNEARLY 1e-8


void mjgp_evaluateJoints(mjgpPath* p) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  mjtNum h = s->m->opt.timestep;
  mjgp_accelerations(s);
  for (int i = 0; i < p->n; i++) {
    int joint = s->group->joint[i];
    s->shift[i] = (p->x - 1) * p->begin.free[i];
    mjtNum v = g->in.v[joint] + s->shift[i] + h * s->acc[i];
    p->trial[i] = s->t[i] + mjgp_slip(g, joint, v, s->t[i]) / (h * p->c[i]);
    p->lambda[i] =
        mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], mjgp_torqueIn(s, i), s->t[i]) +
        (p->x - 1) * p->begin.load[i];
  }
}


mjtNum mjgp_mapOf(const mjgpPath* p, int i) {
  mjtNum t = p->s->t[i];
  if (!p->side[i]) {
    return t - p->trial[i];
  }
  return t - p->side[i] * mjgp_ratioOf(p, i, p->side[i]) *
                 (p->load[i] * p->lambda[i] + mjgp_coulombOf(p, i));
}


// equation of joint i on its piece, with friction in units
static void makeRow(const mjgpPath* p, mjtNum* restrict row, int i) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  int n = p->n, ld = s->group->ld, joint = s->group->joint[i], e = s->group->extra[i];
  const mjtNum *W = s->W + i * ld, *other = e >= 0 ? s->W + (n + e) * ld : NULL;
  const mjtNum* restrict unit = p->unit;
  mjtNum scale = 1 / unit[i];
  if (!p->side[i]) {
    mjtNum share = scale / p->c[i];
    for (int j = 0; j < n; j++) {
      row[j] = share * W[j] * unit[j];
    }
    row[i] += g->in.compliance[joint] / (s->m->opt.timestep * p->c[i]);
    return;
  }
  mjtNum factor = p->side[i] * mjgp_ratioOf(p, i, p->side[i]) * p->load[i],
         inertia = g->in.inertia[joint];
  mjtNum gamma = factor * (g->in.gamma_u[joint] + g->in.gamma_v[joint]);
  for (int j = 0; j < n; j++) {
    row[j] = -scale * gamma * inertia * W[j] * unit[j];
  }
  for (int j = 0; j < n && other; j++) {
    row[j] -= scale * gamma * other[j] * unit[j];
  }
  row[i] += 1 + factor * g->in.gamma_v[joint];
}


mjtNum mjgp_rightSide(const mjgpPath* p, int i) {
  const mjgpGears* g = p->s->g;
  const mjgpResidual* goal = p->goal;
  int joint = p->s->group->joint[i], e = p->s->group->extra[i];
  mjtNum scale = 1 / p->unit[i], F = goal->F[i];
  mjtNum own = goal->answer[i] - goal->free[i] / p->s->m->opt.timestep;  // less what x brings
  if (!p->side[i]) {
    return scale * (-F - own / p->c[i]);
  }
  mjtNum ratio = p->side[i] * mjgp_ratioOf(p, i, p->side[i]);
  mjtNum taken = g->in.inertia[joint] * own + (e >= 0 ? goal->answer[p->n + e] : 0);
  mjtNum lambda = (g->in.gamma_u[joint] + g->in.gamma_v[joint]) * taken + goal->load[i];
  return scale * (-F + ratio * (p->load[i] * lambda + goal->coulomb[i]));
}


int mjgp_invert(mjgpPath* p) {
  int n = p->n;
  for (int i = 0; i < n; i++) {
    makeRow(p, p->K + i * n, i);
  }
  mju_copy(p->inverse, p->K, n * n);
  p->updates = 0;
  p->sign = mjgi_inverse(p->inverse, p->pivot, n);
  return p->sign;
}


// take up a change of K by p->column times p->row; 0 if that makes it nearly singular
static int update(mjgpPath* p) {
  int n = p->n;
  mjtNum pivot = 1, size = 1;
  if (++p->updates > mjgpUPDATES) {
    return 0;
  }
  mjgi_mulMatVec(p->effect, p->inverse, p->column, n);
  mju_zero(p->column, n);
  for (int i = 0; i < n; i++) {
    mjtNum term = p->row[i] * p->effect[i];
    pivot += term;
    size += mju_abs(term);
    mju_addToScl(p->column, p->inverse + i * n, p->row[i], n);
  }
  if (!(mju_abs(pivot) > mjgpNEARLY * size)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    mju_addToScl(p->inverse + i * n, p->column, -p->effect[i] / pivot, n);
  }
  p->sign = pivot < 0 ? -p->sign : p->sign;
  return 1;
}


int mjgp_changeSide(mjgpPath* p, int i) {
  int n = p->n;
  mju_copy(p->row, p->K + i * n, n);
  makeRow(p, p->K + i * n, i);
  mju_sub(p->row, p->K + i * n, p->row, n);
  mju_zero(p->column, n);
  p->column[i] = 1;
  return update(p) || mjgp_invert(p);
}


int mjgp_changeRow(mjgpPath* p) {
  int n = p->n, which = 0;
  mjtNum most = 0, *K = p->next;
  for (int i = 0; i < n; i++) {
    makeRow(p, K + i * n, i);
    mju_sub(p->row, K + i * n, p->K + i * n, n);
    mjtNum size = mju_dot(p->row, p->row, n);
    which = size > most ? i : which;
    most = mju_max(size, most);
  }
  mju_sub(p->row, K + which * n, p->K + which * n, n);
  int j = 0;
  for (int i = 0; i < n; i++) {
    j = mju_abs(p->row[i]) > mju_abs(p->row[j]) ? i : j;
  }
  for (int i = 0; i < n; i++) {
    p->column[i] = most > 0 ? (K[i * n + j] - p->K[i * n + j]) / p->row[j] : 0;
  }
  p->next = p->K;
  p->K = K;
  return most == 0 || update(p) || mjgp_invert(p);
}


void mjgp_direct(mjgpPath* p) {
  mjgpStep* s = p->s;
  const mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  int n = p->n, nv = group->nv;
  mjtNum h = s->m->opt.timestep;

  // friction, a, rows, trial torque and load
  for (int i = 0; i < n; i++) {
    p->effect[i] = mjgp_rightSide(p, i);
  }
  mjgi_mulMatVec(p->dt, p->inverse, p->effect, n);
  for (int i = 0; i < n; i++) {
    p->dt[i] *= p->unit[i];
  }
  mju_copy(p->da, p->goal->G, nv);
  mjgp_addGears(group, p->da, p->dt);
  mju_scl(p->da, p->da, -1, nv);
  mjgp_solveHessian(s, p->da);
  mjgp_mulJacobian(group, p->djar, p->da);
  mjgp_accelerationsOf(s, p->dacc, p->da);
  for (int i = 0; i < n; i++) {
    int joint = group->joint[i], e = group->extra[i];
    mjtNum a = p->dacc[i] + p->goal->free[i] / h;
    mjtNum du = -g->in.inertia[joint] * a - (e >= 0 ? p->dacc[n + e] : 0);
    p->dlambda[i] =
        mjgi_lawLoad(g->in.gamma_u[joint], g->in.gamma_v[joint], du, p->dt[i]) + p->goal->load[i];
    p->dtrial[i] = p->dt[i] + (h * a - g->in.compliance[joint] * p->dt[i]) / (h * p->c[i]);
  }
}

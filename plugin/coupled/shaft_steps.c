#include "coupled/shaft_steps.h"

#include <math.h>
#include <string.h>

#include "coupled/line_search.h"
#include "friction/shafts.h"
#include "solvers/dense.h"

// linearizations; most steps take one to four. In two metrics those of stiff servos take many, and other methods longer
#define mjgpROUNDS 20
#define mjgpMANY   100

// of them, where two metrics are taken for one; and of how many dofs dense equations are so cheap that they are not
#define mjgpROUGH 5
#define mjgpSMALL 20

// trials of a line search, and what of the slope at its start it leaves
#define mjgpTRIALS 20
#define mjgpLEFT   0.1

// share of a step at which the torque of a shaft jumps where the gradient would be zero: no tangent leads there, others do
#define mjgpJUMP 1e-7

// of the largest force: rows whose states have changed at their edges
#define mjgpMISSING 1e-6

typedef struct mjgpShafts_ {
  mjgpStep* s;
  mjgpShaft* shaft;  // (n)
  mjtNum error;      // largest difference from their tangents
  mjtNum slope;      // of the gradient along the step
  mjtNum* step;      //                                                                   (nv)
  mjtNum* row;       // change of J a - aref by it                                        (nefc)
  mjtNum* acc;       // and of the joints' accelerations                                  (ld)
  mjtNum* from;      // J a - aref before it                                              (nefc)
  mjtNum* from_acc;  //                                                                   (ld)
  mjtNum* K;         // equations in two metrics                                          (nv x nv)
  int* pivot;        //                                                                   (nv)
  int rough;         // in two metrics, of which one can stand for both
} mjgpShafts;


// friction of joint i at the acceleration of its shaft, and at s->acc where motors of others are in its S
static void setFriction(const mjgpShafts* p, int i, mjtNum share) {
  const mjgpStep* s = p->s;
  int e = s->group->extra[i];
  s->t[i] = p->shaft[i].t;
  if (e >= 0) {
    s->t[i] -= p->from_acc[s->n + e] + share * p->acc[s->n + e];
  }
}


// forces of constraints and shafts after a share of the step, and the slope of the gradient along it: linear + share
// quadratic is what does not depend on them
static void moveAlong(mjgpShafts* p, mjtNum share, mjtNum linear, mjtNum quadratic) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  mjtNum slope = linear + share * quadratic;
  for (int i = 0; i < group->nefc; i++) {
    group->jar[i] = p->from[i] + share * p->row[i];
  }
  mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);
  for (int i = 0; i < group->nefc; i++) {
    slope -= group->f[i] * p->row[i];
  }
  p->error = 0;
  for (int i = 0; i < s->n; i++) {
    mjtNum error = mjgp_moveShaft(p->shaft + i, p->from_acc[i] + share * p->acc[i]);
    p->error = error <= p->error ? p->error : error;
    setFriction(p, i, share);
    slope += s->t[i] * p->step[group->E_dof[group->E_adr[i]]];
  }
  p->slope = slope;
}


// step = - (H + E' D E)^-1 gradient; in two metrics with the diagonal of R for E
static int solveSymmetric(mjgpShafts* p) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  mjgp_assemble(group);
  for (int i = 0; i < s->n; i++) {
    int dof = group->E_dof[group->E_adr[i]];
    mjtNum row = s->rows ? s->rows[dof * group->ld + i] : 1;
    group->U[group->U_adr[dof] + (size_t)dof] += p->shaft[i].slope * row;
  }
  int regular = mjgp_eliminate(group);
  if (regular) {
    mjgp_solveLower(group, p->step);
    mjgp_solveUpper(group, p->step);
  }
  return regular;
}


// step = - (H + E' D R)^-1 gradient, where S has rows with these
static int solveGeneral(mjgpShafts* p) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int nv = group->nv, ld = mjgi_simdEnd(nv);
  mjgp_assemble(group);
  mju_zero(p->K, nv * ld);
  for (int i = 0; i < nv; i++) {
    const mjtNum* row = group->U + group->U_adr[i];
    for (int j = i; j <= group->last[i]; j++) {
      p->K[i * ld + j] = p->K[j * ld + i] = row[j];
    }
  }
  for (int i = 0; i < s->n; i++) {
    int dof = group->E_dof[group->E_adr[i]], e = group->extra[i];
    mjtNum *row = p->K + dof * ld, slope = p->shaft[i].slope;
    if (!s->rows) {
      row[dof] += slope;
    }
    for (int k = 0; k < nv && s->rows && slope != 0; k++) {
      row[k] += slope * s->rows[k * group->ld + i];
    }
    for (int k = 0; k < nv && e >= 0; k++) {
      row[k] -= s->rows ? s->rows[k * group->ld + s->n + e] : group->extra_row[e][group->dof[k]];
    }
  }
  return mjgi_lu(p->K, p->step, p->pivot, nv);
}


// where the whole step goes too far, to where the gradient has little of it left, by regula falsi; in one metric it is
// that of a convex function. begin: what it has at the start. Returns the share of the step
static mjtNum shorten(mjgpShafts* p, mjtNum begin, mjtNum linear, mjtNum quadratic) {
  mjgpBracket b = {.high = 1, .at_low = begin, .at_high = p->slope};
  mjtNum share = 1;
  for (int k = 0; k < mjgpTRIALS && mju_abs(p->slope) > -mjgpLEFT * begin; k++) {
    mjtNum next = b.low - b.at_low * (b.high - b.low) / (b.at_high - b.at_low);
    if (!(next > b.low && next < b.high)) {
      break;
    }
    share = next;
    moveAlong(p, share, linear, quadratic);
    mjgp_narrow(&b, share, p->slope);
  }
  return share;
}


// are forces those of the linearization, at the states in s->state: 2 if exactly, 1 if what is missing is so small that
// the gradient may be zero
static int settles(const mjgpShafts* p) {
  const mjgpStep* s = p->s;
  const mjgpGroup* group = s->group;
  int exact = 1;
  mjtNum most = 0, missing = 0;
  for (int i = 0; i < group->nefc; i++) {
    int now = group->state[i], then = s->state[i];
    exact &= now == then && now != mjCNSTRSTATE_CONE;
    most = mju_max(most, mju_abs(group->f[i]));
    if (now != then && now + then == mjCNSTRSTATE_SATISFIED + mjCNSTRSTATE_QUADRATIC) {
      missing = mju_max(missing, mju_abs(group->jar[i]) * group->D[i]);
    }
  }
  int close = p->error <= mjgpTANGENT;
  return exact ? 2 * close : close && missing <= mjgpMISSING * most;
}


// is the gradient nothing but rounding
static int isZero(const mjgpStep* s) {
  for (int i = 0; i < s->group->nv; i++) {
    if (mju_abs(s->gradient[i]) > mjgpZERO * s->rounding[i]) {
      return 0;
    }
  }
  return 1;
}


// results in s->g
static void store(mjgpShafts* p) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  mjtNum fastest = 0;
  for (int k = 0; k < group->nv; k++) {
    mjtNum inertia = group->M[group->M_adr[k]];
    fastest = mju_max(fastest, mju_abs(group->force[k]) / inertia + mju_abs(s->a[k]));
  }
  for (int i = 0; i < s->n; i++) {
    mjgp_storeShaft(s->g, group->joint[i], p->shaft + i, fastest);
    s->g->out.t[group->joint[i]] = s->t[i];
  }
  s->g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                                  .iterations = s->newton_steps,
                                  .factorizations = s->newton_steps,
                                  .residual = p->error,
                                  .sigma_max = -1};
}


static int iterate(mjgpShafts* p) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int nv = group->nv, count = s->n + group->nextra, settled = 0, near = 0;
  for (int k = 0; k < (p->K ? mjgpMANY : mjgpROUNDS); k++) {
    mjgp_gradient(group, s->gradient, near ? s->rounding : NULL, s->a, s->t);
    if (near && isZero(s)) {
      return 1;
    }

    // in two metrics states and pieces are looked for in one, which is cheaper
    int exact = !p->rough || settled || k >= mjgpROUGH;
    s->newton_steps++;
    mju_scl(p->step, s->gradient, -1, nv);
    if (!exact && !solveSymmetric(p)) {
      p->rough = 0;
      exact = 1;
    }
    if (exact && !(p->K ? solveGeneral : solveSymmetric)(p)) {
      return 0;
    }
    memcpy(s->state, group->state, sizeof(int) * (size_t)group->nefc);
    mju_copy(p->from, group->jar, group->nefc);
    mju_copy(p->from_acc, s->acc, count);
    mjgp_mulJacobian(group, p->row, p->step);
    mjgp_accelerationsOf(s, p->acc, p->step);

    // what of the slope along the step does not depend on states and pieces
    mjtNum begin = mju_dot(p->step, s->gradient, nv), linear = begin, quadratic = 0;
    for (int i = 0; i < group->nefc; i++) {
      linear += group->f[i] * p->row[i];
    }
    for (int i = 0; i < s->n; i++) {
      linear -= s->t[i] * p->step[group->E_dof[group->E_adr[i]]];
    }
    mjgp_mulInertia(group, s->next, p->step);
    quadratic = mju_dot(p->step, s->next, nv);
    moveAlong(p, 1, linear, quadratic);
    settled = settles(p);
    near = exact ? settled : 0;
    mjtNum share = 1;
    if (near < 2 && begin < 0 && p->slope > -mjgpLEFT * begin) {
      share = shorten(p, begin, linear, quadratic);
    }
    mju_addToScl(s->a, p->step, share, nv);
    if (near == 2) {
      return 1;
    }
    if (share < mjgpJUMP) {
      return 0;
    }
    mju_addScl(s->acc, p->from_acc, p->acc, share, count);
  }
  return 0;
}


int mjgp_shaftSteps(mjgpStep* s) {
  mjgpGroup* group = s->group;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv), nefc = (size_t)group->nefc;
  size_t ld = (size_t)group->ld, nK = s->rows || group->nextra ? nv * nv : 0;
  if (s->engine || mjgp_isRough(group) || !mjgp_areShafts(s->g, group->joint, s->n)) {
    return 0;
  }
  mj_markStack(s->d);
  mjtNum* number = mj_stackAllocNum(s->d, nv + 2 * nefc + 2 * ld + nK);
  mjgpShafts shafts = {.s = s, .step = number, .row = number + nv}, *p = &shafts;
  p->from = p->row + nefc;
  p->acc = p->from + nefc;
  p->from_acc = p->acc + ld;
  mju_zero(p->step, (int)nv);
  mju_zero(p->acc, (int)ld);
  p->shaft = mj_stackAllocByte(s->d, sizeof(mjgpShaft) * n, _Alignof(mjgpShaft));
  if (nK) {
    p->K = p->from_acc + ld;
    p->pivot = mj_stackAllocInt(s->d, nv);
  }
  mjgp_accelerations(s);
  mju_copy(p->from_acc, s->acc, s->n + group->nextra);
  for (int i = 0; i < s->n; i++) {
    mjgp_makeShaft(p->shaft + i, s->g, s->m, group->joint[i], s->acc[i]);
    setFriction(p, i, 0);
  }
  p->rough = s->rows && !group->nextra && group->nv > mjgpSMALL;
  for (int i = 0; i < s->n && p->rough; i++) {
    p->rough = s->rows[group->E_dof[group->E_adr[i]] * group->ld + i] > 0;
  }
  int solved = iterate(p);
  if (solved) {
    store(p);
  }
  mj_freeStack(s->d);
  return solved;
}

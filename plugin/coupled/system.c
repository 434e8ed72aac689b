#include "coupled/system.h"

#include <string.h>

#include "friction/simd.h"
#include "friction/tolerances.h"
#include "solvers/dense.h"


// dof of a gear that acts on one joint, -1: a tendon
static int dofOf(const mjgpStep* s, int i) {
  const mjgpGroup* group = s->group;
  return s->g->config->own[group->joint[i]] >= 0 ? group->E_dof[group->E_adr[i]] : -1;
}


void mjgp_makeSystem(mjgpSystem* sys, mjgpStep* s, const mjgpPiece* piece, int flg_general) {
  mjgpGroup* group = s->group;
  mjData* d = s->d;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv), ld = (size_t)group->ld;
  int friction = flg_general || group->nextra, forces = s->rows != NULL;
  for (int i = 0; i < s->n; i++) {
    friction |= dofOf(s, i) < 0 || mjgp_isParallel(piece + i, s->g) || mjgp_isBranch(piece + i);
  }
  friction |= forces && !mjgp_hasForces(s);
  *sys = (mjgpSystem){.s = s, .sign = 1};
  sys->unknown = friction ? mjgpUNKNOWN_FRICTION : forces ? mjgpUNKNOWN_FORCES : mjgpUNKNOWN_MOTION;
  sys->x = mj_stackAllocNum(d, nv);
  mju_zero(sys->x, (int)nv);
  if (sys->unknown == mjgpUNKNOWN_FORCES) {
    mjgp_makeForces(&sys->forces, s);
  }
  if (!friction) {
    return;
  }
  size_t most = n + mjgpCHANGES, lanes = (size_t)mjgi_simdEnd((int)most);
  sys->G = mj_stackAllocNum(d, lanes * most + 7 * lanes + ld + mjgpCHANGES);
  sys->y = sys->G + lanes * most;
  sys->scale = sys->y + lanes;
  sys->by = sys->scale + lanes;
  sys->scratch = sys->by + lanes;
  sys->free = sys->scratch + 4 * lanes;
  sys->pivot = mj_stackAllocInt(d, most + mjgpCHANGES + (size_t)group->nefc);
  sys->row = sys->pivot + most;
  sys->state = sys->row + mjgpCHANGES;
  sys->column = mj_stackAllocNum(d, mjgpCHANGES * (nv + 2 * ld + mjgpCHANGES));
  sys->moves = sys->column + mjgpCHANGES * nv;
  sys->moved = sys->moves + mjgpCHANGES * ld;
  sys->crosswise = sys->moved + mjgpCHANGES * ld;
  if (flg_general) {
    sys->K = mj_stackAllocNum(d, most * most);
    sys->line = mj_stackAllocByte(d, sizeof(mjgpPiece) * n, _Alignof(mjgpPiece));
  }
}


//---------------------------------- in the place of H ----------------------------------------------

// dof k has a known change: its column moves to the right side by that
static void hold(mjgpSystem* sys, int k, mjtNum change) {
  const mjgpGroup* group = sys->s->group;
  mjtNum *x = sys->x, *row = group->U + group->U_adr[k];
  for (int i = group->first[k]; i < k; i++) {
    if (group->last[i] >= k) {
      mjtNum* entry = group->U + group->U_adr[i] + k;
      x[i] -= *entry * change;
      *entry = 0;
    }
  }

  // what stands before the diagonal in its lane is anything
  int begin = mjgi_simdBegin(k), end = mjgi_simdEnd(group->last[k] + 1);
  for (int j = begin; j < k; j++) {
    row[j] = 0;
  }
  mjgp_addSimd(x, row, -change, begin, end);
  mju_zero(row + begin, end - begin);
  row[k] = 1;
  x[k] = change;
}


static int solveInPlace(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient) {
  mjgpStep* s = sys->s;
  mjgpGroup* group = s->group;
  mjgp_assemble(group);
  mju_scl(sys->x, gradient, -1, group->nv);
  for (int i = 0; i < s->n; i++) {
    int k = dofOf(s, i);
    sys->x[k] -= piece[i].held ? 0 : piece[i].t;
    group->U[group->U_adr[k] + (size_t)k] += piece[i].held ? 0 : piece[i].slope;
  }
  for (int i = 0; i < s->n; i++) {
    if (piece[i].held) {
      hold(sys, dofOf(s, i), piece[i].target - s->acc[i]);
    }
  }
  if (!mjgp_eliminate(group)) {
    return 0;
  }
  mjgp_solveFactored(group, sys->x);
  return 1;
}


//---------------------------------- friction as unknown --------------------------------------------

// effect of all unknowns on the acceleration r of gears, rows of rotor inertia, or behind
// them of rows that changed; += factor times that                           (n + nchange)
static void addEffects(const mjgpSystem* sys, mjtNum* row, int r, mjtNum factor) {
  const mjgpStep* s = sys->s;
  int n = s->n, ld = s->group->ld, c = r - n - s->group->nextra;
  const mjtNum* own = c < 0 ? s->W + r * ld : sys->moved + c * ld;
  mjgi_addScaled(row, own, factor, n);
  for (int j = 0; j < sys->nchange; j++) {
    mjtNum other = c < 0 ? sys->moves[j * ld + r] : sys->crosswise[c * mjgpCHANGES + j];
    row[n + j] += factor * other;
  }
}


// what a row that changed adds to H by its square: what it has now and had not, or the
// other way
static mjtNum stiffness(const mjgpSystem* sys, int c) {
  const mjgpGroup* group = sys->s->group;
  int i = sys->row[c], now = group->state[i] == mjCNSTRSTATE_QUADRATIC;
  return (now - (sys->state[i] == mjCNSTRSTATE_QUADRATIC)) * group->D[i];
}


// Unknowns and equations are scaled by what a unit of them moves of their own
static mjtNum ownEffect(const mjgpSystem* sys, int i) {
  int c = i - sys->s->n;
  mjtNum own = c < 0 ? sys->s->W[i * sys->s->group->ld + i] : sys->crosswise[c * mjgpCHANGES + c];
  return mju_max(mju_abs(own), mjMINVAL);
}


// equation of unknown i: of a gear on its line, or of a row that changed    (n + nchange)
static void makeRow(mjgpSystem* sys, const mjgpPiece* piece, int i, mjtNum* row) {
  const mjgpStep* s = sys->s;
  int n = s->n, size = n + sys->nchange, c = i - n, held = c < 0 && piece[i].held;
  mjtNum slope = held ? -1 : c < 0 ? piece[i].slope : stiffness(sys, c);
  sys->by[i] = 1 / (sys->scale[i] * (!held + mju_abs(slope) * ownEffect(sys, i)));
  mju_zero(row, size);
  addEffects(sys, row, c < 0 ? i : c + n + s->group->nextra, slope);
  if (!held) {
    row[i] += c < 0 ? piece[i].weight : 1;
    if (c < 0 && s->group->extra[i] >= 0 && piece[i].rate != 0) {
      addEffects(sys, row, n + s->group->extra[i], -piece[i].rate);
    }
  }
  for (int j = 0; j < size; j++) {
    row[j] *= sys->by[i] * sys->scale[j];
  }
}


static int invertUnknowns(mjgpSystem* sys, const mjgpPiece* piece) {
  int n = sys->s->n, size = n + mjgpCHANGES;
  mju_zero(sys->G, size * size);
  for (int i = 0; i < size; i++) {
    sys->G[i * size + i] = sys->by[i] = sys->scale[i] = 1;
  }
  for (int i = 0; i < n; i++) {
    sys->scale[i] = 1 / mju_sqrt(ownEffect(sys, i));
  }
  for (int i = 0; i < n; i++) {
    makeRow(sys, piece, i, sys->G + i * size);
  }
  mju_copy(sys->K, sys->G, size * size);
  memcpy(sys->line, piece, sizeof(mjgpPiece) * (size_t)n);
  sys->nupdate = 0;
  sys->sign = mjgi_inverse(sys->K, sys->pivot, size);
  return sys->sign != 0;
}


// factors of the matrix of the unknowns
static int factorUnknowns(mjgpSystem* sys, const mjgpPiece* piece) {
  sys->inverted = sys->K && !mjgp_hasSliding(sys->s->group);
  if (sys->inverted) {
    return invertUnknowns(sys, piece);
  }
  int size = sys->s->n + sys->nchange, lanes = mjgi_simdEnd(size);
  for (int i = 0; i < size; i++) {
    sys->scale[i] = 1 / mju_sqrt(ownEffect(sys, i));
  }
  for (int i = 0; i < size; i++) {
    makeRow(sys, piece, i, sys->G + i * lanes);
  }
  mju_zero(sys->y, lanes);
  if (!mjgi_lu(sys->G, sys->y, sys->pivot, size)) {
    return 0;
  }

  // pivots are stored inverted
  mjtNum most = 0;
  sys->sign = 1;
  for (int i = 0; i < size; i++) {
    mjtNum pivot = sys->G[i * lanes + i];
    most = mju_max(most, mju_abs(pivot));
    sys->sign = (pivot < 0) != (sys->pivot[i] != i) ? -sys->sign : sys->sign;
  }
  return !sys->nchange || most < mjgpDIGITS;
}


// K after row i of the matrix, or column i, has grown by d (Sherman, Morrison); 0 if that
// leaves too few digits
static int updateInverse(mjgpSystem* sys, int i, const mjtNum* d, int flg_column) {
  int size = sys->s->n + mjgpCHANGES, lanes = mjgi_simdEnd(size);
  mjtNum *K = sys->K, *w = sys->scratch, *own = w + lanes;
  if (flg_column) {
    mju_mulMatVec(w, K, d, size, size);
    mju_copy(own, K + i * size, size);
  } else {
    mju_mulMatTVec(own, K, d, size, size);
    for (int r = 0; r < size; r++) {
      w[r] = K[r * size + i];
    }
  }
  mjtNum growth = 1 + (flg_column ? w[i] : own[i]);
  if (!(mju_abs(growth) * mjgpDIGITS > 1) || sys->nupdate++ >= mjgpUPDATES) {
    return 0;
  }
  for (int r = 0; r < size; r++) {
    mjgi_addScaled(K + r * size, own, -w[r] / growth, size);
  }
  sys->sign = growth < 0 ? -sys->sign : sys->sign;
  return 1;
}


// K with the lines of the pieces and the states of the rows, of which those from a number
// on are new
static int updateUnknowns(mjgpSystem* sys, const mjgpPiece* piece, int from) {
  int n = sys->s->n, size = n + mjgpCHANGES, lanes = mjgi_simdEnd(size);
  mjtNum *row = sys->scratch + 2 * lanes, *d = row + lanes;
  for (int i = n + from; i < n + sys->nchange; i++) {
    // the force of a new row, before its equation
    sys->scale[i] = 1 / mju_sqrt(ownEffect(sys, i));
    mju_zero(d, size);
    for (int r = 0; r < i; r++) {
      makeRow(sys, sys->line, r, row);
      d[r] = row[i];
      sys->G[r * size + i] = row[i];
    }
    if (!updateInverse(sys, i, d, 1)) {
      return 0;
    }
  }
  for (int i = 0; i < n + sys->nchange; i++) {
    const mjgpPiece *now = piece + i, *then = sys->line + i;
    if (i < n && now->held == then->held && now->slope == then->slope && now->rate == then->rate &&
        now->weight == then->weight) {
      continue;
    }
    mju_zero(row, size);
    makeRow(sys, piece, i, row);
    mju_sub(d, row, sys->G + i * size, size);
    if (i < n || !mju_isZero(d, size)) {
      mju_copy(sys->G + i * size, row, size);
      if (!updateInverse(sys, i, d, 0)) {
        return 0;
      }
    }
  }
  memcpy(sys->line, piece, sizeof(mjgpPiece) * (size_t)n);
  return 1;
}


static int factor(mjgpSystem* sys, const mjgpPiece* piece) {
  mjgpStep* s = sys->s;
  sys->nchange = 0;
  sys->factored = mjgp_makeDelassus(s) && factorUnknowns(sys, piece);
  memcpy(sys->state, s->group->state, sizeof(int) * (size_t)s->group->nefc);
  return sys->factored;
}


// a row among those that changed, with its effects; 0 if there is no room
static int addChange(mjgpSystem* sys, int i) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  int nv = mjgi_simdEnd(group->nv), ld = group->ld, c = sys->nchange;
  for (int j = 0; j < c; j++) {
    if (sys->row[j] == i) {
      return 1;
    }
  }
  if (c == mjgpCHANGES) {
    return 0;
  }
  mjtNum *column = sys->column + c * nv, *moves = sys->moves + c * ld, *moved = sys->moved + c * ld;
  mju_zero(column, nv);
  for (int k = group->J_adr[i]; k < group->J_adr[i + 1]; k++) {
    *(mjgiSimd*)(column + group->J_lane[k]) = *(const mjgiSimd*)(group->J + mjgiSIMD * k);
  }
  mjgp_solveLower(group, column);
  mju_zero(moves, ld);
  mju_zero(moved, ld);
  mjgp_sumRows(moves, NULL, s->left, column, 1, group->nv, ld);
  mjgp_sumRows(moved, NULL, s->right, column, 1, group->nv, ld);
  for (int j = 0; j <= c; j++) {
    sys->crosswise[c * mjgpCHANGES + j] = sys->crosswise[j * mjgpCHANGES + c] =
        mju_dot(column, sys->column + j * nv, group->nv);
  }
  sys->row[sys->nchange++] = i;
  return 1;
}


// the factors of H that are there, with the rows that changed; 0 if they are too many, or
// leave too few digits
static int change(mjgpSystem* sys, const mjgpPiece* piece) {
  const mjgpGroup* group = sys->s->group;
  int from = sys->nchange;
  for (int i = 0; i < group->nefc; i++) {
    int now = group->state[i], then = sys->state[i], acts = now == mjCNSTRSTATE_QUADRATIC;
    if (now == mjCNSTRSTATE_CONE || then == mjCNSTRSTATE_CONE ||
        (acts != (then == mjCNSTRSTATE_QUADRATIC) && !addChange(sys, i))) {
      return 0;
    }
  }
  return sys->inverted ? updateUnknowns(sys, piece, from) : factorUnknowns(sys, piece);
}


int mjgp_updateSystem(mjgpSystem* sys, const mjgpPiece* piece) {
  return (sys->factored && change(sys, piece)) || factor(sys, piece);
}


static void solveUnknowns(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient,
                          mjtNum* t) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  int n = s->n, nv = mjgi_simdEnd(group->nv), size = n + sys->nchange;
  mjtNum *x = sys->x, *y = sys->y, *rows = sys->free + group->ld;
  mju_copy(x, gradient, group->nv);
  mjgp_solveLower(group, x);
  mju_zero(sys->free, group->ld);
  mjgp_sumRows(sys->free, NULL, s->left, x, -1, group->nv, group->ld);
  for (int c = 0; c < sys->nchange; c++) {
    rows[c] = -mju_dot(sys->column + c * nv, x, group->nv);
  }
  for (int i = 0; i < size; i++) {
    int e = i < n ? group->extra[i] : -1, held = i < n && piece[i].held;
    y[i] = held    ? piece[i].target - s->acc[i] - sys->free[i]
           : i < n ? piece[i].t + piece[i].slope * sys->free[i]
                   : stiffness(sys, i - n) * rows[i - n];
    y[i] -= e >= 0 && !held ? piece[i].rate * sys->free[n + e] : 0;
    y[i] *= sys->by[i];
  }
  if (sys->inverted) {
    int all = n + mjgpCHANGES;
    mju_copy(sys->scratch, y, size);
    mju_zero(sys->scratch + size, all - size);
    mju_mulMatVec(y, sys->K, sys->scratch, all, all);
  } else {
    mjgi_luSolve(y, sys->G, sys->pivot, size);
  }
  for (int i = 0; i < size; i++) {
    y[i] *= sys->scale[i];
  }
  mju_copy(t, y, n);
  for (int k = 0; k < group->nv; k++) {
    x[k] += mju_dot(s->right + k * group->ld, y, n);
  }
  for (int c = 0; c < sys->nchange; c++) {
    mju_addToScl(x, sys->column + c * nv, y[n + c], group->nv);
  }
  mjgp_solveUpper(group, x);
  mju_scl(x, x, -1, group->nv);
}


//---------------------------------- step ----------------------------------------------------------

int mjgp_solveSystem(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* t) {
  if (sys->unknown == mjgpUNKNOWN_FORCES) {
    if (flg_factor && !mjgp_factorForces(&sys->forces, piece)) {
      return 0;
    }
    mjgp_solveForces(&sys->forces, piece, gradient, da);
    return 1;
  }
  if (sys->unknown == mjgpUNKNOWN_MOTION) {
    if (!solveInPlace(sys, piece, gradient)) {
      return 0;
    }
  } else {
    if ((flg_factor || !sys->factored) && !mjgp_updateSystem(sys, piece)) {
      return 0;
    }
    solveUnknowns(sys, piece, gradient, t);
  }
  mju_copy(da, sys->x, sys->s->group->nv);
  return 1;
}


void mjgp_stepAccelerations(const mjgpSystem* sys) {
  mjgpStep* s = sys->s;
  if (sys->unknown != mjgpUNKNOWN_FORCES) {
    mjgp_accelerations(s);
    return;
  }
  for (int i = 0; i < s->n; i++) {
    s->acc[i] += sys->forces.dw[s->group->E_dof[s->group->E_adr[i]]];
  }
}

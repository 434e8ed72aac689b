#include "solver/system.h"

#include "gear/tolerances.h"
#include "model/simd.h"
#include "solvers/dense.h"


void mjgp_makeSystem(mjgpSystem* sys, mjgpStep* s) {
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(s->group->nv), ld = (size_t)s->group->ld;
  size_t lanes = (size_t)mjgi_simdEnd((int)n);
  *sys = (mjgpSystem){.s = s, .sign = 1};
  sys->x = mj_stackAllocNum(s->d, nv + lanes * n + 3 * lanes + ld);
  mju_zero(sys->x, (int)nv);
  sys->G = sys->x + nv;
  sys->y = sys->G + lanes * n;
  sys->scale = sys->y + lanes;
  sys->by = sys->scale + lanes;
  sys->free = sys->by + lanes;
  sys->pivot = mj_stackAllocInt(s->d, n);
}


// Factor the matrix of friction on the lines of the gears, scaled by the effect of each friction
// on its own acceleration.
static int factorUnknowns(mjgpSystem* sys, const mjgpPiece* piece) {
  const mjgpStep* s = sys->s;
  int n = s->n, ld = s->group->ld, lanes = mjgi_simdEnd(n);
  for (int i = 0; i < n; i++) {
    sys->scale[i] = 1 / mju_sqrt(mjMAX(mju_abs(mjgp_delassus(s, i, i)), mjMINVAL));
  }
  for (int i = 0; i < n; i++) {
    int e = s->group->extra[i], held = piece[i].held;
    mjtNum *row = sys->G + i * lanes, own = 1 / (sys->scale[i] * sys->scale[i]);
    mjtNum slope = held ? -1 : piece[i].slope, rate = held || e < 0 ? 0 : piece[i].rate;
    mjtNum by = sys->by[i] = 1 / (sys->scale[i] * (!held + mju_abs(slope) * own));
    const mjtNum *W = s->W + i * ld, *taken = s->W + (n + (e < 0 ? 0 : e)) * ld;
    for (int j = 0; j < n; j++) {
      row[j] = by * slope * W[j] * sys->scale[j];
    }
    for (int j = 0; j < n && rate != 0; j++) {
      row[j] -= by * rate * taken[j] * sys->scale[j];
    }
    row[i] += held ? 0 : by * sys->scale[i] * piece[i].weight;
  }
  mju_zero(sys->y, lanes);
  if (!mjgi_lu(sys->G, sys->y, sys->pivot, n)) {
    return 0;
  }
  sys->sign = 1;
  for (int i = 0; i < n; i++) {
    int negative = sys->G[i * lanes + i] < 0;
    sys->sign = negative != (sys->pivot[i] != i) ? -sys->sign : sys->sign;
  }
  return 1;
}


int mjgp_updateSystem(mjgpSystem* sys, const mjgpPiece* piece) {
  sys->factored = mjgp_makeDelassus(sys->s) && factorUnknowns(sys, piece);
  return sys->factored;
}


int mjgp_solveSystem(mjgpSystem* sys, const mjgpPiece* piece, const mjtNum* gradient,
                     int flg_factor, mjtNum* da, mjtNum* t) {
  const mjgpStep* s = sys->s;
  const mjgpGroup* group = s->group;
  int n = s->n;
  mjtNum *x = sys->x, *y = sys->y;
  if ((flg_factor || !sys->factored) && !mjgp_updateSystem(sys, piece)) {
    return 0;
  }
  mju_copy(x, gradient, group->nv);
  mjgp_solveLower(group, x);
  mju_zero(sys->free, group->ld);
  mjgp_sumRows(sys->free, NULL, s->left, x, -1, group->nv, group->ld);
  for (int i = 0; i < n; i++) {
    int e = group->extra[i], held = piece[i].held;
    y[i] = held ? piece[i].target - s->acc[i] - sys->free[i]
                : piece[i].t + piece[i].slope * sys->free[i];
    y[i] -= e >= 0 && !held ? piece[i].rate * sys->free[n + e] : 0;
    y[i] *= sys->by[i];
  }
  mjgi_luSolve(y, sys->G, sys->pivot, n);
  for (int i = 0; i < n; i++) {
    y[i] *= sys->scale[i];
  }
  mju_copy(t, y, n);
  for (int k = 0; k < group->nv; k++) {
    x[k] += mju_dot(s->right + k * group->ld, y, n);
  }
  mjgp_solveUpper(group, x);
  mju_scl(da, x, -1, group->nv);
  return 1;
}


//---------------------------------- branches ------------------------------------------------------

// Sweep once. Returns the number of pieces that change.
static int sweep(mjgpStep* s, mjtNum* t, mjtNum* acc) {
  int all = s->n + s->group->nextra, changes = 0;
  for (int i = 0; i < s->n; i++) {
    mjtNum before = t[i];
    changes += mjgp_proxPiece(s->piece + i, mjgp_delassus(s, i, i), mjgp_delassusTorque(s, i, i),
                              acc[i], mjgp_taken(s, acc, i), t + i);
    for (int r = 0; r < all; r++) {
      acc[r] -= mjgp_delassus(s, r, i) * (t[i] - before);
    }
  }
  return changes;
}


void mjgp_sweepGears(mjgpStep* s, mjtNum* t, mjtNum* acc) {
  for (int k = 0, calm = 0; k < mjgpSWEEPS && calm < mjgpCALM; k++) {
    calm = sweep(s, t, acc) ? 0 : calm + 1;
  }
}


int mjgp_toRestBranch(mjgpStep* s) {
  int count = 0;
  for (int i = 0; i < s->n; i++) {
    if (mjgp_mayBeElsewhere(s->piece + i)) {
      count +=
          mjgp_connectPiece(s->piece + i, mjgp_delassus(s, i, i), mjgp_delassusTorque(s, i, i));
    }
  }
  return count;
}

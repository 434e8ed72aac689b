#include "solvers/block.h"

#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/lane.h"


double mjgi_blockLoad(const mjgiBlock* b, int i, const double* t, double w) {
  if (!b->flg_P) {
    return b->alpha[i] * w - b->beta[i] * t[i];
  }
  double sum = 0;
  for (int j = 0; j < b->n; j++) {
    sum += b->P[i * b->n + j] * t[j];
  }
  return sum;
}


void mjgi_blockEvaluate(mjgiBlock* b) {
  int n = b->n;
  mjgi_mulMatVec(b->w, b->A, b->t, n);
  if (b->flg_P) {
    mjgi_mulMatVec(b->lambda, b->P, b->t, n);
    for (int i = 0; i < n; i++) {
      b->lambda[i] += b->phi[i];
    }
  } else {
    for (int i = 0; i < n; i++) {
      b->lambda[i] = b->phi[i] + b->alpha[i] * b->w[i] - b->beta[i] * b->t[i];
    }
  }

  // each joint answers as if it were alone
  b->residual = -1;
  b->merit = 0;
  for (int i = 0; i < n; i++) {
    double t = b->t[i], answer;
    b->piece[i] = mjgi_lawResolve(&answer, b->v[i] - b->w[i] + t, b->lambda[i] - b->p[i] * t,
                                  b->p[i], b->c[i], b->rp[i], b->rm[i]);
    b->gap[i] = t - answer;
    b->merit += b->gap[i] * b->gap[i];
  }
}


// bound factor of a slipping piece, times the sign with which the load enters t
static double factor(const mjgiBlock* b, int i, int piece) {
  int s = mjgi_pieceDirection(piece);
  return s * mjgi_pieceLoad(piece) * (s > 0 ? b->rp[i] : b->rm[i]);
}


// part of the bound that does not depend on the load, signed
static double offset(const mjgiBlock* b, int i, int piece) {
  return piece > 0 ? b->rp[i] * b->c[i] : -b->rm[i] * b->c[i];
}


// y = factor x
static inline void copyScaled(double* restrict y, const double* restrict x, double factor, int n) {
  int j = 0;
  for (; j + mjgiLANE <= n; j += mjgiLANE) {
    *(mjgiLane*)(y + j) = factor * *(const mjgiLane*)(x + j);
  }
  for (; j < n; j++) {
    y[j] = factor * x[j];
  }
}


double mjgi_blockRow(double* restrict row, const mjgiBlock* b, int i, int piece) {
  int n = b->n;

  // stuck: (A t)_i = v_i
  if (piece == mjgiSTUCK) {
    copyScaled(row, b->A + i * n, 1, n);
    return b->v[i];
  }

  // slips: t_i - f (P t)_i = f phi_i + offset
  double f = factor(b, i, piece);
  copyScaled(row, b->flg_P ? b->P + i * n : b->A + i * n, b->flg_P ? -f : -f * b->alpha[i], n);
  row[i] += 1 + f * b->beta[i];
  return f * b->phi[i] + offset(b, i, piece);
}


int mjgi_blockSolvePieces(mjgiBlock* b, const int* piece) {
  int ld = mjgi_laneEnd(b->n);
  for (int i = 0; i < b->n; i++) {
    b->x[i] = mjgi_blockRow(b->K + i * ld, b, i, piece[i]);
  }
  b->factorizations++;
  int* pivot = b->flg_unique ? NULL : b->pivot;
  if (!mjgi_lu(b->K, b->x, pivot, b->n)) {
    return 0;
  }
  for (int i = 0; i < b->n; i++) {
    b->t[i] = b->x[i];
    b->fixed[i] = piece[i];
  }
  return 1;
}


void mjgi_blockRefine(mjgiBlock* b) {
  for (int i = 0; i < b->n; i++) {
    int piece = b->fixed[i];
    b->x[i] = piece == mjgiSTUCK
                  ? b->v[i] - b->w[i]
                  : factor(b, i, piece) * b->lambda[i] + offset(b, i, piece) - b->t[i];
  }
  mjgi_luSolve(b->x, b->K, b->flg_unique ? NULL : b->pivot, b->n);
  for (int i = 0; i < b->n; i++) {
    b->t[i] += b->x[i];
  }
}


// error relative to size; no error is none, whatever the size
static double relative(double error, double size) {
  return error > 0 ? error / size : 0;
}


// residual of joint i if it is on the given piece
static double jointResidual(const mjgiBlock* b, int i, int piece, double enough) {
  // distance from the piece's equation and its two sides
  int n = b->n, s = mjgi_pieceDirection(piece);
  double t = b->t[i], v = b->v[i] - b->w[i];
  double bound =
      (s > 0 || (s == 0 && t > 0) ? b->rp[i] : b->rm[i]) * (fabs(b->lambda[i]) + b->c[i]);
  double error_v = s == 0 ? fabs(v) : -s * v;
  double error_t = s == 0 ? fabs(t) - bound : fabs(t - s * bound);

  // the terms of v+_i and lambda_i are at least as large as their sums and the diagonal
  double size_v = fabs(b->v[i]) + mjgi_max(fabs(b->w[i]), fabs(t));
  double size_t = fabs(t) + fabs(b->phi[i]) + fabs(b->p[i] * t) + b->c[i];
  double residual = mjgi_max(relative(error_v, size_v), relative(error_t, size_t));
  if (!(residual <= enough)) {
    double size_w = 0, size_p = 0;
    for (int j = 0; j < n; j++) {
      size_w += fabs(b->A[i * n + j] * b->t[j]);
      size_p += b->flg_P ? fabs(b->P[i * n + j] * b->t[j]) : 0;
    }
    size_p += fabs(b->alpha[i]) * size_w + fabs(b->beta[i] * t);
    size_v = fabs(b->v[i]) + size_w;
    size_t = fabs(t) + fabs(b->phi[i]) + size_p + b->c[i];
    residual = mjgi_max(relative(error_v, size_v), relative(error_t, size_t));
  }
  return isfinite(size_v) && isfinite(size_t) && isfinite(error_t) ? residual : INFINITY;
}


double mjgi_blockResidual(const mjgiBlock* b, const int* piece, double enough) {
  double worst = 0;
  for (int i = 0; i < b->n; i++) {
    worst = mjgi_max(worst, jointResidual(b, i, piece[i], enough));
  }
  return worst;
}


void mjgi_blockPolish(mjgiBlock* b, double enough) {
  for (int round = 0; round < 4; round++) {
    double size = 0;
    for (int i = 0; i < b->n; i++) {
      size += fabs(b->t[i]) + fabs(b->v[i]) + fabs(b->w[i]) + fabs(b->phi[i]) + b->c[i];
    }

    // joints without load or bound of their own have the rounding of others for friction; their
    // own law knows better
    int changed = 0;
    double residual = 0;
    for (int i = 0; i < b->n; i++) {
      double own = jointResidual(b, i, b->fixed[i], enough);
      residual = mjgi_max(residual, own);
      if (own > enough && fabs(b->gap[i]) <= 1e-10 * size) {
        b->t[i] -= b->gap[i];
        b->fixed[i] = b->fixed[i] == mjgiSTUCK ? mjgiSTUCK : b->piece[i];
        changed = 1;
      }
    }
    if (!changed) {
      b->residual = residual;
      return;
    }
    mjgi_blockEvaluate(b);
  }
}

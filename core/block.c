#include "block.h"

#include <math.h>
#include <string.h>

#include "dense.h"
#include "law.h"


double mjg_blockLoad(const mjgBlock* b, int i, const double* t, double w) {
  if (!b->flg_P) {
    return b->alpha[i] * w - b->beta[i] * t[i];
  }
  double sum = 0;
  for (int j = 0; j < b->n; j++) {
    sum += b->P[i * b->n + j] * t[j];
  }
  return sum;
}


void mjg_blockEvaluate(mjgBlock* b) {
  int n = b->n;
  mjg_mulMatVec(b->w, b->A, b->t, n);
  if (b->flg_P) {
    mjg_mulMatVec(b->lambda, b->P, b->t, n);
    for (int i = 0; i < n; i++) {
      b->lambda[i] += b->phi[i];
    }
  } else {
    for (int i = 0; i < n; i++) {
      b->lambda[i] = b->phi[i] + b->alpha[i] * b->w[i] - b->beta[i] * b->t[i];
    }
  }

  // each joint answers as if it were alone
  b->merit = 0;
  for (int i = 0; i < n; i++) {
    double t = b->t[i], answer;
    b->piece[i] = mjg_lawResolve(&answer, b->v[i] - b->w[i] + t, b->lambda[i] - b->p[i] * t,
                                 b->p[i], b->c[i], b->rp[i], b->rm[i]);
    b->gap[i] = t - answer;
    b->merit += b->gap[i] * b->gap[i];
  }
}


// bound factor of a slipping piece, times the sign with which the load enters t
static double factor(const mjgBlock* b, int i, int piece) {
  int s = mjg_pieceDirection(piece);
  return s * mjg_pieceLoad(piece) * (s > 0 ? b->rp[i] : b->rm[i]);
}


// part of the bound that does not depend on the load, signed
static double offset(const mjgBlock* b, int i, int piece) {
  return piece > 0 ? b->rp[i] * b->c[i] : -b->rm[i] * b->c[i];
}


void mjg_blockPieces(mjgBlock* b, const int* piece) {
  int n = b->n;
  for (int i = 0; i < n; i++) {
    double* row = b->K + i * n;

    // stuck: (A t)_i = v_i
    if (piece[i] == mjgSTUCK) {
      memcpy(row, b->A + i * n, (size_t)n * sizeof(double));
      b->x[i] = b->v[i];
      continue;
    }

    // slips: t_i - f (P t)_i = f phi_i + offset
    double f = factor(b, i, piece[i]);
    const double* from = b->flg_P ? b->P + i * n : b->A + i * n;
    double scale = b->flg_P ? -f : -f * b->alpha[i];
    for (int j = 0; j < n; j++) {
      row[j] = scale * from[j];
    }
    row[i] += 1 + f * b->beta[i];
    b->x[i] = f * b->phi[i] + offset(b, i, piece[i]);
  }
}


int mjg_blockSolvePieces(mjgBlock* b, const int* piece) {
  mjg_blockPieces(b, piece);
  b->factorizations++;
  if (!mjg_lu(b->K, b->pivot, b->n)) {
    return 0;
  }
  mjg_luSolve(b->x, b->K, b->pivot, b->n);
  memcpy(b->t, b->x, (size_t)b->n * sizeof(double));
  memmove(b->fixed, piece, (size_t)b->n * sizeof(int));
  return 1;
}


void mjg_blockRefine(mjgBlock* b) {
  for (int i = 0; i < b->n; i++) {
    int piece = b->fixed[i];
    b->x[i] = piece == mjgSTUCK
                  ? b->v[i] - b->w[i]
                  : factor(b, i, piece) * b->lambda[i] + offset(b, i, piece) - b->t[i];
  }
  mjg_luSolve(b->x, b->K, b->pivot, b->n);
  for (int i = 0; i < b->n; i++) {
    b->t[i] += b->x[i];
  }
}


double mjg_blockResidual(const mjgBlock* b, const int* piece) {
  int n = b->n;
  double worst = 0;
  for (int i = 0; i < n; i++) {
    // size of the terms of v+_i and lambda_i
    double size_w = 0, size_p = 0;
    for (int j = 0; j < n; j++) {
      size_w += fabs(b->A[i * n + j] * b->t[j]);
    }
    if (b->flg_P) {
      for (int j = 0; j < n; j++) {
        size_p += fabs(b->P[i * n + j] * b->t[j]);
      }
    } else {
      size_p = fabs(b->alpha[i]) * size_w + fabs(b->beta[i] * b->t[i]);
    }
    double size_v = fabs(b->v[i]) + size_w;
    double size_t = fabs(b->t[i]) + fabs(b->phi[i]) + size_p + b->c[i];

    // distance from the piece's equation and its two sides
    double v = b->v[i] - b->w[i];
    double error_v, error_t;
    if (piece[i] == mjgSTUCK) {
      double bound = (b->t[i] > 0 ? b->rp[i] : b->rm[i]) * (fabs(b->lambda[i]) + b->c[i]);
      error_v = fabs(v);
      error_t = fmax(0, fabs(b->t[i]) - bound);
    } else {
      int s = mjg_pieceDirection(piece[i]);
      double bound = (s > 0 ? b->rp[i] : b->rm[i]) * (fabs(b->lambda[i]) + b->c[i]);
      error_v = fmax(0, -s * v);
      error_t = fabs(b->t[i] - s * bound);
    }
    if (error_v > 0) {
      worst = fmax(worst, error_v / size_v);
    }
    if (error_t > 0) {
      worst = fmax(worst, error_t / size_t);
    }
    if (!isfinite(size_v) || !isfinite(size_t)) {
      return INFINITY;
    }
  }
  return worst;
}

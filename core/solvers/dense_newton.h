// The friction problem of a few joints (mjgear.h) in one header: its residual, semismooth
// Newton and exact one-joint steps on one dense block. It needs law/law.h and
// solvers/lanes.h and nothing else, and compiles like them as C, C++ and CUDA, in single or
// double precision (mjgREAL), in any scope. The core's solvers are built on the same
// lines: with mjgiDENSE defined, matrices are those of solvers/dense.h, else the plain
// loops below, which round in the same order.
//
// A block is a problem in units of its own, independent of the caller's: torques in
// 1/sqrt(A_ii), velocities in sqrt(A_ii). The diagonal of A is then 1, and the entries of
// A, P and [alpha] are pure numbers.
//
// To solve one problem of up to mjgiDENSE_MAX joints, give memory and call
// mjgi_denseNewton.
// Threads may share it (solvers/lanes.h).

#ifndef MJGEAR_DENSE_NEWTON_H_
#define MJGEAR_DENSE_NEWTON_H_

#ifndef MJGEAR_LAW_H_
#include "law/law.h"
#endif
#ifndef MJGEAR_LANES_H_
#include "solvers/lanes.h"
#endif

// unit round-off and smallest normal number of mjgREAL
#define mjgiSINGLE   (sizeof(mjgREAL) == 4)
#define mjgiEPSILON  ((mjgREAL)(mjgiSINGLE ? 1.1920928955078125e-07 : 2.2204460492503131e-16))
#define mjgiSMALLEST ((mjgREAL)(mjgiSINGLE ? 1.17549435e-38 : 2.2250738585072014e-308))

// type of accurate sums: long double where the machine has it
#ifndef __CUDACC__
#define mjgiWIDE_REAL long double
#else
#define mjgiWIDE_REAL double
#endif

// residual of sums of a few terms, in round-off units
#define mjgiROUNDING ((mjgREAL)64)

// refinements of t on its pieces; each gains three digits at condition 1e13
#define mjgiREFINE 4

// polish: residual, of the block's terms, that may be round-off; and its rounds, which move
// round-off to other joints, where it fades
#define mjgiNEAR   ((mjgREAL)(mjgiSINGLE ? 1e-4 : 1e-10))
#define mjgiPOLISH 4

// halvings of a Newton step; then a fallback costs less
#define mjgiHALVINGS 6

// mjgi_denseNewton: most joints; Newton steps of a round (6 suffice in nearly all of a million
// problems); rounds of Newton and one-joint sweeps; sweeps of the first round, doubled in each
// that follows
#define mjgiDENSE_MAX    64
#define mjgiDENSE_STEPS  20
#define mjgiDENSE_ROUNDS 8
#define mjgiDENSE_SWEEPS 4


//---------------------------------- matrices ------------------------------------------------------

#ifndef mjgiDENSE

// distance of the rows of K
#define mjgi_rowStride(n) (n)


// y = A x, summed in the order of solvers/dense.h
mjgFUNCTION void mjgi_mulMatVec(mjgREAL* y, const mjgREAL* A, const mjgREAL* x, int n) {
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    const mjgREAL* row = A + i * n;
    mjgREAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int j = 0;
    for (; j + 4 <= n; j += 4) {
      s0 += row[j] * x[j];
      s1 += row[j + 1] * x[j + 1];
      s2 += row[j + 2] * x[j + 2];
      s3 += row[j + 3] * x[j + 3];
    }
    mjgREAL sum = (s0 + s2) + (s1 + s3);
    for (; j < n; j++) {
      sum += row[j] * x[j];
    }
    y[i] = sum;
  }
  mjgSYNC();
}


// x = U^-1 x, with ones on the diagonal of U
mjgFUNCTION void mjgi_luBackward(mjgREAL* x, const mjgREAL* LU, int n) {
  for (int j = n - 1; j > 0; j--) {
    for (int i = mjgLANE; i < j; i += mjgLANES) {
      x[i] -= LU[i * n + j] * x[j];
    }
    mjgSYNC();
  }
}


// Factor A = P L U in place with partial pivoting (without if pivot is null), ones on the
// diagonal of U, and x := A^-1 x. Returns 0, and spoils x, if a pivot is round-off, else 1.
mjgFUNCTION int mjgi_lu(mjgREAL* A, mjgREAL* x, int* pivot, int n) {
  mjgREAL smallest = 0;
  for (int i = 0; i < n * n; i++) {
    smallest = mjgiABS(A[i]) > smallest ? mjgiABS(A[i]) : smallest;
  }
  smallest *= (mjgREAL)n * mjgiEPSILON;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; pivot && i < n; i++) {
      best = mjgiABS(A[i * n + k]) > mjgiABS(A[best * n + k]) ? i : best;
    }
    mjgREAL diagonal = A[best * n + k], side = x[best];
    mjgSYNC();
    if (!(mjgiABS(diagonal) > smallest)) {
      return 0;
    }
    mjgREAL inverse = 1 / diagonal;
    for (int j = mjgLANE; j < n; j += mjgLANES) {
      mjgREAL other = A[k * n + j];
      A[k * n + j] = A[best * n + j];
      A[best * n + j] = best != k ? other : A[best * n + j];
      A[k * n + j] = j == k ? inverse : j > k ? A[k * n + j] * inverse : A[k * n + j];
    }
    if (mjgiMINE(0)) {
      x[best] = x[k];
      x[k] = side * inverse;
      if (pivot) {
        pivot[k] = best;
      }
    }
    mjgSYNC();
    for (int i = k + 1; i < n; i++) {
      mjgREAL f = A[i * n + k];
      for (int j = k + 1 + mjgLANE; j < n; j += mjgLANES) {
        A[i * n + j] -= f * A[k * n + j];
      }
    }
    for (int i = k + 1 + mjgLANE; i < n; i += mjgLANES) {
      x[i] -= A[i * n + k] * x[k];
    }
    mjgSYNC();
  }
  mjgi_luBackward(x, A, n);
  return 1;
}


// x = (P L U)^-1 x for another right side
mjgFUNCTION void mjgi_luSolve(mjgREAL* x, const mjgREAL* LU, const int* pivot, int n) {
  for (int i = 0; pivot && mjgiMINE(0) && i < n; i++) {
    mjgREAL swap = x[i];
    x[i] = x[pivot[i]];
    x[pivot[i]] = swap;
  }
  mjgSYNC();
  for (int j = 0; j < n; j++) {
    mjgREAL xj = x[j] * LU[j * n + j];
    mjgSYNC();
    for (int i = j + mjgLANE; i < n; i += mjgLANES) {
      x[i] = i == j ? xj : x[i] - LU[i * n + j] * xj;
    }
    mjgSYNC();
  }
  mjgi_luBackward(x, LU, n);
}

#endif  // mjgiDENSE


//---------------------------------- a block -------------------------------------------------------

typedef struct mjgiBlock_ {
  int n;           // joints in the block
  int flg_P;       // 1: P is given, 0: P = [alpha] A - [beta]
  int flg_unique;  // 1: unique solution: K needs no pivoting

  // the problem
  mjgREAL* A;      // effect of friction on velocity, unit diagonal     (n x n)
  mjgREAL* P;      // effect of friction on load, if flg_P              (n x n)
  mjgREAL* alpha;  // alpha, 0 if flg_P                                 (n)
  mjgREAL* beta;   // beta, 0 if flg_P                                  (n)
  mjgREAL* p;      // diagonal of P                                     (n)
  mjgREAL* v;      // velocity without friction                         (n)
  mjgREAL* phi;    // load without friction                             (n)
  mjgREAL* c;      // load-independent bound                            (n)
  mjgREAL* rp;     // bound factor in forward direction                 (n)
  mjgREAL* rm;     // bound factor in backward direction                (n)
  mjgREAL* root;   // sqrt(A_ii) in the units of the caller             (n)
  mjgREAL* scale;  // 1/root                                            (n)

  // the iterate: t is free, the others follow from it by mjgi_blockEvaluate
  mjgREAL* t;         // friction torque                           (n)
  mjgREAL* w;         // A t                                       (n)
  mjgREAL* lambda;    // load, phi + P t                           (n)
  mjgREAL* residual;  // R = t - resolve(t), zero at a solution    (n)
  int* piece;         // next pieces, by the joints' laws          (n)
  mjgREAL merit;      // |R|^2

  // memory of the methods below
  mjgREAL* K;  // factorized pieces                         (n x stride)
  mjgREAL* x;  //                                                       (n)
  mjgREAL* y;  //                                                       (n)
  mjgREAL* z;  //                                                       (n)
  int* pivot;  //                                                       (n)
  int* fixed;  // pieces that K was made for                            (n)

  // account
  int iterations;
  int factorizations;
  int fallbacks;
} mjgiBlock;


mjgFUNCTION mjgREAL mjgi_blockMax(mjgREAL a, mjgREAL b) {
  return a > b ? a : b;
}


// Copy numbers, or a default if from is null.
mjgFUNCTION void mjgi_blockCopy(mjgREAL* __restrict to, const mjgREAL* __restrict from,
                                mjgREAL otherwise, int n) {
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    to[i] = from ? from[i] : otherwise;
  }
}


// Scale a problem of n joints from the caller's units (mjgProblem) to the block's. Nullable: P,
// or alpha and beta if P is given; coulomb, static_ratio, v0, t.
mjgFUNCTION void mjgi_blockTake(mjgiBlock* b, int n, const mjgREAL* A, const mjgREAL* P,
                                const mjgREAL* v, const mjgREAL* phi, const mjgREAL* alpha,
                                const mjgREAL* beta, const mjgREAL* coulomb,
                                const mjgREAL* static_ratio, const mjgREAL* v0, const mjgREAL* t) {
  b->n = n;
  b->flg_P = P != (const mjgREAL*)0;
  b->flg_unique = 0;
  b->iterations = 0;
  b->factorizations = 0;
  b->fallbacks = 0;
  mjgi_blockCopy(b->v, v, 0, n);
  mjgi_blockCopy(b->phi, phi, 0, n);
  mjgi_blockCopy(b->alpha, b->flg_P ? (const mjgREAL*)0 : alpha, 0, n);
  mjgi_blockCopy(b->beta, b->flg_P ? (const mjgREAL*)0 : beta, 0, n);
  mjgi_blockCopy(b->c, coulomb, 0, n);
  mjgi_blockCopy(b->t, t, 0, n);
  mjgi_blockCopy(b->x, static_ratio, 1, n);
  mjgi_blockCopy(b->y, v0, 0, n);
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    mjgREAL diagonal = A[i * n + i], root = mjgiSQRT(diagonal), scale = 1 / root;
    b->root[i] = root;
    b->scale[i] = scale;
    b->v[i] *= scale;
    b->phi[i] *= root;
    b->alpha[i] *= diagonal;
    b->c[i] *= root;
    b->t[i] *= root;
    b->p[i] = P ? P[i * n + i] : b->alpha[i] - b->beta[i];
    b->rp[i] = mjgi_lawRatio(b->x[i], b->y[i], 1);
    b->rm[i] = mjgi_lawRatio(b->x[i], b->y[i], -1);
  }
  mjgSYNC();
  for (int i = 0; i < n; i++) {
    mjgREAL* __restrict row = b->A + i * n;
    const mjgREAL* __restrict scale = b->scale;
    for (int j = mjgLANE; j < n; j += mjgLANES) {
      row[j] = A[i * n + j] * (scale[i] * scale[j]);
    }
    if (mjgiMINE(i)) {
      row[i] = 1;
    }
    if (P) {
      row = b->P + i * n;
      for (int j = mjgLANE; j < n; j += mjgLANES) {
        row[j] = P[i * n + j] * (b->root[i] * scale[j]);
      }
      if (mjgiMINE(i)) {
        row[i] = b->p[i];
      }
    }
  }
  mjgSYNC();
}

// P_i . t where (A t)_i = w is known
mjgFUNCTION mjgREAL mjgi_blockLoad(const mjgiBlock* b, int i, const mjgREAL* t, mjgREAL w) {
  if (!b->flg_P) {
    return b->alpha[i] * w - b->beta[i] * t[i];
  }
  mjgREAL sum = 0;
  for (int j = 0; j < b->n; j++) {
    sum += b->P[i * b->n + j] * t[j];
  }
  return sum;
}


// Compute w, lambda, piece, residual and merit from t, each joint by its own law.
mjgFUNCTION void mjgi_blockEvaluate(mjgiBlock* b) {
  int n = b->n;
  mjgi_mulMatVec(b->w, b->A, b->t, n);
  if (b->flg_P) {
    mjgi_mulMatVec(b->lambda, b->P, b->t, n);
    for (int i = mjgLANE; i < n; i += mjgLANES) {
      b->lambda[i] += b->phi[i];
    }
  } else {
    for (int i = mjgLANE; i < n; i += mjgLANES) {
      b->lambda[i] = b->phi[i] + b->alpha[i] * b->w[i] - b->beta[i] * b->t[i];
    }
  }

  for (int i = mjgLANE; i < n; i += mjgLANES) {
    mjgREAL t = b->t[i], answer;
    b->piece[i] = mjgi_lawResolve(&answer, b->v[i] - b->w[i] + t, b->lambda[i] - b->p[i] * t,
                                  b->p[i], b->c[i], b->rp[i], b->rm[i]);
    b->residual[i] = t - answer;
  }
  mjgSYNC();
  b->merit = 0;
  for (int i = 0; i < n; i++) {
    b->merit += b->residual[i] * b->residual[i];
  }
  mjgSYNC();
}


// Make the equation of joint i on a piece, row . t = right side. Returns the right side.
mjgFUNCTION mjgREAL mjgi_blockRow(mjgREAL* __restrict row, const mjgiBlock* b, int i, int piece) {
  int n = b->n;
  const mjgREAL* __restrict A = b->A + i * n;

  // stuck: (A t)_i = v_i
  if (piece == mjgiSTUCK) {
    for (int j = mjgLANE; j < n; j += mjgLANES) {
      row[j] = A[j];
    }
    return b->v[i];
  }

  // slips: t_i - f (P t)_i = f phi_i + offset
  mjgREAL offset, f = mjgi_lawRow(&offset, piece, b->c[i], b->rp[i], b->rm[i]);
  mjgREAL factor = b->flg_P ? -f : -f * b->alpha[i];
  A = b->flg_P ? b->P + i * n : A;
  for (int j = mjgLANE; j < n; j += mjgLANES) {
    row[j] = factor * A[j];
  }
  if (mjgiMINE(i)) {
    row[i] += 1 + f * b->beta[i];
  }
  return f * b->phi[i] + offset;
}


// Solve the equations of the given pieces for t; keeps the pieces in fixed and the factors in K.
// Returns 0, with t unchanged, if they are singular, else 1.
mjgFUNCTION int mjgi_blockSolvePieces(mjgiBlock* b, const int* piece) {
  int stride = mjgi_rowStride(b->n);
  for (int i = 0; i < b->n; i++) {
    mjgREAL side = mjgi_blockRow(b->K + i * stride, b, i, piece[i]);
    if (mjgiMINE(i)) {
      b->x[i] = side;
    }
  }
  mjgSYNC();
  b->factorizations++;
  if (!mjgi_lu(b->K, b->x, b->flg_unique ? (int*)0 : b->pivot, b->n)) {
    return 0;
  }
  for (int i = mjgLANE; i < b->n; i += mjgLANES) {
    b->t[i] = b->x[i];
    b->fixed[i] = piece[i];
  }
  mjgSYNC();
  return 1;
}


// Compute the residual of the equations of the pieces in fixed, in x, and the next pieces, in
// piece.
mjgFUNCTION void mjgi_blockMissing(mjgiBlock* b) {
  int n = b->n;
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    mjgiWIDE_REAL w = 0, load = 0, t = b->t[i];
    for (int j = 0; j < n; j++) {
      w += (mjgiWIDE_REAL)b->A[i * n + j] * b->t[j];
      load += b->flg_P ? (mjgiWIDE_REAL)b->P[i * n + j] * b->t[j] : 0;
    }
    load = b->flg_P ? load : b->alpha[i] * w - b->beta[i] * t;
    mjgiWIDE_REAL v = b->v[i] - w, lambda = b->phi[i] + load;
    int piece = b->fixed[i];
    b->x[i] = (mjgREAL)v;
    if (piece != mjgiSTUCK) {
      mjgREAL offset, factor = mjgi_lawRow(&offset, piece, b->c[i], b->rp[i], b->rm[i]);
      b->x[i] = (mjgREAL)(factor * lambda + offset - t);
    }
    b->piece[i] =
        mjgi_lawNext(piece, b->t[i], (mjgREAL)v, (mjgREAL)lambda, b->c[i], b->rp[i], b->rm[i]);
  }
  mjgSYNC();
}


// Refine t on the pieces in fixed, by the factors of mjgi_blockSolvePieces.
mjgFUNCTION void mjgi_blockRefine(mjgiBlock* b) {
  for (int k = 0; k < mjgiREFINE; k++) {
    mjgi_blockMissing(b);
    mjgi_luSolve(b->x, b->K, b->flg_unique ? (int*)0 : b->pivot, b->n);
    for (int i = mjgLANE; i < b->n; i += mjgLANES) {
      b->t[i] += b->x[i];
    }
    mjgSYNC();
  }
  mjgi_blockEvaluate(b);
}


// Returns the error relative to size, 0 for no error.
mjgFUNCTION mjgREAL mjgi_blockRelative(mjgREAL error, mjgREAL size) {
  return error > 0 ? error / size : 0;
}


// Returns the relative residual of joint i on a piece, or a bound of it that is at most enough.
mjgFUNCTION mjgREAL mjgi_jointResidual(const mjgiBlock* b, int i, int piece, mjgREAL enough) {
  // distance from the piece's equation and its two sides
  int n = b->n, s = mjgi_pieceDirection(piece);
  mjgREAL t = b->t[i], v = b->v[i] - b->w[i], sign = (mjgREAL)s;
  mjgREAL bound =
      mjgi_lawBound(b->lambda[i], b->c[i], s > 0 || (s == 0 && t > 0) ? b->rp[i] : b->rm[i]);
  mjgREAL error_v = s == 0 ? mjgiABS(v) : -sign * v;
  mjgREAL error_t = s == 0 ? mjgiABS(t) - bound : mjgiABS(t - sign * bound);

  // lower bounds of the terms of v+_i and lambda_i: their sums and the diagonal
  mjgREAL terms_v = mjgiABS(b->v[i]) + mjgi_blockMax(mjgiABS(b->w[i]), mjgiABS(t));
  mjgREAL terms_t = mjgiABS(t) + mjgiABS(b->phi[i]) + mjgiABS(b->p[i] * t) + b->c[i];
  mjgREAL residual =
      mjgi_blockMax(mjgi_blockRelative(error_v, terms_v), mjgi_blockRelative(error_t, terms_t));
  if (!(residual <= enough)) {
    mjgREAL size_w = 0, size_p = 0;
    for (int j = 0; j < n; j++) {
      size_w += mjgiABS(b->A[i * n + j] * b->t[j]);
      size_p += b->flg_P ? mjgiABS(b->P[i * n + j] * b->t[j]) : 0;
    }
    size_p += mjgiABS(b->alpha[i]) * size_w + mjgiABS(b->beta[i] * t);
    terms_v = mjgiABS(b->v[i]) + size_w;
    terms_t = mjgiABS(t) + mjgiABS(b->phi[i]) + size_p + b->c[i];
    residual =
        mjgi_blockMax(mjgi_blockRelative(error_v, terms_v), mjgi_blockRelative(error_t, terms_t));
  }

  return 0 * terms_v + 0 * terms_t + 0 * error_t == 0 ? residual : mjgiINFINITY;
}


// Returns the largest relative residual of the joints on the given pieces.
mjgFUNCTION mjgREAL mjgi_blockResidual(const mjgiBlock* b, const int* piece, mjgREAL enough) {
  mjgREAL worst = 0;
  for (int i = 0; i < b->n; i++) {
    worst = mjgi_blockMax(worst, mjgi_jointResidual(b, i, piece[i], enough));
  }
  mjgSYNC();
  return worst;
}


// Reduce round-off residuals on the pieces in fixed below enough, by the joints' own laws.
mjgFUNCTION void mjgi_blockPolish(mjgiBlock* b, mjgREAL enough) {
  for (int round = 0; round < mjgiPOLISH; round++) {
    mjgREAL size = 0;
    for (int i = 0; i < b->n; i++) {
      size += mjgiABS(b->t[i]) + mjgiABS(b->v[i]) + mjgiABS(b->w[i]) + mjgiABS(b->phi[i]) + b->c[i];
    }

    // friction of joints without load and bound is round-off of others; take their own law's
    int changed = 0;
    for (int i = 0; i < b->n; i++) {
      mjgREAL own = mjgi_jointResidual(b, i, b->fixed[i], enough);
      if (own > enough && mjgiABS(b->residual[i]) <= mjgiNEAR * size) {
        mjgSYNC();
        if (mjgiMINE(i)) {
          b->t[i] -= b->residual[i];
          b->fixed[i] = b->fixed[i] == mjgiSTUCK ? mjgiSTUCK : b->piece[i];
        }
        mjgSYNC();
        changed = 1;
      }
    }
    mjgSYNC();
    if (!changed) {
      return;
    }
    mjgi_blockEvaluate(b);
  }
}


// Refine and polish on the pieces in fixed, and set the resulting pieces in piece.
mjgFUNCTION void mjgi_blockImprove(mjgiBlock* b, mjgREAL enough) {
  mjgi_blockRefine(b);
  mjgi_blockPolish(b, enough);
  for (int i = mjgLANE; i < b->n; i += mjgLANES) {
    b->piece[i] = b->fixed[i];
  }
  mjgSYNC();
}


// Release joints that slip on their static bound. Returns 1 if there are any: the block must be
// solved again.
mjgFUNCTION int mjgi_blockRelease(mjgiBlock* b) {
  int released = 0;
  for (int i = 0; i < b->n; i++) {
    released |= mjgi_lawReleases(b->piece[i], b->rp[i], b->rm[i]);
  }
  mjgSYNC();
  for (int i = mjgLANE; i < b->n; i += mjgLANES) {
    if (mjgi_lawReleases(b->piece[i], b->rp[i], b->rm[i])) {
      b->rp[i] = 1;
      b->rm[i] = 1;
    }
  }
  mjgSYNC();
  return released;
}


// Convert the result of joint i to the caller's units. Returns its mode. Round-off may leave a
// slipping joint at rest or its friction with the wrong sign.
mjgFUNCTION int mjgi_blockResult(mjgREAL* t, mjgREAL* v, mjgREAL* lambda, const mjgiBlock* b,
                                 int i) {
  int s = mjgi_pieceDirection(b->piece[i]);
  mjgREAL next = (b->v[i] - b->w[i]) * b->root[i], friction = b->t[i];
  if ((mjgREAL)s * next <= 0) {
    s = 0;
    next = 0;
  }
  if ((mjgREAL)s * friction < 0) {
    friction = 0;
  }
  *v = next;
  *t = friction * b->scale[i];
  *lambda = b->lambda[i] * b->scale[i];
  return s;
}


//---------------------------------- methods -------------------------------------------------------

// Each starts from block->t and leaves its best iterate there, evaluated, with the joints'
// pieces. Returns 1 if it ended at a solution by its own test, else 0.

// Returns 1 if the joints keep the pieces from which t was computed, or if the residual of every
// joint is round-off of a single sum: a tie.
mjgFUNCTION int mjgi_newtonEnds(const mjgiBlock* b) {
  int exact = 1, same = 1;
  for (int i = 0; i < b->n; i++) {
    mjgREAL size = mjgiABS(b->t[i]);
    size += b->fixed[i] == mjgiSTUCK ? mjgiABS(b->v[i]) : mjgiABS(b->phi[i]) + b->c[i];
    exact &= mjgiABS(b->residual[i]) <= mjgiROUNDING * mjgiEPSILON * size;
    same &= b->piece[i] == b->fixed[i];
  }
  mjgSYNC();
  return exact || same;
}


// Guarded semismooth Newton on R(t) = t - resolve(t). The laws are piecewise linear: a
// Newton step solves the equations of the current pieces exactly. If the joints keep
// these pieces, the problem is solved. It ends after finitely many steps.
mjgFUNCTION int mjgi_newton(mjgiBlock* b, int iterations) {
  int n = b->n;
  mjgi_blockEvaluate(b);

  for (int iter = 0; iter < iterations; iter++) {
    // y: the best point
    mjgREAL merit = b->merit;
    for (int i = mjgLANE; i < n; i += mjgLANES) {
      b->y[i] = b->t[i];
    }
    b->iterations++;
    if (!mjgi_blockSolvePieces(b, b->piece)) {
      return 0;
    }
    mjgi_blockEvaluate(b);

    if (mjgi_newtonEnds(b)) {
      for (int i = mjgLANE; i < n; i += mjgLANES) {
        b->piece[i] = b->fixed[i];
      }
      mjgSYNC();
      return 1;
    }

    // shorten the step if the residual has not decreased
    mjgREAL* goal = b->t;
    b->t = b->z;
    b->z = goal;
    mjgREAL step = 1;
    for (int halving = 0; !(b->merit < merit); halving++) {
      if (halving == mjgiHALVINGS) {
        for (int i = mjgLANE; i < n; i += mjgLANES) {
          b->t[i] = b->y[i];
        }
        mjgSYNC();
        mjgi_blockEvaluate(b);
        return 0;
      }
      step /= 2;
      for (int i = mjgLANE; i < n; i += mjgLANES) {
        b->t[i] = b->y[i] + step * (goal[i] - b->y[i]);
      }
      mjgSYNC();
      mjgi_blockEvaluate(b);
    }
    if (step == 1) {
      b->z = b->t;
      b->t = goal;
    }
  }
  return 0;
}


// Gauss-Seidel: the exact one-joint step (44), joint by joint
mjgFUNCTION int mjgi_gaussSeidel(mjgiBlock* b, int iterations, mjgREAL tolerance) {
  int n = b->n;
  for (int iter = 0; iter < iterations; iter++) {
    b->iterations++;

    // one sweep; the change is relative to the terms of t_i
    mjgREAL change = 0;
    for (int i = 0; i < n; i++) {
      mjgREAL t = b->t[i], answer, w = 0;
      for (int j = 0; j < n; j++) {
        w += b->A[i * n + j] * b->t[j];
      }
      mjgREAL lambda = b->phi[i] + mjgi_blockLoad(b, i, b->t, w);
      mjgi_lawResolve(&answer, b->v[i] - w + t, lambda - b->p[i] * t, b->p[i], b->c[i], b->rp[i],
                      b->rm[i]);
      mjgREAL size = mjgiABS(b->v[i]) + mjgiABS(answer) + mjgiABS(t) + mjgiSMALLEST;
      change = mjgi_blockMax(change, mjgiABS(answer - t) / size);
      mjgSYNC();
      if (mjgiMINE(i)) {
        b->t[i] = answer;
      }
      mjgSYNC();
    }

    // steps shrink linearly: check the residual
    if (change <= tolerance) {
      mjgi_blockEvaluate(b);
      if (mjgi_blockResidual(b, b->piece, tolerance) <= tolerance) {
        return 1;
      }
    }
  }
  mjgi_blockEvaluate(b);
  return 0;
}


//---------------------------------- one problem, from memory to result ----------------------------

// scratch of mjgi_denseNewton for n joints
#define mjgiDENSE_NUMBERS(n)  ((n) * (2 * (n) + 18))
#define mjgiDENSE_INTEGERS(n) (3 * (n))


// Solve the problem of mjgear.h with P = [alpha] A - [beta] for n <= mjgiDENSE_MAX joints:
// Newton; if it fails, sweeps of one-joint steps and Newton from there. Of several solutions it
// returns one near its start. Independent blocks may be solved together.
//   t, v, lambda, mode   as in mjgSolution; t is the start                          (n)
//   A ... v0             as in mjgProblem, none is null
//   number, integer      scratch, mjgiDENSE_NUMBERS(n) and mjgiDENSE_INTEGERS(n)
//   flg_release          0: joints slip on their static bound and are not released; the
// caller of a larger problem releases them Returns the number of Newton steps; negative
// without a solution, with the best iterate in t.
mjgFUNCTION int mjgi_denseNewton(mjgREAL* t, mjgREAL* v, mjgREAL* lambda, int* mode,
                                 const mjgREAL* A, const mjgREAL* v_free, const mjgREAL* phi,
                                 const mjgREAL* alpha, const mjgREAL* beta, const mjgREAL* coulomb,
                                 const mjgREAL* static_ratio, const mjgREAL* v0, int n,
                                 mjgREAL* number, int* integer, int flg_release) {
  mjgiBlock block, *b = &block;
  mjgREAL** vector[] = {&b->alpha,  &b->beta,     &b->p,    &b->v,     &b->phi, &b->c,
                        &b->rp,     &b->rm,       &b->root, &b->scale, &b->t,   &b->w,
                        &b->lambda, &b->residual, &b->x,    &b->y,     &b->z};
  b->A = number;
  b->P = (mjgREAL*)0;
  b->K = b->A + n * n;
  for (int k = 0; k < (int)(sizeof(vector) / sizeof(*vector)); k++) {
    *vector[k] = b->K + n * (n + k);
  }
  b->piece = integer;
  b->fixed = integer + n;
  b->pivot = integer + 2 * n;

  mjgi_blockTake(b, n, A, (const mjgREAL*)0, v_free, phi, alpha, beta, coulomb, static_ratio, v0,
                 t);
  int solved;
  do {
    solved = 0;
    for (int round = 0; !solved && round < mjgiDENSE_ROUNDS; round++) {
      solved = mjgi_newton(b, mjgiDENSE_STEPS);
      mjgREAL small = mjgiROUNDING * mjgiEPSILON;
      if (solved && !(mjgi_blockResidual(b, b->piece, small) <= small)) {
        mjgi_blockImprove(b, small * (mjgREAL)n);
      }
      if (!solved) {
        mjgi_gaussSeidel(b, mjgiDENSE_SWEEPS << round, mjgiROUNDING * mjgiEPSILON);
      }
    }
  } while (solved && flg_release && mjgi_blockRelease(b));

  for (int i = mjgLANE; i < n; i += mjgLANES) {
    mode[i] = mjgi_blockResult(t + i, v + i, lambda + i, b, i);
  }
  mjgSYNC();
  return solved ? b->iterations : -b->iterations - 1;
}

#endif  // MJGEAR_DENSE_NEWTON_H_

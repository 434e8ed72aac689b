// The friction problem of dense_newton.h by the pieces that joints had. It needs that
// header and law/law.h.

#ifndef MJGEAR_PIECES_H_
#define MJGEAR_PIECES_H_

// corrections of friction on its pieces
#define mjgiCORRECTIONS 2

// equation of joint i on a piece, as mjgi_blockRow has it, in the units of the caller;
// returns the right side
mjgFUNCTION mjgREAL mjgi_pieceRow(mjgREAL* row, const mjgREAL* A, int piece, mjgREAL v_free,
                                  mjgREAL phi, mjgREAL alpha, mjgREAL beta, mjgREAL c, mjgREAL rp,
                                  mjgREAL rm, int i, int n) {
  mjgREAL offset = 0, factor = 0, scale = 1;
  if (piece != mjgiSTUCK) {
    factor = mjgi_lawRow(&offset, piece, c, rp, rm);
    scale = -factor * alpha;
  }
  for (int j = mjgLANE; j < n; j += mjgLANES) {
    row[j] = scale * A[j];
  }
  if (mjgiMINE(i)) {
    row[i] += piece != mjgiSTUCK ? 1 + factor * beta : 0;
  }
  return piece != mjgiSTUCK ? factor * phi + offset : v_free;
}


// by how much friction x misses the equation of joint i on a piece, in double precision
mjgFUNCTION mjgREAL mjgi_pieceMissing(const mjgREAL* A, const mjgREAL* x, int piece, mjgREAL v_free,
                                      mjgREAL phi, mjgREAL alpha, mjgREAL beta, mjgREAL c,
                                      mjgREAL rp, mjgREAL rm, int i, int n) {
  double w = 0;
  for (int j = 0; j < n; j++) {
    w += (double)A[j] * (double)x[j];
  }
  if (piece == mjgiSTUCK) {
    return (mjgREAL)((double)v_free - w);
  }
  mjgREAL offset, factor = mjgi_lawRow(&offset, piece, c, rp, rm);
  double load = (double)phi + (double)alpha * w - (double)beta * (double)x[i];
  return (mjgREAL)((double)factor * load + (double)offset - (double)x[i]);
}


// next branch of joint i with friction x that slows it by w
mjgFUNCTION int mjgi_pieceNext(int piece, mjgREAL x, mjgREAL w, mjgREAL v_free, mjgREAL phi,
                               mjgREAL alpha, mjgREAL beta, mjgREAL c, mjgREAL rp, mjgREAL rm) {
  mjgREAL load = phi + alpha * w - beta * x;
  return mjgi_lawNext(piece, x, v_free - w, load, c, rp, rm);
}


// start from the last branches of the joints (mode and sign of load), and exchange all at once,
// at most this many times. Returns 1 if the branches stay unchanged: then t, v, lambda and mode
// are those of a solution; else they are unchanged. A joint that is stuck stays so where its
// bound lets it, also where that is not connected to no friction. One that slips has broken
// away where flg_release is 1. Arguments as in mjgi_denseNewton
mjgFUNCTION int mjgi_exchangePieces(mjgREAL* t, mjgREAL* v, mjgREAL* lambda, int* mode,
                                    const mjgREAL* A, const mjgREAL* v_free, const mjgREAL* phi,
                                    const mjgREAL* alpha, const mjgREAL* beta,
                                    const mjgREAL* coulomb, const mjgREAL* static_ratio,
                                    const mjgREAL* v0, int n, mjgREAL* number, int* integer,
                                    int flg_release, int most) {
  mjgREAL *K = number, *x = K + n * n, *w = x + n, *rp = w + n, *rm = rp + n;
  int *pivot = integer, *piece = integer + n, changed = 1;
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    piece[i] = mjgi_piece(mode[i], lambda[i] >= 0);
    mjgREAL ratio = mode[i] == 0 || !flg_release ? static_ratio[i] : 1;
    rp[i] = mjgi_lawRatio(ratio, v0[i], 1);
    rm[i] = mjgi_lawRatio(ratio, v0[i], -1);
  }
  mjgSYNC();
  for (int round = 0; changed && round < most; round++) {
    for (int i = 0; i < n; i++) {
      mjgREAL side = mjgi_pieceRow(K + i * n, A + i * n, piece[i], v_free[i], phi[i], alpha[i],
                                   beta[i], coulomb[i], rp[i], rm[i], i, n);
      if (mjgiMINE(i)) {
        x[i] = side;
      }
    }
    mjgSYNC();
    if (!mjgi_lu(K, x, pivot, n)) {
      return 0;
    }
    for (int k = 0; k < mjgiCORRECTIONS; k++) {
      for (int i = mjgLANE; i < n; i += mjgLANES) {
        w[i] = mjgi_pieceMissing(A + i * n, x, piece[i], v_free[i], phi[i], alpha[i], beta[i],
                                 coulomb[i], rp[i], rm[i], i, n);
      }
      mjgSYNC();
      mjgi_luSolve(w, K, pivot, n);
      for (int i = mjgLANE; i < n; i += mjgLANES) {
        x[i] += w[i];
      }
      mjgSYNC();
    }
    mjgi_mulMatVec(w, A, x, n);
    changed = 0;
    for (int i = 0; i < n; i++) {
      int next = mjgi_pieceNext(piece[i], x[i], w[i], v_free[i], phi[i], alpha[i], beta[i],
                                coulomb[i], rp[i], rm[i]);
      changed |= next != piece[i];
    }
    mjgSYNC();
    for (int i = mjgLANE; i < n; i += mjgLANES) {
      piece[i] = mjgi_pieceNext(piece[i], x[i], w[i], v_free[i], phi[i], alpha[i], beta[i],
                                coulomb[i], rp[i], rm[i]);
      if (flg_release && mjgi_lawReleases(piece[i], rp[i], rm[i])) {
        rp[i] = 1;
        rm[i] = 1;
      }
    }
    mjgSYNC();
  }
  if (changed) {
    return 0;
  }
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    mode[i] = mjgi_pieceDirection(piece[i]);
    t[i] = x[i];
    v[i] = mode[i] == 0 ? 0 : v_free[i] - w[i];
    lambda[i] = phi[i] + alpha[i] * w[i] - beta[i] * x[i];
  }
  mjgSYNC();
  return 1;
}

#endif  // MJGEAR_PIECES_H_

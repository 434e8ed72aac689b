// What mjgear.warp computes for one world, beside dense_newton.h: factors and products of small dense
// matrices. Row-major, lower triangles. It compiles where dense_newton.h does.

#ifndef MJGEAR_WORLD_H_
#define MJGEAR_WORLD_H_

// A = L L' in place, in the lower triangle. Returns 0 if A is not positive definite
mjgFUNCTION int factor(mjgREAL* A, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      mjgREAL sum = A[i * n + j];
      for (int k = 0; k < j; k++) {
        sum -= A[i * n + k] * A[j * n + k];
      }
      if (i > j) {
        A[i * n + j] = sum / A[j * n + j];
      } else if (sum > 0) {
        A[i * n + i] = mjgiSQRT(sum);
      } else {
        return 0;
      }
    }
  }
  return 1;
}


// x = (L L')^-1 x, where x is 0 before entry first
mjgFUNCTION void solve(mjgREAL* x, const mjgREAL* L, int n, int first) {
  for (int i = first; i < n; i++) {
    mjgREAL sum = x[i];
    for (int k = first; k < i; k++) {
      sum -= L[i * n + k] * x[k];
    }
    x[i] = sum / L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    for (int k = 0; k < i; k++) {
      x[k] -= L[i * n + k] * x[i];
    }
  }
}


// columns of A^-1 that belong to n dofs, one a row of x (n x nv); A becomes its factor. Returns 0 if A is not
// positive definite
mjgFUNCTION int columns(mjgREAL* x, mjgREAL* A, const int* dof, int nv, int n) {
  if (!factor(A, nv)) {
    return 0;
  }
  for (int g = 0; g < n; g++) {
    for (int i = 0; i < nv; i++) {
      x[g * nv + i] = 0;
    }
    x[g * nv + dof[g]] = 1;
    solve(x + g * nv, A, nv, dof[g]);
  }
  return 1;
}


// 1 if a joint that stands still would do so however large the torque in its direction was: as mjg_jammed
// of the core, with A a diagonal entry of the problem's matrix
mjgFUNCTION int jammed(mjgREAL t, mjgREAL lambda, mjgREAL A, mjgREAL alpha, mjgREAL beta, mjgREAL c,
                       mjgREAL static_ratio, mjgREAL v0) {
  int load, s = t > 0 ? 1 : -1;
  mjgREAL p = alpha * A - beta;
  mjgREAL r = mjgi_lawRatio(static_ratio, v0, s);
  return t != 0 && mjgi_lawLimit(&load, s, lambda - p * t, p, c, r) == mjgiINFINITY;
}

#endif  // MJGEAR_WORLD_H_

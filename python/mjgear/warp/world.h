// Computations of mjgear.warp for one world: factors and products of small dense matrices,
// row-major. It needs law/law.h and solvers/lanes.h: of the threads that share a world,
// each has every mjgLANES-th column.

#ifndef MJGEAR_WORLD_H_
#define MJGEAR_WORLD_H_

// Inner loops run along rows, so neighbouring threads read neighbouring numbers. Loops over
// matrices have no sums, so compilers vectorize them without changing a bit.

// y -= f x
mjgFUNCTION void subtract(mjgREAL* __restrict y, const mjgREAL* __restrict x, mjgREAL f, int n) {
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    y[i] -= f * x[i];
  }
}


// y += f x
mjgFUNCTION void add(mjgREAL* __restrict y, const float* __restrict x, mjgREAL f, int n) {
  for (int i = mjgLANE; i < n; i += mjgLANES) {
    y[i] += f * (mjgREAL)x[i];
  }
}


// x . y, by each thread for itself
mjgFUNCTION mjgREAL dot(const mjgREAL* __restrict x, const mjgREAL* __restrict y, int n) {
  mjgREAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) {
    s0 += x[i] * y[i];
  }
  return (s0 + s2) + (s1 + s3);
}


// Returns J a - aref of a row of constraints; each thread computes it.
mjgFUNCTION mjgREAL gap(const float* __restrict J, const float* __restrict a, mjgREAL aref, int n) {
  mjgREAL s0 = 0, s1 = 0;
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    s0 += (mjgREAL)J[i] * (mjgREAL)a[i];
    s1 += (mjgREAL)J[i + 1] * (mjgREAL)a[i + 1];
  }
  if (i < n) {
    s0 += (mjgREAL)J[i] * (mjgREAL)a[i];
  }
  return (s0 + s1) - aref;
}


// J (b - a), likewise
mjgFUNCTION mjgREAL along(const float* __restrict J, const float* __restrict a,
                          const mjgREAL* __restrict b, int n) {
  mjgREAL sum = 0;
  for (int i = 0; i < n; i++) {
    sum += (mjgREAL)J[i] * (b[i] - (mjgREAL)a[i]);
  }
  return sum;
}


// y = A x (m x n)
mjgFUNCTION void times(mjgREAL* y, const mjgREAL* A, const mjgREAL* x, int m, int n) {
  for (int i = mjgLANE; i < m; i += mjgLANES) {
    y[i] = dot(A + i * n, x, n);
  }
  mjgSYNC();
}


// rows of constraints: each of stride numbers in J
typedef struct {
  const float *J, *D, *force;
  const int *state, *kind, *identity, *geared;
  int rows, stride, quadratic, friction;
} Rows;


// g = J' f. With H, its lower triangle += J' [D] J over quadratic rows that are not rows of
// gears
mjgFUNCTION void gather(mjgREAL* H, mjgREAL* __restrict g, const Rows* c, int nv) {
  for (int i = mjgLANE; i < nv; i += mjgLANES) {
    g[i] = 0;
  }
  for (int r = 0; r < c->rows; r++) {
    const float* J = c->J + r * c->stride;
    if (c->force[r] != 0) {
      add(g, J, (mjgREAL)c->force[r], nv);
    }
    if (H && c->state[r] == c->quadratic &&
        !(c->kind[r] == c->friction && c->geared[c->identity[r]] >= 0)) {
      for (int i = 0; i < nv; i++) {
        if (J[i] != 0) {
          add(H + i * nv, J, (mjgREAL)c->D[r] * (mjgREAL)J[i], i + 1);
        }
      }
    }
  }
  mjgSYNC();
}


// A = U' U in place, in the upper triangle; the input is the lower one. Returns 0 if A
// is not positive definite
mjgFUNCTION int factor(mjgREAL* A, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = mjgLANE; j < i; j += mjgLANES) {
      A[j * n + i] = A[i * n + j];
    }
  }
  mjgSYNC();
  for (int k = 0; k < n; k++) {
    mjgREAL* row = A + k * n;
    mjgREAL pivot = row[k];
    mjgSYNC();
    if (!(pivot > 0)) {
      return 0;
    }
    mjgREAL inverse = 1 / mjgiSQRT(pivot);
    for (int j = mjgLANE; j < n - k; j += mjgLANES) {
      row[k + j] *= inverse;
    }
    mjgSYNC();
    for (int i = k + 1; i < n; i++) {
      if (row[i] != 0) {
        subtract(A + i * n + i, row + i, row[i], n - i);
      }
    }
    mjgSYNC();
  }
  return 1;
}


// x = U'^-1 x for n right sides (nv x n) with zeros before dof; a thread needs only its
// own columns
mjgFUNCTION void forward(mjgREAL* x, const mjgREAL* U, const int* dof, int nv, int n) {
  int begun = 0;
  for (int k = 0; k < nv; k++) {
    for (int g = begun; g < n; g++) {
      begun = dof[g] <= k ? g + 1 : begun;
    }
    mjgREAL inverse = 1 / U[k * nv + k];
    for (int g = mjgLANE; g < begun; g += mjgLANES) {
      x[k * n + g] *= inverse;
    }
    for (int i = k + 1; i < nv; i++) {
      if (U[k * nv + i] != 0) {
        subtract(x + i * n, x + k * n, U[k * nv + i], begun);
      }
    }
  }
}


// x = U^-1 x for n right sides (nv x n), on the same conditions
mjgFUNCTION void backward(mjgREAL* x, const mjgREAL* U, int nv, int n) {
  for (int k = nv - 1; k >= 0; k--) {
    for (int i = k + 1; i < nv; i++) {
      if (U[k * nv + i] != 0) {
        subtract(x + k * n, x + i * n, U[k * nv + i], n);
      }
    }
    mjgREAL inverse = 1 / U[k * nv + k];
    for (int g = mjgLANE; g < n; g += mjgLANES) {
      x[k * n + g] *= inverse;
    }
  }
}


// x = (U' U)^-1 x
mjgFUNCTION void solve(mjgREAL* x, const mjgREAL* U, int nv) {
  for (int k = 0; k < nv; k++) {
    mjgREAL xk = x[k] / U[k * nv + k];
    mjgSYNC();
    if (mjgiMINE(0)) {
      x[k] = xk;
    }
    subtract(x + k + 1, U + k * nv + k + 1, xk, nv - k - 1);
    mjgSYNC();
  }
  for (int k = nv - 1; k >= 0; k--) {
    mjgREAL xk = (x[k] - dot(U + k * nv + k + 1, x + k + 1, nv - k - 1)) / U[k * nv + k];
    mjgSYNC();
    if (mjgiMINE(0)) {
      x[k] = xk;
    }
    mjgSYNC();
  }
}


// all of a symmetric matrix of which the lower triangle is given by rows, in the lower
// triangle
mjgFUNCTION void expand(mjgREAL* full, const float* M, const int* rownnz, const int* rowadr,
                        const int* colind, int nv) {
  for (int i = 0; i < nv; i++) {
    for (int j = mjgLANE; j < i + 1; j += mjgLANES) {
      full[i * nv + j] = 0;
    }
  }
  mjgSYNC();
  for (int i = 0; i < nv; i++) {
    const int* column = colind + rowadr[i];
    for (int k = mjgLANE; k < rownnz[i]; k += mjgLANES) {
      full[i * nv + column[k]] = M[rowadr[i] + k];
    }
  }
  mjgSYNC();
}


// columns of A^-1 that belong to n dofs (nv x n); A becomes its factor. Returns 0 if A is
// not positive definite
mjgFUNCTION int columns(mjgREAL* x, mjgREAL* A, const int* dof, int nv, int n) {
  if (!factor(A, nv)) {
    return 0;
  }
  for (int i = 0; i < nv; i++) {
    for (int g = mjgLANE; g < n; g += mjgLANES) {
      x[i * n + g] = i == dof[g] ? 1 : 0;
    }
  }
  forward(x, A, dof, nv, n);
  backward(x, A, nv, n);
  mjgSYNC();
  return 1;
}


// M x for n vectors (nv x n), M a symmetric matrix of which the rows of the lower triangle
// are given
mjgFUNCTION void multiply(mjgREAL* product, const mjgREAL* x, const float* M, const int* rownnz,
                          const int* rowadr, const int* colind, int nv, int n) {
  for (int i = 0; i < nv; i++) {
    for (int g = mjgLANE; g < n; g += mjgLANES) {
      product[i * n + g] = 0;
    }
  }
  for (int i = 0; i < nv; i++) {
    for (int p = rowadr[i]; p < rowadr[i] + rownnz[i]; p++) {
      int j = colind[p];
      subtract(product + i * n, x + j * n, -(mjgREAL)M[p], n);
      if (j != i) {
        subtract(product + j * n, x + i * n, -(mjgREAL)M[p], n);
      }
    }
  }
  mjgSYNC();
}


// a of the dofs (n) as the integrator makes it: Z' a (Z nv x n), or a where Z is null
mjgFUNCTION void integrated(mjgREAL* result, const mjgREAL* a, const mjgREAL* Z, const int* dof,
                            int nv, int n) {
  for (int g = mjgLANE; g < n; g += mjgLANES) {
    result[g] = Z ? 0 : a[dof[g]];
  }
  for (int k = 0; Z && k < nv; k++) {
    subtract(result, Z + k * n, -a[k], n);
  }
  mjgSYNC();
}


// effect of friction on the velocity after the step (n x n): h Z' X, or rows of h X where
// Z is null
mjgFUNCTION void effect(mjgREAL* A, const mjgREAL* X, const mjgREAL* Z, const int* dof, mjgREAL h,
                        int nv, int n) {
  for (int g = 0; g < n; g++) {
    for (int j = mjgLANE; j < n; j += mjgLANES) {
      A[g * n + j] = Z ? 0 : h * X[dof[g] * n + j];
    }
    for (int k = 0; Z && k < nv; k++) {
      subtract(A + g * n, X + k * n, -h * Z[k * n + g], n);
    }
  }
  mjgSYNC();
}

#endif  // MJGEAR_WORLD_H_

// What mjgear.warp computes for one world, beside dense_newton.h: factors and products of small dense
// matrices, row-major. It compiles where law/law.h does, and needs its mjgREAL and mjgFUNCTION.

#ifndef MJGEAR_WORLD_H_
#define MJGEAR_WORLD_H_

#ifndef mjgiSQRT
#ifdef __CUDACC__
#define mjgiSQRT(x) sqrt(x)
#else
#define mjgiSQRT(x) ((mjgREAL)__builtin_sqrt((double)(x)))
#endif
#endif

// Inner loops run along rows and have no sums, so that compilers make vectors of them without changing a bit.

// y -= f x
mjgFUNCTION void subtract(mjgREAL* __restrict y, const mjgREAL* __restrict x, mjgREAL f, int n) {
  for (int i = 0; i < n; i++) {
    y[i] -= f * x[i];
  }
}


// y += f x
mjgFUNCTION void add(mjgREAL* __restrict y, const float* __restrict x, mjgREAL f, int n) {
  for (int i = 0; i < n; i++) {
    y[i] += f * (mjgREAL)x[i];
  }
}


// A = U' U in place, in the upper triangle; what is given is the lower one. Returns 0 if A is not positive definite
mjgFUNCTION int factor(mjgREAL* A, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      A[j * n + i] = A[i * n + j];
    }
  }
  for (int k = 0; k < n; k++) {
    mjgREAL* row = A + k * n;
    if (!(row[k] > 0)) {
      return 0;
    }
    mjgREAL inverse = 1 / mjgiSQRT(row[k]);
    for (int j = k; j < n; j++) {
      row[j] *= inverse;
    }
    for (int i = k + 1; i < n; i++) {
      if (row[i] != 0) {
        subtract(A + i * n + i, row + i, row[i], n - i);
      }
    }
  }
  return 1;
}


// x = (U' U)^-1 x for n right sides (nv x n)
mjgFUNCTION void solve(mjgREAL* x, const mjgREAL* U, int nv, int n) {
  for (int k = 0; k < nv; k++) {
    mjgREAL inverse = 1 / U[k * nv + k];
    for (int g = 0; g < n; g++) {
      x[k * n + g] *= inverse;
    }
    for (int i = k + 1; i < nv; i++) {
      if (U[k * nv + i] != 0) {
        subtract(x + i * n, x + k * n, U[k * nv + i], n);
      }
    }
  }
  for (int k = nv - 1; k >= 0; k--) {
    for (int i = k + 1; i < nv; i++) {
      if (U[k * nv + i] != 0) {
        subtract(x + k * n, x + i * n, U[k * nv + i], n);
      }
    }
    mjgREAL inverse = 1 / U[k * nv + k];
    for (int g = 0; g < n; g++) {
      x[k * n + g] *= inverse;
    }
  }
}


// columns of A^-1 that belong to n dofs (nv x n); A becomes its factor. Returns 0 if A is not positive definite
mjgFUNCTION int columns(mjgREAL* x, mjgREAL* A, const int* dof, int nv, int n) {
  if (!factor(A, nv)) {
    return 0;
  }
  for (int i = 0; i < nv * n; i++) {
    x[i] = 0;
  }
  for (int g = 0; g < n; g++) {
    x[dof[g] * n + g] = 1;
  }
  solve(x, A, nv, n);
  return 1;
}


// M x for n vectors (nv x n), M a symmetric matrix of which the rows of the lower triangle are given
mjgFUNCTION void multiply(mjgREAL* product, const mjgREAL* x, const float* M, const int* rownnz,
                          const int* rowadr, const int* colind, int nv, int n) {
  for (int i = 0; i < nv * n; i++) {
    product[i] = 0;
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
}


// a of the dofs (n) as the integrator makes it: Z' a (Z nv x n), or a itself where Z is null
mjgFUNCTION void integrated(mjgREAL* result, const mjgREAL* a, const mjgREAL* Z, const int* dof,
                            int nv, int n) {
  for (int g = 0; g < n; g++) {
    result[g] = Z ? 0 : a[dof[g]];
  }
  for (int k = 0; Z && k < nv; k++) {
    subtract(result, Z + k * n, -a[k], n);
  }
}


// effect of friction on the velocity after the step (n x n): h Z' X, or rows of h X where Z is null
mjgFUNCTION void effect(mjgREAL* A, const mjgREAL* X, const mjgREAL* Z, const int* dof, mjgREAL h,
                        int nv, int n) {
  for (int g = 0; g < n; g++) {
    for (int j = 0; j < n; j++) {
      A[g * n + j] = Z ? 0 : h * X[dof[g] * n + j];
    }
    for (int k = 0; Z && k < nv; k++) {
      subtract(A + g * n, X + k * n, -h * Z[k * n + g], n);
    }
  }
}

#endif  // MJGEAR_WORLD_H_

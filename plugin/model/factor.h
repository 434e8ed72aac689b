// Factorization of a symmetric matrix in the structure of M as U D U', row by row from the leaves
// to the root, without fill-in: a row holds the ancestors of its dof.
//
// An unsymmetric matrix (effective_inertia.c) has two triangles; the Hessian (solver/hessian.c)
// fills in where constraints join trees.

#ifndef MJGEAR_PLUGIN_FACTOR_H_
#define MJGEAR_PLUGIN_FACTOR_H_

#include <mujoco/mujoco.h>

#include "model/simd.h"

// Add row k, with own added to its diagonal, to the rows of its ancestors; rows are in
// lanes, begin at line[k], and end with the diagonal. Returns 1/D_k
static inline __attribute__((always_inline)) mjtNum mjgp_eliminateRow(mjtNum* matrix, int k,
                                                                      mjtNum own, const mjModel* m,
                                                                      const int* line) {
  int diag = m->M_rownnz[k] - 1;
  const int* row = m->M_colind + m->M_rowadr[k];
  mjtNum *L = matrix + line[k], inverse = 1 / (L[diag] + own);
  for (int p = diag - 1; p >= 0; p--) {
    mjgp_addSimd(matrix + line[row[p]], L, -(L[p] * inverse), 0, mjgi_simdEnd(p + 1));
  }
  mjgp_scaleSimd(L, inverse, 0, mjgi_simdEnd(diag));
  return inverse;
}

// x = matrix^-1 x for the dofs first .. end - 1 of a tree; pivot: summand of the
// diagonal, becomes 1/D. A dof with a bit of held in mask keeps its x: its row and column
// are the identity's
static inline __attribute__((always_inline)) void mjgp_solveRows(mjtNum* matrix, mjtNum* x,
                                                                 mjtNum* pivot, const int* held,
                                                                 int mask, int first, int end,
                                                                 const mjModel* m,
                                                                 const int* line) {
  for (int k = end - 1; k >= first; k--) {
    if (held[k] & mask) {
      pivot[k] = 1;
      continue;
    }
    int diag = m->M_rownnz[k] - 1;
    const int* row = m->M_colind + m->M_rowadr[k];
    mjtNum *L = matrix + line[k], inverse = 1 / (L[diag] + pivot[k]), right = x[k];
    pivot[k] = inverse;
    for (int p = diag - 1; p >= 0; p--) {
      mjtNum factor = L[p] * inverse;
      if (factor != 0) {
        mjgp_addSimd(matrix + line[row[p]], L, -factor, 0, mjgi_simdEnd(p + 1));
        x[row[p]] -= factor * right;
      }
    }
    mjgp_scaleSimd(L, inverse, 0, mjgi_simdEnd(diag));
  }
  for (int k = first; k < end; k++) {
    if (held[k] & mask) {
      continue;
    }
    const int* row = m->M_colind + m->M_rowadr[k];
    const mjtNum* L = matrix + line[k];
    mjtNum sum = x[k] * pivot[k];
    int diag = m->M_rownnz[k] - 1;
    for (int p = 0; p < diag; p++) {
      sum -= L[p] * x[row[p]];
    }
    x[k] = sum;
  }
}

#endif  // MJGEAR_PLUGIN_FACTOR_H_

// Four numbers at a time: the inner loops of the coupled step.
//
// Rows are stored in whole lanes, and loops over part of a row run over whole lanes; entries
// outside of the part must not matter.

#ifndef MJGEAR_PLUGIN_SIMD_H_
#define MJGEAR_PLUGIN_SIMD_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "solvers/simd.h"

typedef int64_t mjgpBits __attribute__((vector_size(8 * mjgiSIMD)));
_Static_assert(sizeof(mjgiSimd) == mjgiSIMD * sizeof(mjtNum), "the engine's numbers are doubles");


// Copy n of the size numbers of x from adr on, in whole lanes where x has them.
static inline void mjgp_copySimd(mjtNum* restrict y, const mjtNum* restrict x, int adr, int n,
                                 int size) {
  int i = 0;
  for (; i < n && adr + i + mjgiSIMD <= size; i += mjgiSIMD) {
    *(mjgiSimd*)(y + i) = *(const mjgiSimd*)(x + adr + i);
  }
  if (i < n && i) {
    i = n - mjgiSIMD;  // the last lane of x
    *(mjgiSimd*)(y + i) = *(const mjgiSimd*)(x + adr + i);
    return;
  }
  for (; i < n; i++) {
    y[i] = x[adr + i];
  }
}


// y += factor x in the lanes from begin to end
static inline void mjgp_addSimd(mjtNum* restrict y, const mjtNum* restrict x, mjtNum factor,
                                int begin, int end) {
  for (int i = begin; i < end; i += mjgiSIMD) {
    *(mjgiSimd*)(y + i) += factor * *(const mjgiSimd*)(x + i);
  }
}


// x *= factor in the lanes from begin to end
static inline void mjgp_scaleSimd(mjtNum* x, mjtNum factor, int begin, int end) {
  for (int i = begin; i < end; i += mjgiSIMD) {
    *(mjgiSimd*)(x + i) *= factor;
  }
}


static inline mjgiSimd mjgp_absSimd(mjgiSimd x) {
  const mjgpBits absolute = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  return (mjgiSimd)((mjgpBits)x & absolute);
}


// Add factor z_k times row k of X to y, in the order of the rows, and absolute values to size
// (nullable). For count lanes.
static inline __attribute__((always_inline)) void mjgp_addRows(mjtNum* y, mjtNum* size,
                                                               const mjtNum* X, const mjtNum* z,
                                                               mjtNum factor, int n, int ld,
                                                               int count) {
  mjgiSimd sum[mjgiWIDE], total[mjgiWIDE];
  for (int c = 0; c < count; c++) {
    sum[c] = ((const mjgiSimd*)y)[c];
    total[c] = size ? ((const mjgiSimd*)size)[c] : (mjgiSimd){0};
  }
  for (int k = 0; k < n; k++) {
    const mjgiSimd* row = (const mjgiSimd*)(X + k * ld);
    for (int c = 0; c < count; c++) {
      mjgiSimd term = factor * z[k] * row[c];
      sum[c] += term;
      total[c] += mjgp_absSimd(term);
    }
  }
  for (int c = 0; c < count; c++) {
    ((mjgiSimd*)y)[c] = sum[c];
    if (size) {
      ((mjgiSimd*)size)[c] = total[c];
    }
  }
}


// the same for all ld columns
static inline void mjgp_sumRows(mjtNum* y, mjtNum* size, const mjtNum* X, const mjtNum* z,
                                mjtNum factor, int n, int ld) {
  int begin = 0;
#define ADD(count) \
  mjgp_addRows(y + begin, size ? size + begin : NULL, X + begin, z, factor, n, ld, count)
  mjgiFOR_SIMD(ADD, begin, ld)
#undef ADD
}


// Returns 1 if factor x is zero everywhere; with factor 0, if all numbers are finite.
static inline int mjgp_isZero(const mjtNum* x, mjtNum factor, int n) {
  int rest = 0;
  if (n < mjgiSIMD) {
    for (int i = 0; i < n; i++) {
      rest |= factor * x[i] != 0;
    }
    return !rest;
  }

  // the last lane may begin in the one before it
  mjgpBits any = factor * *(const mjgiSimd*)(x + n - mjgiSIMD) != 0;
  for (int i = 0; i < n - mjgiSIMD; i += mjgiSIMD) {
    any |= factor * *(const mjgiSimd*)(x + i) != 0;
  }
  return !(any[0] | any[1] | any[2] | any[3]);
}


// x . y in the lanes from begin to end
static inline mjtNum mjgp_dotSimd(const mjtNum* x, const mjtNum* y, int begin, int end) {
  mjgiSimd sum = {0};
  for (int i = begin; i < end; i += mjgiSIMD) {
    sum += *(const mjgiSimd*)(x + i) * *(const mjgiSimd*)(y + i);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif  // MJGEAR_PLUGIN_SIMD_H_

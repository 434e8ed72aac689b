// Four numbers at a time, in the vector types that gcc and clang know on every machine.
//
// A matrix "in lanes" has rows of whole lanes, mjgi_simdEnd(n) numbers apart, so that loops run
// over whole lanes; numbers after the n-th do not matter.

#ifndef MJGEAR_SIMD_H_
#define MJGEAR_SIMD_H_

#define mjgiSIMD 4  // numbers a lane

typedef double mjgiSimd __attribute__((vector_size(8 * mjgiSIMD), aligned(8)));


// Returns the start of the lane of i.
static inline int mjgi_simdBegin(int i) {
  return i & ~(mjgiSIMD - 1);
}


// Returns the end of the lane of i - 1.
static inline int mjgi_simdEnd(int i) {
  return (i + mjgiSIMD - 1) & ~(mjgiSIMD - 1);
}


// Returns a lane with 0 before its skip-th number and 1 from there, 0 <= skip <= mjgiSIMD.
static inline const mjgiSimd* mjgi_simdFrom(int skip) {
  static const double ones[2 * mjgiSIMD] = {0, 0, 0, 0, 1, 1, 1, 1};
  return (const mjgiSimd*)(ones + mjgiSIMD - skip);
}


// y += factor x, n numbers
static inline void mjgi_addScaled(double* restrict y, const double* restrict x, double factor,
                                  int n) {
  int i = 0;
  for (; i + mjgiSIMD <= n; i += mjgiSIMD) {
    *(mjgiSimd*)(y + i) += factor * *(const mjgiSimd*)(x + i);
  }
  for (; i < n; i++) {
    y[i] += factor * x[i];
  }
}


// BODY(count) for up to mjgiWIDE lanes at once from begin to end, with constant count, so that
// the compiler keeps the lanes in registers
#define mjgiWIDE 4
#define mjgiFOR_SIMD(BODY, begin, end)                      \
  for (; (begin) < (end); (begin) += mjgiWIDE * mjgiSIMD) { \
    switch (((end) - (begin)) / mjgiSIMD) {                 \
      case 1:                                               \
        BODY(1);                                            \
        break;                                              \
      case 2:                                               \
        BODY(2);                                            \
        break;                                              \
      case 3:                                               \
        BODY(3);                                            \
        break;                                              \
      default:                                              \
        BODY(mjgiWIDE);                                     \
    }                                                       \
  }

#endif  // MJGEAR_SIMD_H_

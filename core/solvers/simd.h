// Four numbers at a time, in the vector types that gcc and clang know on every machine.
//
// A matrix "in lanes" has rows of whole lanes, mjgi_simdEnd(n) numbers apart. What is
// behind the n-th number of a row never matters; it is there so that loops may run over
// whole lanes.

#ifndef MJGEAR_SIMD_H_
#define MJGEAR_SIMD_H_

#define mjgiSIMD 4  // numbers a lane

typedef double mjgiSimd __attribute__((vector_size(8 * mjgiSIMD), aligned(8)));


// start of the lane that i is in
static inline int mjgi_simdBegin(int i) {
  return i & ~(mjgiSIMD - 1);
}


// end of the lane that i - 1 is in
static inline int mjgi_simdEnd(int i) {
  return (i + mjgiSIMD - 1) & ~(mjgiSIMD - 1);
}


// 1 from the skip-th number of a lane on, 0 before it, 0 <= skip <= mjgiSIMD
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


// BODY(count) for up to mjgiWIDE lanes from begin on, until end is reached, with constant
// count, so that the compiler unrolls its loops over the lanes and keeps them in
// registers
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

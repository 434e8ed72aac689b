// Four numbers at a time: the loops that the coupled step spends its time in.
//
// Rows are stored in whole lanes, so that a loop over part of a row may run over whole lanes as well;
// what it does to entries outside of the part must not matter.

#ifndef MJGEAR_PLUGIN_LANES_H_
#define MJGEAR_PLUGIN_LANES_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#define mjgpLANE 4  // numbers a lane

typedef mjtNum mjgpLane __attribute__((vector_size(8 * mjgpLANE), aligned(8)));
typedef int64_t mjgpBits __attribute__((vector_size(8 * mjgpLANE)));
_Static_assert(sizeof(mjgpLane) == mjgpLANE * sizeof(mjtNum), "the engine's numbers are doubles");


// start of the lane that i is in
static inline int mjgp_laneBegin(int i) {
  return i & ~(mjgpLANE - 1);
}


// end of the lane that i - 1 is in
static inline int mjgp_laneEnd(int i) {
  return (i + mjgpLANE - 1) & ~(mjgpLANE - 1);
}


// y = n of the size numbers of x from adr on, in whole lanes where x has them
static inline void mjgp_copyLanes(mjtNum* restrict y, const mjtNum* restrict x, int adr, int n,
                                  int size) {
  int i = 0;
  for (; i < n && adr + i + mjgpLANE <= size; i += mjgpLANE) {
    *(mjgpLane*)(y + i) = *(const mjgpLane*)(x + adr + i);
  }
  for (; i < n; i++) {
    y[i] = x[adr + i];
  }
}


// y += factor x in the lanes from begin to end
static inline void mjgp_addLanes(mjtNum* restrict y, const mjtNum* restrict x, mjtNum factor,
                                 int begin, int end) {
  for (int i = begin; i < end; i += mjgpLANE) {
    *(mjgpLane*)(y + i) += factor * *(const mjgpLane*)(x + i);
  }
}


// x *= factor in the lanes from begin to end
static inline void mjgp_scaleLanes(mjtNum* x, mjtNum factor, int begin, int end) {
  for (int i = begin; i < end; i += mjgpLANE) {
    *(mjgpLane*)(x + i) *= factor;
  }
}


// x . y in the lanes from begin to end
static inline mjtNum mjgp_dotLanes(const mjtNum* x, const mjtNum* y, int begin, int end) {
  mjgpLane sum = {0};
  for (int i = begin; i < end; i += mjgpLANE) {
    sum += *(const mjgpLane*)(x + i) * *(const mjgpLane*)(y + i);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}


// BODY(count) for up to mjgpWIDE lanes from begin on, until end is reached, with constant count, so that the
// compiler unrolls its loops over the lanes and keeps them in registers
#define mjgpWIDE 4
#define mjgpFOR_LANES(BODY, begin, end)                     \
  for (; (begin) < (end); (begin) += mjgpWIDE * mjgpLANE) { \
    switch (((end) - (begin)) / mjgpLANE) {                 \
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
        BODY(mjgpWIDE);                                     \
    }                                                       \
  }

#endif  // MJGEAR_PLUGIN_LANES_H_

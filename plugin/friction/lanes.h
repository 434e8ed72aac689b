// Four numbers at a time: the loops that the coupled step spends its time in.
//
// Rows are stored in whole lanes, so that a loop over part of a row may run over whole lanes as well;
// what it does to entries outside of the part must not matter.

#ifndef MJGEAR_PLUGIN_LANES_H_
#define MJGEAR_PLUGIN_LANES_H_

#include <mujoco/mujoco.h>
#include <stdint.h>

#include "solvers/lane.h"

typedef int64_t mjgpBits __attribute__((vector_size(8 * mjgiLANE)));
_Static_assert(sizeof(mjgiLane) == mjgiLANE * sizeof(mjtNum), "the engine's numbers are doubles");


// y = n of the size numbers of x from adr on, in whole lanes where x has them
static inline void mjgp_copyLanes(mjtNum* restrict y, const mjtNum* restrict x, int adr, int n,
                                  int size) {
  int i = 0;
  for (; i < n && adr + i + mjgiLANE <= size; i += mjgiLANE) {
    *(mjgiLane*)(y + i) = *(const mjgiLane*)(x + adr + i);
  }
  for (; i < n; i++) {
    y[i] = x[adr + i];
  }
}


// y += factor x in the lanes from begin to end
static inline void mjgp_addLanes(mjtNum* restrict y, const mjtNum* restrict x, mjtNum factor,
                                 int begin, int end) {
  for (int i = begin; i < end; i += mjgiLANE) {
    *(mjgiLane*)(y + i) += factor * *(const mjgiLane*)(x + i);
  }
}


// x *= factor in the lanes from begin to end
static inline void mjgp_scaleLanes(mjtNum* x, mjtNum factor, int begin, int end) {
  for (int i = begin; i < end; i += mjgiLANE) {
    *(mjgiLane*)(x + i) *= factor;
  }
}


// x . y in the lanes from begin to end
static inline mjtNum mjgp_dotLanes(const mjtNum* x, const mjtNum* y, int begin, int end) {
  mjgiLane sum = {0};
  for (int i = begin; i < end; i += mjgiLANE) {
    sum += *(const mjgiLane*)(x + i) * *(const mjgiLane*)(y + i);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif  // MJGEAR_PLUGIN_LANES_H_

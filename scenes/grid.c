#include "grid.h"

#include <math.h>


int mjg_gridPoint(const mjModel* m, const mjData* d) {
  return (int)lround(d->time / m->opt.timestep);
}


int mjg_lastGridPoint(const mjModel* m, const mjData* d) {
  return mjg_gridPoint(m, d) - 1;
}


double mjg_gridValue(int i, int n, double most) {
  return most * (2.0 * i / (n - 1) - 1);
}

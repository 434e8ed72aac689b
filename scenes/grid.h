// Scenes in which nothing moves: each step is one point of a grid, and row i of the recording is point i.

#ifndef SCENES_GRID_H_
#define SCENES_GRID_H_

#include <mujoco/mujoco.h>

// number of the step that begins at d->time, and of the step that ends there
int mjg_gridPoint(const mjModel* m, const mjData* d);
int mjg_lastGridPoint(const mjModel* m, const mjData* d);

// the i-th of n values from -most to most
double mjg_gridValue(int i, int n, double most);

#endif  // SCENES_GRID_H_

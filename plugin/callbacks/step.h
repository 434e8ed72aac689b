// The plugin's part of the engine's step: its compute and advance callbacks.

#ifndef MJGEAR_PLUGIN_STEP_H_
#define MJGEAR_PLUGIN_STEP_H_

#include <mujoco/mujoco.h>

#include "configuration/jacobian.h"
#include "state/gears.h"

// friction of this step (step.c); state of the next (advance.c)
void mjgp_compute(const mjModel* m, mjData* d, int instance, int capability_bit);
void mjgp_advance(const mjModel* m, mjData* d, int instance);

// g->in: joints that are awake, with velocity and position, and their trees
void mjgp_gatherActive(mjgpGears* g, const mjModel* m, const mjData* d);

// force += scale times the forces applied to bodies                                  (nv)
void mjgp_addWrenches(mjtNum* force, const mjModel* m, mjData* d, mjtNum scale);

// Set no friction in this step, and a status with the reason.
void mjgp_reportNoFriction(mjgpGears* g, mjData* d, const mjModel* m, int status);

// Returns 1 if mj_passive calls plugins; otherwise it leaves passive forces at zero.
static inline int mjgp_passiveActive(const mjModel* m) {
  int flags = mjDSBL_SPRING | mjDSBL_DAMPER;
  return (m->opt.disableflags & flags) != flags;
}

// Returns the velocity on which gear i acts.
static inline mjtNum mjgp_velocityOf(const mjgpGears* g, const mjData* d, int i) {
  return mjgp_mulRow(g->in.E[i], d->qvel);
}

#endif  // MJGEAR_PLUGIN_STEP_H_

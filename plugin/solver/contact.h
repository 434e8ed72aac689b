// Forces of the constraint rows: the engine's constraint cost and its derivatives at jar = J a - aref.

#ifndef MJGEAR_PLUGIN_CONTACT_H_
#define MJGEAR_PLUGIN_CONTACT_H_

#include "solver/island.h"

// Compute forces f and states at jar, and Hessians of cones (nullable). Returns the cost.
mjtNum mjgp_constraintForce(const mjgpGroup* group, mjtNum* f, int* state, mjtNum* cone,
                            const mjtNum* jar);

// Compute forces f at group->jar with the present states of the rows.
void mjgp_forceInStates(mjgpGroup* group);

// Returns the slope of the constraint cost along row at jar = from + share row.
mjtNum mjgp_slopeAlong(const mjgpGroup* group, const mjtNum* from, const mjtNum* row, mjtNum share);

// Returns 1 if a contact slides on its cone: H changes as it turns.
static inline int mjgp_hasSliding(const mjgpGroup* group) {
  for (int i = 0; i < group->nefc && group->ncone; i++) {
    if (group->state[i] == mjCNSTRSTATE_CONE) {
      return 1;
    }
  }
  return 0;
}

// Set the row states of the last step and the forces in them at group->jar: at this step's
// reference acceleration rows that stay active may be open. Jw (nullable: J a): J times the
// integrator's acceleration. last, since: scratch                                  (nefc)
void mjgp_startStates(mjgpGroup* group, const mjModel* m, const mjData* d, const mjtNum* Jw,
                      mjtNum* last, mjtNum* since);

#endif  // MJGEAR_PLUGIN_CONTACT_H_

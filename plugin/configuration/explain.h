// Facts about a geared joint of a model in a pose.

#ifndef MJGEAR_PLUGIN_EXPLAIN_H_
#define MJGEAR_PLUGIN_EXPLAIN_H_

#include "configuration/config.h"

// Explain a gear in the pose of the last mj_forward: with the engine's rotor inertia, the inertia
// behind it if all other joints move freely, and the load that it holds (1 if that is 0). Sets
// *load (nullable) to this load; of a tendon, the force along it that keeps its length.
void mjgp_explain(mjgFacts* facts, double* load, const mjModel* m, mjData* d,
                  const mjgpJoint* joint);

#endif  // MJGEAR_PLUGIN_EXPLAIN_H_

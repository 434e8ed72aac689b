// What can be said about a geared joint of a model in a pose.

#ifndef MJGEAR_PLUGIN_EXPLAIN_H_
#define MJGEAR_PLUGIN_EXPLAIN_H_

#include "configuration/config.h"

// what its gear does, with the rotor inertia that the engine has, the inertia that it
// moves if all other joints can move freely, rotor excluded, and the load that it holds
// now, or 1 if that is 0. The pose is that of the last mj_forward. Sets *load (nullable)
// to the load that it holds now: of a tendon the force along it that keeps its length
// while the joints move as they like otherwise.
void mjgp_explain(mjgFacts* facts, double* load, const mjModel* m, mjData* d,
                  const mjgpJoint* joint);

#endif  // MJGEAR_PLUGIN_EXPLAIN_H_

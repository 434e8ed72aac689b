// Newton steps on gaps and constraints together.
//
// With the torques of shafts as functions of their joints' accelerations (shafts.h) the step is
//
//   M a - b - J' f(J a - aref) + E' t(R a) = 0        R: rows that turn a into the acceleration of the integrator
//
// While constraints keep their states and shafts their pieces it is linear. In one metric, R = E, the tangents of the shafts
// are terms on the diagonal of the Hessian, which is factored as if there were none; in two the equations are
// dense and not symmetric. Effects of joints on each other are not needed in either.

#ifndef MJGEAR_PLUGIN_SHAFT_STEPS_H_
#define MJGEAR_PLUGIN_SHAFT_STEPS_H_

#include "coupled/newton.h"

// from the acceleration in s; 1 if solved, results in s->g. Only where all joints are behind gaps and the step has one
// solution (mjgp_areShafts)
int mjgp_shaftSteps(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_SHAFT_STEPS_H_

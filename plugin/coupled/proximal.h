// Gaps behind rotors and constraints together, as minimization (proximal point method).
//
// While gears can be driven from both sides, the torque t that a shaft with rotor and gear takes from its joint grows
// with the joint's acceleration. With constraints it is then the gradient of a convex function, in one metric, and the
// step its minimum:
//
//   M a - b - J' f(J a - aref) + E' t(E a) = 0
//
// t may jump where a gap closes. The line on which a joint's acceleration falls by c where t grows by 1 meets such a
// relation in one point, so that with t_k the friction of the round before, t(E a + c t_k) is continuous: it is the
// gradient of the Moreau envelope. Newton steps with an exact line search find the minimum for any c; with t_k the t
// found there, rounds come to that without c.

#ifndef MJGEAR_PLUGIN_PROXIMAL_H_
#define MJGEAR_PLUGIN_PROXIMAL_H_

#include "coupled/delassus.h"

// from the acceleration and friction in s; 1 if solved, results in s->g. Not where joints without a gap are among them
int mjgp_proximal(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_PROXIMAL_H_

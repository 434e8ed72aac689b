// A group by one factorization: friction of guessed pieces as lines in the Hessian.
//
// In one metric, with joints that have one solution, friction depends on the acceleration of its own joint alone, and
// changes nothing but the diagonal of the Hessian where a joint slips; where it is stuck its acceleration is known.
// Pieces are those of the last step, then those that the law names.

#ifndef MJGEAR_PLUGIN_GUESS_H_
#define MJGEAR_PLUGIN_GUESS_H_

#include "coupled/newton.h"

// friction and acceleration of the group from s->a and the pieces of the last step, results in s->g; 0 if a few guesses
// were not enough, or this is no such group
int mjgp_solveGuess(mjgpStep* s);

#endif  // MJGEAR_PLUGIN_GUESS_H_

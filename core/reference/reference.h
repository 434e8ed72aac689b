// Methods that serve as a reference: the paper's own, the literature's, and every combination of pieces. They
// are selected by mjgSettings and never called by the default. See solvers/solvers.h for what they return.

#ifndef MJGEAR_REFERENCE_H_
#define MJGEAR_REFERENCE_H_

#include "solvers/workspace.h"

// the paper's projection with nested fixed point
int mjgi_projection(mjgiBlock* b, int iterations, double tolerance);

// Korpelevich's two-step projection
int mjgi_extragradient(mjgiBlock* b, mjgiScratch* s, int iterations, double tolerance);

// the only solution, or of several ones that of the jamming rule; does not use block->t. Returns 0 if there is none,
// 1, or 2 if there are several
int mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, double tolerance);

#endif  // MJGEAR_REFERENCE_H_

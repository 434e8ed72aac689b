// Methods that serve as a reference: the paper's own, the literature's, and every combination of pieces. They
// are selected by mjgSettings and never called by the default. See solvers/solvers.h for what they return.

#ifndef MJGEAR_REFERENCE_H_
#define MJGEAR_REFERENCE_H_

#include "solvers/workspace.h"

// the paper's projection with nested fixed point
int mjgi_projection(mjgiBlock* b, int iterations, double tolerance);

// Korpelevich's two-step projection
int mjgi_extragradient(mjgiBlock* b, mjgiScratch* s, int iterations, double tolerance);

// visit all solutions; returns how many combinations of pieces have one, more than there are
// solutions if one lies where pieces meet
int mjgi_enumerate(mjgiBlock* b, int* piece, double tolerance,
                   void (*visit)(void* data, const mjgiBlock* b), void* data);

// the only solution, or of several ones that of the jamming rule; does not use block->t.
// Sets several to 1 if there are several ones, else 0
int mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, int* several, double tolerance);

#endif  // MJGEAR_REFERENCE_H_

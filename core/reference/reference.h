// Reference methods: the paper's, the literature's, and enumeration, selected by mjgSettings.
// Results as in solvers/solvers.h.

#ifndef MJGEAR_REFERENCE_H_
#define MJGEAR_REFERENCE_H_

#include "solvers/workspace.h"

// the paper's projection with nested fixed point, and Korpelevich's two-step projection
void mjgi_projection(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);
void mjgi_extragradient(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// Compute the load at directions of motion s, from block->lambda, and t and w = A t: by the fixed
// point of Remark 3, at most iterations of it, or by generalized Newton. Returns 0 if lambda was
// not found, else 1.
int mjgi_viEvaluate(mjgiBlock* b, const double* s, int flg_newton, int iterations,
                    double tolerance);

// find the only solution, or of several the one of the jamming rule; does not use
// block->t
void mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

#endif  // MJGEAR_REFERENCE_H_

// Methods that serve as a reference: the paper's own, the literature's, and every
// combination of pieces. They are selected by mjgSettings and never called by the
// default. See solvers/solvers.h for what they return.

#ifndef MJGEAR_REFERENCE_H_
#define MJGEAR_REFERENCE_H_

#include "solvers/workspace.h"

// the paper's projection with nested fixed point, and Korpelevich's two-step projection
void mjgi_projection(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);
void mjgi_extragradient(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

// of both: the load at directions of motion s, from the load that is in block->lambda,
// and with it t and w = A t of the block. By fixed point as in Remark 3, up to iterations
// of it, else by generalized Newton. Returns 1, or 0 if lambda was not found
int mjgi_viEvaluate(mjgiBlock* b, const double* s, int flg_newton, int iterations,
                    double tolerance);

// the only solution, or of several ones that of the jamming rule; does not use block->t
void mjgi_enumeration(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings);

#endif  // MJGEAR_REFERENCE_H_

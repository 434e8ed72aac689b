// The homotopy that a path follows (path.h): inputs of the gears and residual that move with x from a
// known solution at x = 0 to the step at x = 1.

#ifndef MJGEAR_PLUGIN_HOMOTOPY_H_
#define MJGEAR_PLUGIN_HOMOTOPY_H_

#include "solver/delassus.h"

// Start of a path: at the last step; at Newton's last iterate; far from rest, in two metrics; at rest,
// at the engine's own solution without friction; at rest with the acceleration of the last step. The
// first two lie near, and most of their paths end after some segments, but they may lead away from all
// solutions
typedef enum mjgpStart_ {
  mjgpSTART_LAST = 0,
  mjgpSTART_NEAR,
  mjgpSTART_FAR,
  mjgpSTART_REST,
  mjgpSTART_STILL,
  mjgpNSTART
} mjgpStart;

// inputs of a gear that change with x
typedef struct mjgpInputs_ {
  mjtNum v, tau, coulomb;
} mjgpInputs;

typedef struct mjgpHomotopy_ {
  mjgpStep* s;
  mjtNum unit;        // unit of torque over the root of an inertia
  mjtNum* G;          // residual at the start, scaled by 1 - x                      (nv)
  mjgpInputs* begin;  // inputs of the gears at x = 0                                (n)
  mjgpInputs* end;    // and in the step                                             (n)
} mjgpHomotopy;

// Allocate on d's stack, for the gears at the inputs of the step.
void mjgp_makeHomotopy(mjgpHomotopy* homotopy, mjgpStep* s);

// Set the inputs of the gears at x.
void mjgp_setInputs(const mjgpHomotopy* homotopy, mjtNum x);

// Set s->a, s->acc, s->t, the row states, the branches and the inputs of a start, x = 0. The start at
// Newton's last iterate takes s->a and s->t as they are. Returns 0 if there is no such start.
int mjgp_startHomotopy(mjgpHomotopy* homotopy, mjgpStart kind);

// Returns the load of gear i at s->acc, s->t and its inputs.
static inline mjtNum mjgp_loadAt(const mjgpStep* s, int i) {
  const mjgpPiece* piece = s->piece + i;
  mjtNum u = mjgp_torqueOfPiece(piece, s->acc[i], mjgp_taken(s, s->acc, i));
  return mjgi_lawLoad(piece->gamma_u, piece->gamma_v, u, s->t[i]);
}

#endif  // MJGEAR_PLUGIN_HOMOTOPY_H_

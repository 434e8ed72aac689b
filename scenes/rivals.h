// The friction that MuJoCo offers by itself for a joint: a constant, at the engine's defaults and tuned.

#ifndef SCENES_RIVALS_H_
#define SCENES_RIVALS_H_

#include "scene.h"

// springyield is in the engine from this release on
#define mjgHAS_YIELD (mjVERSION_HEADER >= 4000000)

// format of a bound of friction
typedef enum mjgRival_ {
  mjgRIVAL_NONE = 0,
  mjgRIVAL_LOSS = 1,          // frictionloss, with the engine's defaults
  mjgRIVAL_SOLIMP = 2,        // frictionloss with solimp .9999, the hardest that the engine takes
  mjgRIVAL_SOLREF = 3,        // with solref of two steps too, its minimum
  mjgRIVAL_YIELD = 4,         // springyield: a spring that yields at the bound, without damping
  mjgRIVAL_YIELD_DAMPED = 5,  // springyield with critical damping
} mjgRival;

// angle or length at which a spring of mjgRIVAL_YIELD yields, more where it must be softer to be stable
#define mjgYIELD 3e-4

// the rival of a case is its first parameter
#define mjgRIVAL(variant) ((mjgRival)(variant)->parameter[0])

// For the member specify of a scene: if the rival is a yielding spring, let the engine keep the
// state of each hinge and slide that needs it.
void mjg_reserveRival(mjSpec* spec, const mjgCase* variant);

// Give a hinge or slide a friction bound, N m or N, in place of its own.
void mjg_setRival(mjModel* m, int joint, mjgRival rival, double bound);

// Give each joint with a motor a bound: the larger of a floor and `factor` times its load at the
// first state, without contacts. Springs rest at that state.
void mjg_setRivals(mjModel* m, mjgRival rival, double factor, double floor);

#endif  // SCENES_RIVALS_H_

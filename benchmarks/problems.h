// Families of friction problems, random and adversarial, for benchmarks and tests.

#ifndef MJGEAR_BENCHMARKS_PROBLEMS_H_
#define MJGEAR_BENCHMARKS_PROBLEMS_H_

#include "chains.h"
#include "problem_file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mjgKind_ {
  // problems of robots: serial chains in random states
  mjgKIND_CHAIN = 0,  // 0 <= gamma < 1
  mjgKIND_LOCKING,    // gamma_v up to 3: also non-backdrivable
  mjgKIND_COULOMB,    // gamma_v up to 3, with load-independent and static friction

  // hard problems for solvers
  mjgKIND_TIE,       // gamma < 1, joints on or within rounding of the bound or of rest
  mjgKIND_ROTOR,     // rotors without inertia or with up to 1e6 times that of the link
  mjgKIND_EDGE,      // gamma on 1 or within 1e-15 .. 1e-2 of it
  mjgKIND_BEYOND,    // gamma_u from -1 to 2, gamma_v from -1 to 10
  mjgKIND_SINGULAR,  // A with condition numbers up to 1e13
  mjgKIND_EQUAL,     // small integers: equal joints, equal bounds, zeros, exact ties
  mjgKIND_SCALE,     // units of torque and angle between 1e-12 and 1e12
  mjgKIND_RELAY,     // P = 0: box friction
  mjgKIND_SKEW,      // A not symmetric

  mjgNKIND,
  mjgNCHAINKIND = mjgKIND_TIE  // kinds below this one are unmodified chains
} mjgKind;

// name of a kind, for example "locking"; null for an unknown kind
const char* mjg_kindName(int kind);

// 1 if problems of this kind have one solution by theory: A symmetric, 0 <= gamma < 1, no static
// bound above the sliding one
int mjg_isUnique(int kind);

// fill record with a random problem of n joints in one block; the same state of random gives the
// same problem. Where the solution is planted, record->t holds it. Returns 0 if memory ran out.
int mjg_randomProblem(mjgRecord* record, int kind, int n, mjgRandom* random);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_PROBLEMS_H_

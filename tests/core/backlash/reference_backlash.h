// Two masses, a gap and a shaft between them, and gear friction on the driving side: integrated
// with fine Runge-Kutta steps that end on every event (touch, release, stick, slip). The laws
// are implemented again here, from the zones of the papers, without code of the core.

#ifndef MJGEAR_TESTS_REFERENCE_BACKLASH_H_
#define MJGEAR_TESTS_REFERENCE_BACKLASH_H_

#include "mjgear_backlash.h"

typedef double (*refTorque)(double time);

typedef struct refSystem_ {
  mjgBacklash law;
  double motor, load;                // inertias
  double gamma_u, gamma_v, coulomb;  // gear friction of the motor side
  refTorque motor_torque, load_torque;
} refSystem;

typedef struct refState_ {
  double time;
  double y[6];     // motor angle and velocity, load angle and velocity, theta_b, rate of theta_s
  int gap;         // zone of the law at this state
  int slip;        // -1, 0, 1
  double T;        // current shaft torque
  double loss;     // energy that shaft and gap have dissipated
  double impulse;  // integral of T
  int touches;     // number of times that T left zero
} refState;

// areas and modes of the current state; theta_b must be set for laws with state
void ref_start(refState* state, const refSystem* system);

// advance to a time with steps of at most dt
void ref_advance(refState* state, const refSystem* system, double time, double dt);

// torque of a stateless law, from the areas of the papers
double ref_torque(const mjgBacklash* law, double theta, double omega);

#endif  // MJGEAR_TESTS_REFERENCE_BACKLASH_H_

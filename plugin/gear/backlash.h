// Backlash between a rotor and its joint.
//
// Form (a): the rotor is state of the plugin, behind one joint of the model. The motor
// torque of the joint acts on the rotor, the joint receives the torque of the shaft. The
// state is the rotor's angle and velocity minus the joint's, so that a rotor follows
// wherever its joint is put.
//
// Form (b): motor and load are joints of the model. The plugin couples the difference of
// their positions. Gear friction acts on the motor joint.
//
// Each joint with backlash has numbers of its own in plugin_state (layout.h).

#ifndef MJGEAR_PLUGIN_BACKLASH_H_
#define MJGEAR_PLUGIN_BACKLASH_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"
#include "state/gears.h"

// Make the coupling of an active joint in this step from its state, motor torque and law
// in g.
void mjgp_makeCoupling(mjgpGears* g, const mjModel* m, const mjData* d, int i);

// Returns 1 if no gap has made a step since the reset.
int mjgp_areGapsNew(const mjgpGears* g, const mjData* d);

// Advance the state of the gap; d has the velocity after the step.
void mjgp_advanceGap(const mjgpGears* g, const mjModel* m, mjData* d, int i);

// Add the rotor to lengths and velocities of actuators with encoders on it, or remove it (sign
// -1).
void mjgp_addEncoder(const mjgpGears* g, const mjModel* m, mjData* d, int sign);

// Find the present angle and velocity of the rotor.
void mjgp_rotorMotion(mjtNum* angle, mjtNum* velocity, const mjgpGears* g, const mjModel* m,
                      const mjData* d, int i);

#endif  // MJGEAR_PLUGIN_BACKLASH_H_

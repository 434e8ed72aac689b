// Backlash between a rotor and its joint: what is configured, kept and seen by the
// engine.
//
// Form (a): the rotor is state of the plugin, behind one joint of the model. The motor
// torque of the joint acts on the rotor, the joint receives the torque of the shaft. The
// state is the rotor's angle and velocity minus the joint's, so that a rotor follows
// wherever its joint is put.
//
// Form (b): motor and load are joints of the model. The plugin couples the difference of
// their positions. Gear friction is the motor joint's.
//
// Each joint with backlash has numbers of its own in plugin_state (layout.h).

#ifndef MJGEAR_PLUGIN_BACKLASH_H_
#define MJGEAR_PLUGIN_BACKLASH_H_

#include <mujoco/mujoco.h>

#include "configuration/config.h"
#include "state/gears.h"

// coupling of an active joint in this step, from its state, motor torque and law in g
void mjgp_makeCoupling(mjgpGears* g, const mjModel* m, const mjData* d, int i);

// has no gap of the model made a step since it was reset
int mjgp_areGapsNew(const mjgpGears* g, const mjData* d);

// keep what the step did to the gap; d has the velocity after it
void mjgp_advanceGap(const mjgpGears* g, const mjModel* m, mjData* d, int i);

// lengths and velocities of actuators as an encoder on the rotor measures them: add them,
// or take them off again (sign -1)
void mjgp_addEncoder(const mjgpGears* g, const mjModel* m, mjData* d, int sign);

// rotor angle and velocity, now
mjtNum mjgp_rotorAngle(const mjgpGears* g, const mjData* d, int i);
mjtNum mjgp_rotorVelocity(const mjgpGears* g, const mjModel* m, const mjData* d, int i);

#endif  // MJGEAR_PLUGIN_BACKLASH_H_

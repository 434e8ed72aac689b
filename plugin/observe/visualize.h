// Geared joints in the engine's own scene, for every viewer that draws it.
//
// Around a geared hinge stands a ring in the colour of the joint's state, and on it an
// arc with an arrow head. The arrow shows the direction in which friction acts on the
// link, the arc's length the friction torque. All joints have one scale: a full arc is
// the largest present torque in or out of any gear. With a single joint the arc is the
// share of torque that friction takes. Backlash is a sector, drawn 60 degrees wide, in
// which a needle shows where the rotor is. At a slide ring and arc are a rod and an arrow
// beside the axis, with a scale of their own. Switching off the joint's group hides them;
// with labels of joints the arrow shows the torque.

#ifndef MJGEAR_PLUGIN_VISUALIZE_H_
#define MJGEAR_PLUGIN_VISUALIZE_H_

#include <mujoco/mujoco.h>

#include "configuration/sensors.h"

// names of a gear's states (mjgpGEAR_*)
static const char* const mjgpStateName[mjgpNGEARSTATE] = {"stuck",  "driving", "driven",
                                                          "locked", "in gap",  "driven by both"};

// red, green, blue: colours of Okabe and Ito, which colour-blind eyes tell apart
static const float mjgpStateColor[mjgpNGEARSTATE][3] = {
    {0.00f, 0.45f, 0.70f}, {0.00f, 0.62f, 0.45f}, {0.90f, 0.62f, 0.00f},
    {0.80f, 0.47f, 0.65f}, {0.94f, 0.89f, 0.26f}, {0.84f, 0.37f, 0.00f},
};

// plugin callback
void mjgp_visualize(const mjModel* m, mjData* d, const mjvOption* opt, mjvScene* scn, int instance);

#endif  // MJGEAR_PLUGIN_VISUALIZE_H_

// Geared joints in the engine's own scene, for every viewer that draws it.
//
// Around a geared hinge stands a ring in the colour of what the joint does, and on it an arc with an
// arrow head: the direction in which friction acts on the link, and as its length the share of the
// larger of the torques in and out of the gear that friction takes; a full arc is friction that
// carries all of the load. Backlash is a sector, drawn 60 degrees wide, in which a needle shows where
// the rotor is. At a slide the arc is an arrow along the axis. Switching off the joint's
// group hides both; with labels of joints the arrow tells the torque.

#ifndef MJGEAR_PLUGIN_VISUALIZE_H_
#define MJGEAR_PLUGIN_VISUALIZE_H_

#include <mujoco/mujoco.h>

enum {
  mjgpSHOW_STUCK = 0,    // stands still, friction holds
  mjgpSHOW_DRIVING = 1,  // moves, the motor drives the link
  mjgpSHOW_DRIVEN = 2,   // moves, the link drives the gear: back-driven, or braked by friction
  mjgpSHOW_JAMMED = 3,   // stands still, and would however large the torque in its direction was
  mjgpSHOW_GAP = 4,      // teeth do not touch: the rotor is free in the backlash gap
  mjgpNSHOW = 5
};

static const char* const mjgpShowName[mjgpNSHOW] = {"stuck", "driving", "driven", "jammed",
                                                    "in gap"};

// red, green, blue; distinct by lightness too
static const float mjgpShowColor[mjgpNSHOW][3] = {
    {0.35f, 0.45f, 0.75f}, {0.10f, 0.72f, 0.45f}, {0.85f, 0.42f, 0.00f},
    {0.80f, 0.10f, 0.12f}, {0.95f, 0.90f, 0.35f},
};

// plugin callback
void mjgp_visualize(const mjModel* m, mjData* d, const mjvOption* opt, mjvScene* scn, int instance);

#endif  // MJGEAR_PLUGIN_VISUALIZE_H_

// How geared joints are drawn in the engine's scene: what a colour says.

#ifndef MJGEAR_PLUGIN_VISUALIZE_H_
#define MJGEAR_PLUGIN_VISUALIZE_H_

enum {
  mjgSHOW_STUCK = 0,               // stands still, friction holds
  mjgSHOW_DRIVING = 1,             // moves, the motor drives the link
  mjgSHOW_DRIVEN = 2,              // moves, the link drives the gear: back-driven or braked
  mjgSHOW_JAMMED = 3,              // stopped by its own friction where the step had another solution
  mjgSHOW_GAP = 4,                 // teeth do not touch: rotor free in the backlash gap
  mjgNSHOW = 5
};

static const char* const mjgShowName[mjgNSHOW] = {"stuck", "driving", "driven", "jammed", "in gap"};

// red, green, blue; distinct for most colour-blind eyes, by lightness too
static const float mjgShowColor[mjgNSHOW][3] = {{0.45f, 0.50f, 0.60f},
                                                {0.10f, 0.72f, 0.45f},
                                                {0.95f, 0.60f, 0.05f},
                                                {0.80f, 0.10f, 0.12f},
                                                {0.95f, 0.90f, 0.35f}};

#endif  // MJGEAR_PLUGIN_VISUALIZE_H_

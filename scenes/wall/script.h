// Common parts of the two scenes of the wall: cases, schedule, claims. Kikuuwe 2022, section 6.2.

#ifndef SCENES_WALL_SCRIPT_H_
#define SCENES_WALL_SCRIPT_H_

#include "../helpers.h"

#define mjgWALL_STIFFNESS 1e4  // N/m
#define mjgWALL_GAMMA_U   0.1
#define mjgWALL_DURATION  3.0  // s

// parameters of a case
#define mjgWALL_GAMMA_V(variant)  ((variant)->parameter)     // of both joints
#define mjgWALL_IMPLICIT(variant) ((variant)->parameter[2])  // viscosity: 0 explicit, 1 implicit

// name, setting and parameters of a case
#define mjgWALL_CASE(g0, g1, implicit, suffix)                  \
  "gamma_v=" #g0 "," #g1 suffix, "gear.gamma_v=" #g0 " " #g1, { \
    g0, g1, implicit                                            \
  }

// the five cases of the paper; claims expect them first, in this order
#define mjgWALL_CASES(implicit, suffix)                                                         \
  {mjgWALL_CASE(0.1, 0.1, implicit, suffix)}, {mjgWALL_CASE(0.6, 0.6, implicit, suffix)},       \
      {mjgWALL_CASE(1.1, 1.1, implicit, suffix)}, {mjgWALL_CASE(0.1, 1.1, implicit, suffix)}, { \
    mjgWALL_CASE(1.1, 0.1, implicit, suffix)                                                    \
  }

// pushing force of the motors at the tip in x direction, and place of the wall
double mjg_wallPush(double time);
double mjg_wallPosition(double time);

// switch the engine's implicit damping on or off as the case says
void mjg_wallConfigure(mjModel* m, const mjgCase* variant);

// set the push and move the wall
void mjg_wallInput(const mjModel* m, mjData* d, const mjgCase* variant);

// columns px, py (tip), wx (wall); the force from the wall is fx, the fourth, of each scene
#define mjgWALL_COLUMNS "px py wx fx"
void mjg_wallMeasure(double value[3], const mjModel* m, const mjData* d);

void mjg_wallClaims(mjgClaims* claims, const mjgTrajectory* run);

#endif  // SCENES_WALL_SCRIPT_H_

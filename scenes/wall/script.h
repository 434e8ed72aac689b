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

// name, setting and parameters of a case; damping is "" or implicit
#define mjgWALL_CASE(g0, g1, implicit, suffix, damping) \
  "gamma_v=" #g0 "," #g1 suffix, "gear.gamma_v=" #g0 " " #g1 damping, { g0, g1, implicit }

// the five cases of the paper, without and with implicit damping; claims expect them in this order
#define mjgWALL_FIVE(...)                                                                                              \
  {mjgWALL_CASE(0.1, 0.1, __VA_ARGS__)}, {mjgWALL_CASE(0.6, 0.6, __VA_ARGS__)}, {mjgWALL_CASE(1.1, 1.1, __VA_ARGS__)}, \
      {mjgWALL_CASE(0.1, 1.1, __VA_ARGS__)}, {                                                                         \
    mjgWALL_CASE(1.1, 0.1, __VA_ARGS__)                                                                                \
  }
#define mjgWALL_CASES mjgWALL_FIVE(0, "", ""), mjgWALL_FIVE(1, "-implicit", "; flag.eulerdamp=enable")

// pushing force of the motors at the tip in x direction, and place of the wall
double mjg_wallPush(double time);
double mjg_wallPosition(double time);

// set the push and move the wall
void mjg_wallInput(const mjModel* m, mjData* d, const mjgCase* variant);

// columns of tip and wall; fx, the force from the wall, is measured by each scene
#define mjgWALL_COLUMNS "px=site:tip.x py=site:tip.y wx=body:wall.x fx"

void mjg_wallClaims(mjgClaims* claims, const mjgTrajectory* run);

#endif  // SCENES_WALL_SCRIPT_H_

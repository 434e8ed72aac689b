// Schedule of the wall: Kikuuwe 2022, section 6.2.

#ifndef SCENES_WALL_WALL_H_
#define SCENES_WALL_WALL_H_

// pushing force of the motors at the tip in x direction, and place of the wall
double mjg_wallPush(double time);
double mjg_wallPosition(double time);

#endif  // SCENES_WALL_WALL_H_

// Playing a scene step by step: scripted input, the engine's step, the scene's own integration beside
// it, and the record of both.

#ifndef SCENES_PLAY_H_
#define SCENES_PLAY_H_

#include "scene.h"

typedef struct mjgPlay_ {
  const mjgScene* scene;
  const mjgCase* variant;  // null if the scene has none
  const mjModel* m;
  mjData* d;
  mjgTrajectory trajectory;
  int (*readGear)(double* value, const mjModel* m, const mjData* d, int joint);  // of the plugin
  int* geared;        // 1 for each joint of the model that has a gear with friction
  double* own;        // state of the own integration: q, v; null if there is none
  double difference;  // largest difference from own so far
} mjgPlay;

// begin at the state in d, which must live as long as the play; compare: run the scene's own
// integration too. 0: done, -1: one line in error.
int mjg_openPlay(mjgPlay* play, const mjgScene* scene, const mjgCase* variant, const mjModel* m, mjData* d, int compare,
                 char* error, int error_sz);

// one step. 0: done; -1: failed, one line in error
int mjg_stepPlay(mjgPlay* play, char* error, int error_sz);

// 1 if the engine has found a state unusable, and reset it
int mjg_diverged(const mjData* d);

void mjg_closePlay(mjgPlay* play);

// joints of a model that a trajectory has columns of, and the unit of their position: lines "name,rad" or "name,m"
void mjg_writeJoints(const mjModel* m, FILE* file);

#endif  // SCENES_PLAY_H_

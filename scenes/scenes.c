#include <string.h>

#include "scene.h"

extern const mjgScene mjg_scenePowerCut;
extern const mjgScene mjg_sceneTwoLoads;
extern const mjgScene mjg_scenePush;
extern const mjgScene mjg_sceneLetGo;
extern const mjgScene mjg_sceneLanding;
extern const mjgScene mjg_sceneTaught;
extern const mjgScene mjg_sceneTracking;
extern const mjgScene mjg_sceneStewart;
extern const mjgScene mjg_sceneReplay;
extern const mjgScene mjg_sceneRod;
extern const mjgScene mjg_sceneWall;
extern const mjgScene mjg_sceneContact;
extern const mjgScene mjg_sceneRodConstant;
extern const mjgScene mjg_sceneWallConstant;
extern const mjgScene mjg_sceneDrivability;
extern const mjgScene mjg_sceneLambda;
extern const mjgScene mjg_sceneAxproj;
extern const mjgScene mjg_sceneCompensation;
extern const mjgScene mjg_sceneFeedforward;
extern const mjgScene mjg_sceneFlap;
extern const mjgScene mjg_sceneFlapRamp;
extern const mjgScene mjg_sceneFlapCreep;
extern const mjgScene mjg_sceneFlapStop;
extern const mjgScene mjg_sceneLift;
extern const mjgScene mjg_sceneHoist;
extern const mjgScene mjg_sceneSpur;
extern const mjgScene mjg_sceneRigid;
extern const mjgScene mjg_sceneDrop;
extern const mjgScene mjg_sceneHold;
extern const mjgScene mjg_sceneGripper;
extern const mjgScene mjg_sceneArm;
extern const mjgScene mjg_sceneHumanoid;
extern const mjgScene mjg_sceneJack;
extern const mjgScene mjg_sceneBrake;
extern const mjgScene mjg_sceneWinch;
extern const mjgScene mjg_sceneHub;
extern const mjgScene mjg_sceneLimiter;
extern const mjgScene mjg_sceneConvergence;
extern const mjgScene mjg_sceneTwoMass;
extern const mjgScene mjg_sceneCoupling;
extern const mjgScene mjg_sceneGapMap;
extern const mjgScene mjg_sceneLag;
extern const mjgScene mjg_sceneHysteresis;
extern const mjgScene mjg_sceneVibro;
extern const mjgScene mjg_sceneImpact;
extern const mjgScene mjg_sceneDecay;
extern const mjgScene mjg_sceneRattle;
extern const mjgScene mjg_sceneResonance;
extern const mjgScene mjg_sceneInterval;
extern const mjgScene mjg_sceneRupture;
extern const mjgScene mjg_sceneGapServo;
extern const mjgScene mjg_sceneLostMotion;

// clang-format off
const mjgScene* const mjg_scenes[] = {
    &mjg_sceneRod,
    &mjg_scenePowerCut,
    &mjg_sceneTwoLoads,
    &mjg_scenePush,
    &mjg_sceneLetGo,
    &mjg_sceneLanding,
    &mjg_sceneTaught,
    &mjg_sceneTracking,
    &mjg_sceneStewart,
    &mjg_sceneReplay,
    &mjg_sceneWall,
    &mjg_sceneContact,
    &mjg_sceneRodConstant,
    &mjg_sceneWallConstant,
    &mjg_sceneDrivability,
    &mjg_sceneLambda,
    &mjg_sceneAxproj,
    &mjg_sceneCompensation,
    &mjg_sceneFeedforward,
    &mjg_sceneFlap,
    &mjg_sceneFlapRamp,
    &mjg_sceneFlapCreep,
    &mjg_sceneFlapStop,
    &mjg_sceneLift,
    &mjg_sceneHoist,
    &mjg_sceneSpur,
    &mjg_sceneRigid,
    &mjg_sceneDrop,
    &mjg_sceneHold,
    &mjg_sceneGripper,
    &mjg_sceneArm,
    &mjg_sceneHumanoid,
    &mjg_sceneJack,
    &mjg_sceneBrake,
    &mjg_sceneWinch,
    &mjg_sceneHub,
    &mjg_sceneLimiter,
    &mjg_sceneConvergence,
    &mjg_sceneTwoMass,
    &mjg_sceneCoupling,
    &mjg_sceneGapMap,
    &mjg_sceneLag,
    &mjg_sceneHysteresis,
    &mjg_sceneVibro,
    &mjg_sceneImpact,
    &mjg_sceneDecay,
    &mjg_sceneRattle,
    &mjg_sceneResonance,
    &mjg_sceneInterval,
    &mjg_sceneRupture,
    &mjg_sceneGapServo,
    &mjg_sceneLostMotion,
};
// clang-format on
const int mjg_nscene = sizeof mjg_scenes / sizeof *mjg_scenes;


const mjgScene* mjg_findScene(const char* name) {
  for (int i = 0; i < mjg_nscene; i++) {
    if (!strcmp(mjg_scenes[i]->name, name)) {
      return mjg_scenes[i];
    }
  }
  return NULL;
}


const mjgCase* mjg_findCase(const mjgScene* scene, const char* name) {
  for (int i = 0; i < scene->nvariant; i++) {
    if (!strcmp(scene->variant[i].name, name)) {
      return &scene->variant[i];
    }
  }
  return NULL;
}


int mjg_reached(double time, double t) {
  return time > t - 1e-9;
}

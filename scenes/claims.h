// Claims of scenes, and checks of them.

#ifndef SCENES_CLAIMS_H_
#define SCENES_CLAIMS_H_

#include "scene.h"

#define mjgMAXCLAIM 256  // length of one claim

struct mjgClaims_ {
  int n;
  int nfailed;
  struct {
    int holds;
    char text[mjgMAXCLAIM];
  } * claim;  // (n)
};

// the claims of a scene about its runs: its own, and that steps are solved
void mjg_claimAll(mjgClaims* claims, const mjgScene* scene, const mjgTrajectory* run);

void mjg_freeClaims(mjgClaims* claims);

#endif  // SCENES_CLAIMS_H_

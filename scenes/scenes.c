#include "scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear.h"

// declares and lists what the folders have: CMake writes it
#include "scene_list.h"

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

void mjg_listScenes(void) {
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    printf("%-14s %s (%g s)\n", scene->name, scene->caption, scene->duration);
    for (int k = 0; k < scene->nvariant; k++) {
      printf("%-14s %s/%s\n", "", scene->name, scene->variant[k].name);
    }
  }
}

int mjg_reached(double time, double t) { return time > t - 1e-9; }

//---------------------------------- claims ---------------------------------------------------------

void mjg_claim(mjgClaims* claims, int holds, const char* format, ...) {
  // a claim that cannot be kept counts as failed
  size_t size = ((size_t)claims->n + 1) * sizeof *claims->claim;
  void* grown = realloc(claims->claim, size);
  if (!grown) {
    claims->nfailed++;
    return;
  }
  claims->claim = grown;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(claims->claim[claims->n].text, mjgMAXCLAIM, format, arguments);
  va_end(arguments);
  claims->claim[claims->n++].holds = holds != 0;
  claims->nfailed += !holds;
}

// claim that every step was solved and that friction never did positive work, at the joints of all sensors of the plugin
static void claimSolved(mjgClaims* claims, const mjgTrajectory* t) {
  double status = 0, loss = INFINITY;
  int nsensor = 0;
  for (int i = 0; i < t->ncolumn; i++) {
    if (strstr(t->name[i], "_status")) {
      double worst = mjg_highest(t, t->name[i], 0, INFINITY);
      status = isnan(worst) ? INFINITY : fmax(status, worst);
      nsensor++;
    } else if (strstr(t->name[i], "_power_loss")) {
      loss = fmin(loss, mjg_lowest(t, t->name[i], 0, INFINITY));
    }
  }
  mjg_claim(claims, nsensor > 0 && status <= mjgJAMMED && loss >= 0,
            "%s%severy step is solved, and friction never drives: worst status %g, least loss %g W",
            t->variant ? t->variant->name : "", t->variant ? ": " : "", status,
            loss + 0.0);  // -0 is 0
}

void mjg_claimAll(mjgClaims* claims, const mjgScene* scene, const mjgTrajectory* run) {
  if (scene->claims) {
    scene->claims(claims, run);
  }
  for (int i = 0; i < scene->nsolved; i++) {
    claimSolved(claims, &run[i]);
  }
}

void mjg_freeClaims(mjgClaims* claims) {
  free(claims->claim);
  *claims = (mjgClaims){0};
}

#include <stdio.h>
#include <string.h>

#include "scene.h"

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
    printf("%-14s %s (%g s)\n", scene->name, scene->description, scene->duration);
    for (int k = 0; k < scene->nvariant; k++) {
      printf("%-14s %s/%s\n", "", scene->name, scene->variant[k].name);
    }
  }
}

int mjg_reached(double time, double t) { return time > t - 1e-9; }

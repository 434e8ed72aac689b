// Loading the plugin and the models of scenes.

#ifndef SCENES_LOAD_H_
#define SCENES_LOAD_H_

#include "scene.h"

// load libmjgear.so: the given file, or if null the file in the environment variable
// MJGEAR_PLUGIN, or ../lib/libmjgear.so relative to the program. 0: done; -1: one line in error.
int mjg_loadPlugin(const char* file, char* error, int error_sz);

// function that the loaded plugin exports: sets *function, which points to any pointer to a
// function. 0: done; -1: the plugin has none of that name.
int mjg_findFunction(void* function, const char* name);

// 1: by its configuration the joint has a gear with friction, else 0
int mjg_hasFriction(const mjModel* m, const mjData* d, int joint);

// path of the scene's MJCF: relative to the environment variable MJGEAR_SCENES, or to scenes/ of the
// sources; absolute paths and paths that begin with "." are kept
void mjg_scenePath(char* path, int path_sz, const mjgScene* scene);

// path of a file beside scenes/, in the sources or the installation: data/..., models/...
void mjg_sharedPath(char* path, int path_sz, const char* name);

// compile a scene in one of its cases (null: the first), with further settings that take precedence.
// Settings must name instances or elements of the file or of its includes. Null: one line in error.
mjModel* mjg_loadScene(const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting, int nsetting,
                       char* error, int error_sz);

// copy of an MJCF text in which a plugin instance has the given configuration entry, or an element the
// given attribute, in place of an older one. Returns null, with one line in error, if the text itself has
// neither, or if the value cannot be in an attribute. To be freed.
char* mjg_setConfig(const char* text, const mjgSetting* setting, char* error, int error_sz);

// keyframe of the first state: "start", else "home", else the first; -1: there is none
int mjg_startKey(const mjModel* m);

// data at the first state; null if memory is short
mjData* mjg_startScene(const mjModel* m);

#endif  // SCENES_LOAD_H_

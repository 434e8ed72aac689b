// Changes to the text of an MJCF file, before MuJoCo reads it.

#ifndef SCENES_MJCF_H_
#define SCENES_MJCF_H_

#include "scene.h"

// copy of an MJCF text in which a plugin instance has the given configuration entry, or an element the
// given attribute, in place of an older one. Returns null, with one line in error, if the text itself has
// neither, or if the value cannot be in an attribute. To be freed.
char* mjg_setConfig(const char* text, const mjgSetting* setting, char* error, int error_sz);

// name of the next file that a text includes; end of it, null if there is none
const char* mjg_nextInclude(const char* text, char* file, int file_sz);

#endif  // SCENES_MJCF_H_

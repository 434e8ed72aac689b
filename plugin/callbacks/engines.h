// The MuJoCo libraries in this process, and does the plugin fit the one that runs.

#ifndef MJGEAR_PLUGIN_ENGINES_H_
#define MJGEAR_PLUGIN_ENGINES_H_

#include <stddef.h>

// a function of the engine that the plugin calls, and where the pointer to it stands
typedef struct mjgpForward_ {
  const char* name;
  void** slot;
} mjgpForward;

// all of them; the last name is null (forward.c)
const mjgpForward* mjgp_forwards(void);

// let the functions be those of the engine in this process: of several the one with this
// version, else another patch release of it, else the first. Returns the number of
// engines, 0: there is none, and no function of the engine may be called. missing: the
// first function that the engine does not have, else null.
int mjgp_bindEngine(const char** missing, int version);

// paths of all MuJoCo libraries that the process has loaded, separated by ", ". Returns
// their number.
int mjgp_engines(char* paths, size_t paths_sz);

// does the engine that is running have the layouts that the plugin was compiled with,
// which is asked of patch releases only: compile and step a small model, and compare what
// stands in the engine's structs with what is known of it: sizes, members from the first
// to the last, the motion in closed form. Null, or what differs (fit.c)
const char* mjgp_misfit(void);

#endif  // MJGEAR_PLUGIN_ENGINES_H_

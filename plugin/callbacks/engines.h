// Finds the MuJoCo libraries in this process, and checks that the plugin fits the running
// one.

#ifndef MJGEAR_PLUGIN_ENGINES_H_
#define MJGEAR_PLUGIN_ENGINES_H_

#include <stddef.h>

// a function of the engine, and the address of its pointer
typedef struct mjgpForward_ {
  const char* name;
  void** slot;
} mjgpForward;

// all of them; the last name is null (forward.c)
const mjgpForward* mjgp_forwards(void);

// Take the functions of the engine in this process. Of several engines it takes the one
// with this version, else a patch release of it, else the first. Returns the number of
// engines; with 0 no function may be called. missing: the first function that the engine
// lacks, or null. paths: of all engines, separated by ", ".
int mjgp_bindEngine(const char** missing, char* paths, size_t paths_sz, int version);

// Check that a patch release has the struct layouts of the plugin's headers: compile and step a
// small model, and compare sizes, members and the motion in closed form. Returns null, or
// a text about the first difference (fit.c).
const char* mjgp_misfit(void);

#endif  // MJGEAR_PLUGIN_ENGINES_H_

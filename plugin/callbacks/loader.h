// The system's loader; one file a system (loader_linux.c, loader_macos.c, loader_windows.c),
// chosen by CMake.

#ifndef MJGEAR_PLUGIN_LOADER_H_
#define MJGEAR_PLUGIN_LOADER_H_

#include <stddef.h>

enum {
  mjgpMAXENGINE = 8,  // most MuJoCo libraries in a process
  mjgpMAXPATH = 1000  // bytes of a path, UTF-8
};

// List the files of the loaded MuJoCo libraries. Returns their number.
int mjgp_enginePaths(char paths[mjgpMAXENGINE][mjgpMAXPATH]);

// Returns the handle of a loaded library, which stays loaded, or null; null path: the program's
// symbols.
void* mjgp_openEngine(const char* path);

// Returns a function of the library, or null.
void* mjgp_engineFunction(void* engine, const char* name);

#endif  // MJGEAR_PLUGIN_LOADER_H_

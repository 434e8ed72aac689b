// What the plugin asks of the system's loader; one file a system (loader_linux.c, loader_macos.c, loader_windows.c),
// chosen by CMake.

#ifndef MJGEAR_PLUGIN_LOADER_H_
#define MJGEAR_PLUGIN_LOADER_H_

#include <stddef.h>

enum {
  mjgpMAXENGINE = 8,  // MuJoCo libraries in a process that are told apart
  mjgpMAXPATH = 1000  // bytes of a path, UTF-8
};

// files of the MuJoCo libraries that the process has loaded; returns their number
int mjgp_enginePaths(char paths[mjgpMAXENGINE][mjgpMAXPATH]);

// handle of a loaded library, which stays loaded from now on; null path: whatever the program can see. Null if there is none
void* mjgp_openEngine(const char* path);

// a function of the library, null if it has none of this name
void* mjgp_engineFunction(void* engine, const char* name);

#endif  // MJGEAR_PLUGIN_LOADER_H_

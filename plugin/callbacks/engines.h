// The MuJoCo libraries in this process.

#ifndef MJGEAR_PLUGIN_ENGINES_H_
#define MJGEAR_PLUGIN_ENGINES_H_

#include <stddef.h>

// paths of all MuJoCo libraries that the process has loaded, separated by ", ". Returns their number;
// 0 where the system cannot be asked.
int mjgp_engines(char* paths, size_t paths_sz);

#endif  // MJGEAR_PLUGIN_ENGINES_H_

// The engines in this process, and the functions that the plugin takes from one of them.

#include "callbacks/engines.h"

#include <stdio.h>
#include <string.h>

#include "callbacks/loader.h"


static int versionOf(void* engine) {
  int (*version)(void) = NULL;
  void* function = mjgp_engineFunction(engine, "mj_version");
  memcpy(&version, &function, sizeof(version));
  return version ? version() : -1;
}


int mjgp_bindEngine(const char** missing, char* paths, size_t paths_sz, int version) {
  char found[mjgpMAXENGINE][mjgpMAXPATH];
  int n = mjgp_enginePaths(found);
  size_t length = 0;
  for (int i = 0; i < n && length < paths_sz; i++) {
    length += (size_t)snprintf(paths + length, paths_sz - length, "%s%s", i ? ", " : "", found[i]);
  }

  // an engine may be part of the program; it stays open, because it must outlive the plugin
  void* best = mjgp_openEngine(NULL);
  int best_version = versionOf(best);
  for (int i = 0; i < n && best_version != version; i++) {
    void* engine = mjgp_openEngine(found[i]);
    int here = engine ? versionOf(engine) : -1;
    int is_patch = here / 1000 == version / 1000 && best_version / 1000 != version / 1000;
    if (here >= 0 && (best_version < 0 || here == version || is_patch)) {
      best = engine;
      best_version = here;
    }
  }
  *missing = NULL;
  if (best_version < 0) {
    return 0;
  }
  for (const mjgpForward* forward = mjgp_forwards(); forward->name; forward++) {
    *forward->slot = mjgp_engineFunction(best, forward->name);
    if (!*forward->slot && !*missing) {
      *missing = forward->name;
    }
  }
  return n ? n : 1;
}

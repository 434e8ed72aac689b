// The one file that asks the system's loader.

#if defined(__linux__)
#define _GNU_SOURCE  // dl_iterate_phdr, RTLD_DEFAULT
#include <dlfcn.h>
#include <link.h>
#endif

#include <stdio.h>
#include <string.h>

#include "callbacks/engines.h"

enum {
  MOSTENGINES = 8,
  MOSTPATH = 1000
};

typedef struct Found_ {
  char path[MOSTENGINES][MOSTPATH];
  int n;
} Found;


#if defined(__linux__)
// add a loaded object that is a MuJoCo
static int addEngine(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  Found* found = data;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  if (!strncmp(name, "libmujoco.so", strlen("libmujoco.so")) && found->n < MOSTENGINES) {
    snprintf(found->path[found->n++], MOSTPATH, "%s", info->dlpi_name);
  }
  return 0;
}
#endif


int mjgp_engines(char* paths, size_t paths_sz) {
  Found found = {.n = 0};
#if defined(__linux__)
  dl_iterate_phdr(addEngine, &found);
#endif
  size_t length = 0;
  paths[0] = 0;
  for (int i = 0; i < found.n && length < paths_sz; i++) {
    length +=
        (size_t)snprintf(paths + length, paths_sz - length, "%s%s", i ? ", " : "", found.path[i]);
  }
  return found.n;
}


#if defined(mjgpFORWARDED)

// version of the engine behind a handle, -1 if it is none
static int versionOf(void* handle) {
  int (*version)(void) = NULL;
  void* symbol = dlsym(handle, "mj_version");
  memcpy(&version, &symbol, sizeof(version));
  return version ? version() : -1;
}


int mjgp_bindEngine(const char** missing, int version) {
  Found found = {.n = 0};
  dl_iterate_phdr(addEngine, &found);

  // an engine may also be part of the program; what is opened stays so, for the engine
  // must not go before the plugin
  void* best = RTLD_DEFAULT;
  int best_version = versionOf(RTLD_DEFAULT), n = found.n;
  for (int i = 0; i < found.n && best_version != version; i++) {
    void* handle = dlopen(found.path[i], RTLD_LAZY | RTLD_NOLOAD);
    int here = handle ? versionOf(handle) : -1;
    int is_patch = here / 1000 == version / 1000 && best_version / 1000 != version / 1000;
    if (here >= 0 && (best_version < 0 || here == version || is_patch)) {
      best = handle;
      best_version = here;
    }
  }
  *missing = NULL;
  if (best_version < 0) {
    return 0;
  }
  for (const mjgpForward* forward = mjgp_forwards(); forward->name; forward++) {
    *forward->slot = dlsym(best, forward->name);
    if (!*forward->slot && !*missing) {
      *missing = forward->name;
    }
  }
  return n ? n : 1;
}

#else

int mjgp_bindEngine(const char** missing, int version) {
  (void)version;
  *missing = NULL;
  return 1;
}

#endif

// The one file that asks the system's loader.

#if defined(__linux__)
#define _GNU_SOURCE  // dl_iterate_phdr
#include <link.h>
#endif

#include <stdio.h>
#include <string.h>

#include "callbacks/engines.h"

#if defined(__linux__)

typedef struct Found_ {
  char* paths;
  size_t paths_sz;
  int n;
} Found;


// add a loaded object that is a MuJoCo
static int addEngine(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  Found* found = data;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  if (!strncmp(name, "libmujoco.so", strlen("libmujoco.so"))) {
    size_t length = strlen(found->paths);
    snprintf(found->paths + length, found->paths_sz - length, "%s%s", found->n ? ", " : "",
             info->dlpi_name);
    found->n++;
  }
  return 0;
}


int mjgp_engines(char* paths, size_t paths_sz) {
  Found found = {.paths = paths, .paths_sz = paths_sz};
  paths[0] = 0;
  dl_iterate_phdr(addEngine, &found);
  return found.n;
}

#else

int mjgp_engines(char* paths, size_t paths_sz) {
  (void)paths_sz;
  paths[0] = 0;
  return 0;
}

#endif

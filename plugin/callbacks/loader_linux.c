// The loader of Linux.

#define _GNU_SOURCE  // dl_iterate_phdr, RTLD_DEFAULT
#include "callbacks/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef struct Found_ {
  char (*paths)[mjgpMAXPATH];
  int n;
} Found;


// add a loaded object that is a MuJoCo
static int addEngine(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  Found* found = data;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  if (!strncmp(name, "libmujoco.so", strlen("libmujoco.so")) && found->n < mjgpMAXENGINE) {
    snprintf(found->paths[found->n++], mjgpMAXPATH, "%s", info->dlpi_name);
  }
  return 0;
}


int mjgp_enginePaths(char paths[mjgpMAXENGINE][mjgpMAXPATH]) {
  Found found = {.paths = paths};
  dl_iterate_phdr(addEngine, &found);
  return found.n;
}


void* mjgp_openEngine(const char* path) {
  return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
}


void* mjgp_engineFunction(void* engine, const char* name) {
  return dlsym(engine, name);
}

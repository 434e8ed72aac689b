// The loader of macOS.

#define _DARWIN_C_SOURCE  // RTLD_DEFAULT
#include "callbacks/loader.h"

#include <dlfcn.h>
#include <mach-o/dyld.h>
#include <stdio.h>
#include <string.h>


int mjgp_enginePaths(char paths[mjgpMAXENGINE][mjgpMAXPATH]) {
  int n = 0;
  uint32_t images = _dyld_image_count();
  for (uint32_t i = 0; i < images && n < mjgpMAXENGINE; i++) {
    const char* path = _dyld_get_image_name(i);
    const char* slash = path ? strrchr(path, '/') : NULL;
    // libmujoco.4.0.1.dylib of the Python package, mujoco of a framework
    const char* name = slash ? slash + 1 : "";
    if (!strncmp(name, "libmujoco.", strlen("libmujoco.")) || !strcmp(name, "mujoco")) {
      snprintf(paths[n++], mjgpMAXPATH, "%s", path);
    }
  }
  return n;
}


void* mjgp_openEngine(const char* path) {
  return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
}


void* mjgp_engineFunction(void* engine, const char* name) {
  return dlsym(engine, name);
}

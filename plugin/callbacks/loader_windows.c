// The loader of Windows.

#include "callbacks/loader.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#define PSAPI_VERSION 2  // of kernel32.dll
#include <psapi.h>
#include <string.h>

enum {
  MAXMODULE = 1024  // most libraries in a process that are searched
};


int mjgp_enginePaths(char paths[mjgpMAXENGINE][mjgpMAXPATH]) {
  HMODULE modules[MAXMODULE];
  DWORD bytes = 0;
  if (!EnumProcessModules(GetCurrentProcess(), modules, sizeof(modules), &bytes)) {
    return 0;
  }
  int n = 0;
  DWORD n_modules = bytes < sizeof(modules) ? bytes / sizeof(modules[0]) : MAXMODULE;
  for (DWORD i = 0; i < n_modules && n < mjgpMAXENGINE; i++) {
    WCHAR path[mjgpMAXPATH];
    DWORD length = GetModuleFileNameW(modules[i], path, mjgpMAXPATH);
    // a library with a mj_version is a MuJoCo, under any file name
    if (length > 0 && length < mjgpMAXPATH && GetProcAddress(modules[i], "mj_version") &&
        WideCharToMultiByte(CP_UTF8, 0, path, -1, paths[n], mjgpMAXPATH, NULL, NULL) > 0) {
      n++;
    }
  }
  return n;
}


void* mjgp_openEngine(const char* path) {
  HMODULE module = NULL;
  WCHAR wide[mjgpMAXPATH];
  if (!path) {
    return GetModuleHandleW(NULL);
  }
  if (MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, mjgpMAXPATH) <= 0 ||
      !GetModuleHandleExW(0, wide, &module)) {
    return NULL;
  }
  return module;
}


void* mjgp_engineFunction(void* engine, const char* name) {
  FARPROC function = engine ? GetProcAddress(engine, name) : NULL;
  void* address = NULL;
  memcpy(&address, &function, sizeof(address));
  return address;
}

// Linux and macOS.

#include <stdio.h>
#include <sys/stat.h>

#include "files.h"


int isRegularFile(const char* name) {
  struct stat found;
  return !lstat(name, &found) && S_ISREG(found.st_mode);
}


int isThere(const char* name) {
  struct stat found;
  return !lstat(name, &found);
}


int replaceFile(const char* from, const char* to) {
  return rename(from, to);
}

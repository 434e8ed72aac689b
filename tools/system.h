// What systems have different words for: is a name that of a file itself, and not of a link, a pipe or a device?

#ifndef MJGEAR_TOOLS_SYSTEM_H_
#define MJGEAR_TOOLS_SYSTEM_H_

#include <sys/stat.h>

#if defined(_WIN32)
#define mjgtSTAT stat
#else
#define mjgtSTAT lstat
#endif


static inline int isRegularFile(const char* name) {
  struct stat found;
  return !mjgtSTAT(name, &found) && S_ISREG(found.st_mode);
}

#endif  // MJGEAR_TOOLS_SYSTEM_H_

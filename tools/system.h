// Differences between systems: whether a name is that of a file itself, and not of a link, a pipe
// or a device, and how a file replaces another.

#ifndef MJGEAR_TOOLS_SYSTEM_H_
#define MJGEAR_TOOLS_SYSTEM_H_

#include <stdio.h>
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


static inline int isThere(const char* name) {
  struct stat found;
  return !mjgtSTAT(name, &found);
}


// give a file the name of another one, which it replaces; not 0: it did not
static inline int replaceFile(const char* from, const char* to) {
#if defined(_WIN32)
  remove(to);
#endif
  return rename(from, to);
}

#endif  // MJGEAR_TOOLS_SYSTEM_H_

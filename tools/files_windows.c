// Windows, where rename refuses a name that exists.

#include <errno.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "files.h"


int isRegularFile(const char* name) {
  DWORD attributes = GetFileAttributesA(name);
  return attributes != INVALID_FILE_ATTRIBUTES &&
         !(attributes &
           (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE | FILE_ATTRIBUTE_REPARSE_POINT));
}


int isThere(const char* name) {
  return GetFileAttributesA(name) != INVALID_FILE_ATTRIBUTES;
}


int replaceFile(const char* from, const char* to) {
  if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) {
    return 0;
  }
  errno = EACCES;
  return -1;
}

// Files by their names. CMake chooses the source for the system: files_posix.c or files_windows.c.

#ifndef MJGEAR_TOOLS_FILES_H_
#define MJGEAR_TOOLS_FILES_H_

// Returns 1 if the name is that of a file itself, 0 for a link, a pipe, a device or nothing.
int isRegularFile(const char* name);

// Returns 1 if the name exists, also as a link that leads nowhere.
int isThere(const char* name);

// Give a file the name of another one, which it replaces at once: a reader finds the old or the new one. Returns 0 or an error,
// with errno.
int replaceFile(const char* from, const char* to);

#endif  // MJGEAR_TOOLS_FILES_H_

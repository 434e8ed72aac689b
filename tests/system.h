// Differences between systems: a locale with a decimal comma for the process, the system's or one made for the occasion; aligned
// memory.

#ifndef MJGEAR_TESTS_SYSTEM_H_
#define MJGEAR_TESTS_SYSTEM_H_

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)

#include <malloc.h>

// Windows has a separate function for aligned memory, and another to free it
#define alignedAlloc(alignment, size) _aligned_malloc(size, alignment)
#define alignedFree                   _aligned_free


// 1, or 0 with a line that says why not
static inline int enterGerman(void) {
  if (!setlocale(LC_ALL, "de-DE") || strcmp(localeconv()->decimal_point, ",")) {
    printf("skipped: the system has no locale de-DE\n");
    return 0;
  }
  return 1;
}

#else

#include <unistd.h>

#define alignedAlloc aligned_alloc
#define alignedFree  free


// 1, or 0 with a line that says why not
static inline int enterGerman(void) {
  if (setlocale(LC_ALL, "de_DE.UTF-8")) {
    return 1;
  }
  char folder[] = "/tmp/mjgear-locale-XXXXXX", command[200];
  if (!mkdtemp(folder)) {
    printf("skipped: no room for a locale in /tmp\n");
    return 0;
  }
  snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
  // the names in it are our own
  int made = system(command) == 0 &&  // NOLINT(cert-env33-c)
             setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") &&
             !strcmp(localeconv()->decimal_point, ",");
  snprintf(command, sizeof(command), "rm -r %s", folder);
  if (system(command) != 0 || !made) {  // NOLINT(cert-env33-c)
    printf("skipped: the system neither has the locale de_DE.UTF-8 nor can make it (localedef)\n");
    return 0;
  }
  return 1;
}

#endif

#endif  // MJGEAR_TESTS_SYSTEM_H_

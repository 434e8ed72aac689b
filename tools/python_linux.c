// The Python of the build tree, found on Linux.

#define _GNU_SOURCE
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python.h"


int runPython(char** argv) {
  // this program is build/bin/mjgear
  char here[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);
  here[length > 0 ? length : 0] = 0;
  for (int i = 0; i < 2 && strrchr(here, '/'); i++) {
    *strrchr(here, '/') = 0;
  }

  static const char* const environment[] = {"venv", "venv-check"};
  for (size_t i = 0; i < sizeof(environment) / sizeof(*environment); i++) {
    char python[PATH_MAX + 50], package[PATH_MAX + 50], libraries[PATH_MAX + 50];
    snprintf(python, sizeof(python), "%s/%s/bin/python", here, environment[i]);
    snprintf(package, sizeof(package), "%s/../python", here);
    snprintf(libraries, sizeof(libraries), "%s/lib", here);
    char pattern[PATH_MAX + 80];
    snprintf(pattern, sizeof(pattern), "%s/%s/lib/python3*/site-packages/scipy", here,
             environment[i]);
    glob_t found;
    int has = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    if (access(python, X_OK) || access(package, R_OK) || !has) {
      continue;
    }
    setenv("PYTHONPATH", package, 1);
    setenv("MJGEAR_LIBRARIES", libraries, 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 0);  // its matrices are small: threads wait for each other

    // an interrupt while it imports ends the process, without Python's own lines
    char start[] =
        "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); from mjgear import "
        "_commands; _commands.run()";
    char* command[1000] = {python, "-c", start};
    for (int k = 1; argv[k] && k < 990; k++) {
      command[k + 2] = argv[k];
    }
    execv(python, command);
  }
  return refusePython(argv[1]);
}

#include "python.h"

#include <stdio.h>
#include <string.h>

const char python_usage[] =
    "       mjgear identify LOGS                    a gear from logs (Python)\n"
    "       mjgear protocol SERVO                   the experiments that make such logs (Python)\n";


int isPythonCommand(const char* name) {
  return !strcmp(name, "identify") || !strcmp(name, "protocol");
}


int refusePython(const char* command) {
  fprintf(stderr,
          "mjgear: '%s' is a command of the Python package; in the sources run ./demo, then "
          "build/bin/mjgear, or install the package: pip install '.[identify]'\n",
          command);
  return 1;
}

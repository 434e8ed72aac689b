// Windows and macOS: the Python package runs these commands itself; the build tree has no Python.

#include "python.h"


int runPython(char** argv) {
  return refusePython(argv[1]);
}

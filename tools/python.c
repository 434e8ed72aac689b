#include "python.h"

#include <stdio.h>
#include <string.h>

const char python_usage[] =
    "       mjgear convert --bam FILE               a servo of better-actuator-models (Python)\n"
    "       mjgear convert ROBOT.urdf               a URDF as MJCF, with gears (Python)\n"
    "       mjgear convert ROBOT.sdf --into MODEL   an SDF into MJCF, with gears (Python)\n"
    "       mjgear hold ROBOT                       which joints hold without power (Python)\n"
    "       mjgear identify LOGS                    a gear from logs (Python)\n"
    "       mjgear protocol SERVO                   the experiments that make such logs (Python)\n";


int isPythonCommand(char** argv) {
  static const char* const whole[] = {"hold", "identify", "protocol"};
  for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
    if (!strcmp(argv[1], whole[i])) {
      return 1;
    }
  }
  const char* file = argv[2] ? argv[2] : "";
  const char* suffix = strrchr(file, '.');
  int reads = suffix && (!strcmp(suffix, ".urdf") || !strcmp(suffix, ".sdf"));
  return !strcmp(argv[1], "convert") && (reads || !strcmp(file, "--bam"));
}


int refusePython(const char* command) {
  fprintf(stderr,
          "mjgear: '%s' is a command of the Python package; in the sources run ./demo, then "
          "build/bin/mjgear, or install the package: pip install '.[identify]'\n",
          command);
  return 1;
}

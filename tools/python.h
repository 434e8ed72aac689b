#ifndef MJGEAR_PYTHON_H_
#define MJGEAR_PYTHON_H_

// Returns 1 if the command argv[1] is one of the Python package: hold, identify, protocol,
// convert --bam, convert ROBOT.urdf, convert ROBOT.sdf
int isPythonCommand(char** argv);

// lines of these commands for the usage
extern const char python_usage[];

// run such a command with the Python of the build tree that this program is in. Returns only on failure, after
// a line on stderr: the exit code.
int runPython(char** argv);

// print on stderr how to install the command; returns the exit code
int refusePython(const char* command);

#endif  // MJGEAR_PYTHON_H_

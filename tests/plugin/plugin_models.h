// Models for tests of the plugin, from strings.

#ifndef MJGEAR_TESTS_PLUGIN_MODELS_H_
#define MJGEAR_TESTS_PLUGIN_MODELS_H_

#include <mujoco/mujoco.h>

// load the plugin once; fails the test if it does not register
void loadPlugin(void);

// compile a model from printf-like text; null with a reason in error if it is refused
mjModel* tryModel(char* error, int error_size, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// the same, failing the test if the model is refused
mjModel* makeModel(const char* format, ...) __attribute__((format(printf, 1, 2)));

// address of a joint's dof
int dofOf(const mjModel* m, const char* joint);

// a joint's friction torque: the difference of passive force without and with the plugin's
// instances equals the state of the instance; index counts the joints of the instance
double frictionOf(const mjModel* m, const mjData* d, const char* instance, int index);

// number of warnings since the last call, and the text of the last one
int countWarnings(const char** text);

#endif  // MJGEAR_TESTS_PLUGIN_MODELS_H_

// The plugin as MuJoCo knows it: name, keys, capabilities. Shared by the library that is
// loaded and by programs that only check models.

#ifndef MJGEAR_PLUGIN_PLUGIN_H_
#define MJGEAR_PLUGIN_PLUGIN_H_

#include <mujoco/mujoco.h>

// describe a plugin that accepts every configuration, has no state and does nothing, with
// nmore keys beside those that exist. The engine copies all of it when it is registered.
// keys: room for mjgpMAXKEY + nmore names
void mjgp_describePlugin(mjpPlugin* plugin, const char** keys, const char* const* more, int nmore);

// what is different in that of brakes, whose instances have gears and states like those
// of the first
void mjgp_describeBrake(mjpPlugin* plugin);

#endif  // MJGEAR_PLUGIN_PLUGIN_H_

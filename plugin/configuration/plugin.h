// The plugin as MuJoCo knows it: name, keys, capabilities. Shared by the library that is
// loaded and by programs that only check models.

#ifndef MJGEAR_PLUGIN_PLUGIN_H_
#define MJGEAR_PLUGIN_PLUGIN_H_

#include <mujoco/mujoco.h>

// Describe a plugin that accepts every configuration, has no state and does nothing, with nmore
// additional keys. Registration copies it. keys: room for mjgpMAXKEY + nmore names.
void mjgp_describePlugin(mjpPlugin* plugin, const char** keys, const char* const* more, int nmore);

// Set the differences of the plugin of brakes.
void mjgp_describeBrake(mjpPlugin* plugin);

#endif  // MJGEAR_PLUGIN_PLUGIN_H_

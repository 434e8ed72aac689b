// Writes the values of the plugin's sensors (configuration/sensors.h).
//
// The values are written when friction is computed. The engine's stage for force sensors would
// cost a full inverse dynamics in every step, with or without sensors.

#ifndef MJGEAR_PLUGIN_SENSOR_H_
#define MJGEAR_PLUGIN_SENSOR_H_

#include <mujoco/mujoco.h>

#include "configuration/sensors.h"

struct mjgpGears_;

// Measure one geared joint (mjgNSENSOR).
void mjgp_measure(mjtNum* value, const struct mjgpGears_* gears, const mjModel* m, const mjData* d,
                  int i);

// Write all sensors of the plugin.
void mjgp_writeSensors(const struct mjgpGears_* gears, const mjModel* m, mjData* d);

// Write the status alone, which the engine's motion may have changed.
void mjgp_writeStatus(const struct mjgpGears_* gears, const mjModel* m, mjData* d);

#endif  // MJGEAR_PLUGIN_SENSOR_H_

// Writes what the plugin's sensors measure (configuration/sensors.h).
//
// The values are written where friction is computed. The engine's stage for sensors of
// forces comes later, but costs every model with the plugin a full inverse dynamics in
// every step, sensors or not.

#ifndef MJGEAR_PLUGIN_SENSOR_H_
#define MJGEAR_PLUGIN_SENSOR_H_

#include <mujoco/mujoco.h>

#include "configuration/sensors.h"

struct mjgpGears_;

// measure one geared joint (mjgNSENSOR)
void mjgp_measure(mjtNum* value, const struct mjgpGears_* gears, const mjModel* m, const mjData* d,
                  int i);

// write all sensors that are attached to instances of the plugin
void mjgp_writeSensors(const struct mjgpGears_* gears, const mjModel* m, mjData* d);

// write the status alone, which the motion of the engine may have changed
void mjgp_writeStatus(const struct mjgpGears_* gears, const mjModel* m, mjData* d);

#endif  // MJGEAR_PLUGIN_SENSOR_H_

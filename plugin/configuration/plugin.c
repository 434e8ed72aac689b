#include "configuration/plugin.h"

#include <string.h>

#include "configuration/brake.h"
#include "configuration/config.h"
#include "configuration/sensors.h"


static int noState(const mjModel* m, int instance) {
  (void)m, (void)instance;
  return 0;
}


// the engine asks before it knows the sensor's object
static int numbersOfSensor(const mjModel* m, int instance, int sensor) {
  (void)m, (void)instance, (void)sensor;
  return mjgNSENSOR;
}


static void noCompute(const mjModel* m, mjData* d, int instance, int capability_bit) {
  (void)m, (void)d, (void)instance, (void)capability_bit;
}


void mjgp_describePlugin(mjpPlugin* plugin, const char** keys, const char* const* more, int nmore) {
  int n;
  const char* const* known = mjgp_keys(&n);
  memcpy(keys, known, sizeof(*keys) * (size_t)n);
  for (int i = 0; i < nmore; i++) {
    keys[n + i] = more[i];
  }

  // actuator: called with motor torques; passive: for models without motors; and sensors
  mjp_defaultPlugin(plugin);
  plugin->name = mjgpNAME;
  plugin->attributes = keys;
  plugin->nattribute = n + nmore;
  plugin->capabilityflags = mjPLUGIN_ACTUATOR | mjPLUGIN_PASSIVE | mjPLUGIN_SENSOR;
  plugin->needstage = mjSTAGE_POS;
  plugin->nstate = noState;
  plugin->nsensordata = numbersOfSensor;
  plugin->compute = noCompute;
}


void mjgp_describeBrake(mjpPlugin* plugin) {
  plugin->name = mjgpBRAKE;
  plugin->attributes = mjgp_brakeKeys;
  plugin->nattribute = mjgpNBRAKEKEY;
}

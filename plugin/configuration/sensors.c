#include "configuration/sensors.h"

#include <stdio.h>

#include "configuration/parsing.h"


int mjgp_isOurSensor(const mjModel* m, int sensor, int slot) {
  int instance = m->sensor_type[sensor] == mjSENS_PLUGIN ? m->sensor_plugin[sensor] : -1;
  return instance >= 0 && mjgp_isOurs(m, instance, slot);
}


int mjgp_sensorJoint(const mjModel* m, const mjgpJoint* joint, int n, int sensor) {
  int instance = m->sensor_plugin[sensor], type = m->sensor_objtype[sensor], found = -1, count = 0;
  for (int i = 0; i < n; i++) {
    int object = type == mjOBJ_TENDON ? joint[i].tendon : type == mjOBJ_JOINT ? joint[i].joint : -1;
    int named = object >= 0 && object == m->sensor_objid[sensor];
    if (joint[i].instance == instance && (named || type == mjOBJ_UNKNOWN)) {
      found = i;
      count++;
    }
  }
  return count == 1 ? found : -1;
}


void mjgp_checkSensors(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                       int slot) {
  for (int s = 0; s < m->nsensor; s++) {
    if (!mjgp_isOurSensor(m, s, slot) || mjgp_sensorJoint(m, joint, n, s) >= 0) {
      continue;
    }
    int type = m->sensor_objtype[s];
    char what[120] = "it names no joint or tendon, and its instance has several";
    if (type != mjOBJ_UNKNOWN) {
      snprintf(what, sizeof(what), "%s '%.60s' is not a geared %s of its instance",
               mju_type2Str(type), mjgp_nameOf(m, type, m->sensor_objid[s]),
               type == mjOBJ_TENDON ? "tendon" : "joint");
    }
    mjg_refuse(report,
               mjgpNAME
               ", instance '%.60s', sensor '%.60s': %s; set objtype=\"joint\" and as "
               "objname a joint of the instance's key 'joint', or objtype=\"tendon\" and one of "
               "its key 'tendon'",
               mjgp_nameOf(m, mjOBJ_PLUGIN, m->sensor_plugin[s]), mjgp_nameOf(m, mjOBJ_SENSOR, s),
               what);
  }
}

// Results of a geared joint that users read, beside the sensors.

#include "configuration/explain.h"
#include "mjgear_plugin.h"
#include "observe/sensor.h"
#include "state/changes.h"


int mjg_readGear(double* value, const mjModel* m, const mjData* d, int joint) {
  const mjgpGears* g = mjgp_gears(m, d);
  int i = g ? mjgp_findGear(g->config, joint) : -1;
  if (i < 0) {
    return -1;
  }
  if (value) {
    mjgp_measure(value, g, m, d, i);
  }
  return mjgNSENSOR;
}


int mjg_explainGear(mjgFacts* facts, const mjModel* m, mjData* d, int joint) {
  mjgpGears* g = mjgp_gears(m, d);
  int i = g ? mjgp_findGear(g->config, joint) : -1;
  if (i < 0 || !facts) {
    return -1;
  }
  mjgp_applyChanges(g, m, d);
  mjgp_explain(facts, NULL, m, d, g->in.joint[i]);
  return 0;
}

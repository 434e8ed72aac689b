#include <stdio.h>
#include <string.h>

#include "check.h"
#include "gears.h"
#include "mjgear_plugin.h"


// geared joint of that id, null if it has no gear
static mjgpJoint* findJoint(const mjModel* m, const mjData* d, int joint) {
  mjgpGears* g = mjgp_gears(m, d);
  for (int i = 0; g && i < g->n; i++) {
    if (g->joint[i].joint == joint) {
      return &g->joint[i];
    }
  }
  return NULL;
}


int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                 const double* value, int n, char* error, int error_sz) {
  // where we are, for messages
  const char* name = joint >= 0 && joint < m->njnt ? mj_id2name(m, mjOBJ_JOINT, joint) : NULL;
  char where[200], number[20];
  snprintf(number, sizeof(number), "%d", joint);
  snprintf(where, sizeof(where), mjgpNAME ", joint '%.100s'", name && name[0] ? name : number);
  mjgReport report;
  mjg_startReport(&report, error, error_sz > 0 ? (size_t)error_sz : 0);
  report.where = where;

  mjgpJoint* j = findJoint(m, d, joint);
  if (!j) {
    mjg_refuse(&report, "it has no gear; name one of the joints in the plugin's key 'joint'");
    return -1;
  }

  // what was given and what is new, checked as a whole
  mjgDescription description = j->description;
  for (int i = 0; i < n; i++) {
    int k = mjg_keyFromName(key[i]);
    if (k < 0) {
      int nearest = mjg_keyNearest(key[i]);
      mjg_refuse(&report, "unknown key '%.60s'%s%s; choose a key that describes a gear", key[i],
                 nearest < 0 ? "" : ", did you mean ",
                 nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
    } else if (mjg_keyInfo(k)->engine) {
      mjg_refuse(&report, "key '%s' is the engine's; change mjModel.%s", key[i],
                 strstr(key[i], "viscous") ? "dof_damping" : "dof_armature");
    } else {
      mjg_give(&description, k, value[i]);
    }
  }
  mjgTransmission gear;
  if (report.count || mjgp_makeGear(&gear, &report, &description)) {
    return -1;
  }
  j->description = description;
  j->gear = gear;
  return 0;
}


int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value, char* error,
                int error_sz) {
  return mjg_setGears(m, d, joint, &key, &value, 1, error, error_sz);
}


int mjg_getGear(double* value, const mjModel* m, const mjData* d, int joint, const char* key) {
  const mjgpJoint* j = findJoint(m, d, joint);
  int k = mjg_keyFromName(key);
  if (!j || k < 0) {
    return -1;
  }
  if (j->description.given[k]) {
    *value = j->description.value[k];
  } else if (k == mjgKEY_GAMMA_U || k == mjgKEY_GAMMA_V) {
    *value = k == mjgKEY_GAMMA_U ? j->gear.gamma_u : j->gear.gamma_v;
  } else {
    return 0;
  }
  return 1;
}


int mjg_resetGears(const mjModel* m, mjData* d) {
  mjgpGears* g = mjgp_gears(m, d);
  if (!g) {
    return -1;
  }

  // the configuration was accepted before, and is again
  mjgReport report;
  mjgpOptions options;
  mjg_startReport(&report, NULL, 0);
  mjgpJoint* joint = mju_malloc(sizeof(mjgpJoint) * (size_t)(g->n + 1));
  mjgp_configure(joint, &options, &report, m, m->plugin[g->leader]);
  for (int i = 0; i < g->n; i++) {
    g->joint[i].description = joint[i].description;
    g->joint[i].gear = joint[i].gear;
  }
  mju_free(joint);
  return 0;
}

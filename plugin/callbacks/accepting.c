// Accept every configuration, so that mjg_checkModel can list all problems of a model.

#include <stdlib.h>

#include "configuration/check.h"
#include "configuration/config.h"
#include "configuration/motors.h"
#include "configuration/names.h"
#include "configuration/plugin.h"
#include "mjgear_plugin.h"
#include "state/gears.h"

static const char kAccepting[] = "mjgear.check";


const char* mjg_acceptingPlugin(void) {
  mjpPlugin plugin;
  const char* keys[mjgpMAXKEY];
  mjgp_describePlugin(&plugin, keys, NULL, 0);
  plugin.name = kAccepting;
  mjp_registerPlugin(&plugin);  // the engine takes the same plugin twice for one
  mjgp_describeBrake(&plugin);
  plugin.name = mjgpCHECKED_BRAKE;
  mjp_registerPlugin(&plugin);
  return kAccepting;
}


static int slotOf(const mjModel* m) {
  int own = -1, accepting = -1;
  mjp_getPlugin(mjgpNAME, &own);
  mjp_getPlugin(kAccepting, &accepting);
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == accepting) {
      return accepting;
    }
  }
  return own;
}


int mjg_checkModel(const mjModel* m, char* problems, int problems_sz, char* warnings,
                   int warnings_sz) {
  mjgReport report, warning;
  mjg_startReport(&report, problems, problems_sz > 0 ? (size_t)problems_sz : 0);
  mjg_startReport(&warning, warnings, warnings_sz > 0 ? (size_t)warnings_sz : 0);
  if (!m) {
    return -1;
  }
  int n, slot = slotOf(m);
  mjgSettings settings;
  mjgpJoint* joint = mjgp_check(&n, &settings, &report, m, slot);
  if (!report.count) {
    mjgp_warnGears(&warning, m, joint, n, slot, 1);
    size_t before = warning.length;
    if (mjgp_warnLoss(&warning, m, joint, n) && warning.text) {
      mjgp_noteTold(warning.text + before);
    }
  }
  mju_free(joint);
  return report.count;
}


int mjg_actuatorRoles(int* role, const mjModel* m, int joint) {
  int n = 0, i = 0, count = -1, id, type = mjgp_gearObject(&id, m, joint);
  int scalar =
      type == mjOBJ_JOINT && (m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE);
  if (!role || !(scalar || type == mjOBJ_TENDON)) {
    return -1;
  }
  mjgReport report;
  mjgpMotors motors;
  mjgSettings settings;
  mjg_startReport(&report, NULL, 0);
  int slot = slotOf(m);
  mjModel plain = mjgp_withoutOptions(m);
  mjgpJoint* known =
      mjgp_leader(m, slot) < 0 ? NULL : mjgp_check(&n, &settings, &report, &plain, slot);
  while (i < n && known[i].number != joint) {
    i++;
  }

  // the last one is a gear that the joint could have
  mjgpJoint* all = mju_malloc(sizeof(mjgpJoint) * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    all[k] = known[k];
  }
  all[n] = (mjgpJoint){.instance = -1,
                       .kind = scalar ? mjgpTRN_JOINT : mjgpTRN_TENDON,
                       .joint = scalar ? id : -1,
                       .dof = scalar ? m->jnt_dofadr[id] : -1,
                       .tendon = scalar ? -1 : id};
  if (!report.count) {
    mjgp_makeMotors(&motors, &report, m, all, n + (i == n), slot);
    count = 0;
    for (int k = 0; k < m->nactuator; k++) {
      role[k] = mjgp_isMotorOf(&motors, m, k, all, i) - mjgp_isLoadOf(&motors, m, k, all, i);
      count += role[k] != 0;
    }
    mju_free(motors.drive);
  }
  mju_free(all);
  mju_free(known);
  return count;
}


int mjg_checkKey(const char* instance, const char* key, char* error, int error_sz) {
  mjgReport report;
  mjg_startReport(&report, error, error_sz > 0 ? (size_t)error_sz : 0);
  return mjgp_checkKey(&report, instance ? instance : "", key ? key : "");
}

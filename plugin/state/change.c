#include <math.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/words.h"
#include "mjgear_plugin.h"
#include "state/gears.h"


// geared joint of that id, null if it has no gear
static mjgpJoint* findJoint(const mjgpGears* g, int joint) {
  for (int i = 0; g && i < g->config->n; i++) {
    if (g->config->joint[i].joint == joint) {
      return &g->config->joint[i];
    }
  }
  return NULL;
}


// of a joint and its motor_joint the motor has the gear and the other the gap, whichever is named
static mjgpJoint* gearOf(const mjgpGears* g, mjgpJoint* j) {
  return j->gap == mjgpGAP_LOAD ? &g->config->joint[j->partner] : j;
}

static mjgpJoint* gapOf(const mjgpGears* g, mjgpJoint* j) {
  return j->gap == mjgpGAP_MOTOR ? &g->config->joint[j->partner] : j;
}


//---------------------------------- changing ------------------------------------------------------

// does a key say what the gear is, and not only how it rubs besides
static int isKind(int key) {
  return key <= mjgKEY_MESH || key == mjgKEY_MOTOR_STARTING;
}


// take a number into a gap
static void giveGap(mjgReport* report, mjgpJoint* gap, const char* key, double value) {
  double* number = mjgp_gapNumber(gap, key);
  if (gap->gap == mjgpGAP_NONE) {
    mjg_refuse(report, "key '%s': it has no backlash; give it a model in the key 'backlash'", key);
  } else if (!isfinite(value)) {
    mjg_refuse(report, "%s = %g is not a number; write a finite one", key, value);
  } else if (value != 0 && number != &gap->rotor_inertia && !mjgp_readsGapKey(gap, key)) {
    mjg_refuse(report, "key '%s': backlash '%s' does not use it; leave it out", key,
               mjg_backlashName(gap->backlash.model));
  } else {
    *number = value;
  }
}


// take a number into a description
static void giveGear(mjgReport* report, mjgDescription* description, const char* key,
                     double value) {
  int k = mjg_keyFromName(key);
  if (k < 0) {
    int nearest = mjg_keyNearest(key);
    mjg_refuse(report, "unknown key '%.60s'%s%s; choose a key that describes a gear or its gap",
               key, nearest < 0 ? "" : ", did you mean ",
               nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
  } else if (mjg_keyInfo(k)->engine) {
    mjg_refuse(report, "key '%s' is the engine's; change mjModel.%s", key,
               strstr(key, "viscous") ? "dof_damping" : "dof_armature");
  } else {
    mjg_give(description, k, value);
  }
}


// give keys new values; if flg_describe, keys that said what the gear is are forgotten before
static int change(const mjModel* m, mjData* d, int joint, const char* const* key,
                  const double* value, int n, int flg_describe, char* error, int error_sz) {
  // where we are, for messages
  const char* name = joint >= 0 && joint < m->njnt ? mj_id2name(m, mjOBJ_JOINT, joint) : NULL;
  char where[200], number[20];
  snprintf(number, sizeof(number), "%d", joint);
  snprintf(where, sizeof(where), mjgpNAME ", joint '%.100s'", name && name[0] ? name : number);
  mjgReport report;
  mjg_startReport(&report, error, error_sz > 0 ? (size_t)error_sz : 0);
  report.where = where;

  mjgpGears* g = mjgp_gears(m, d);
  mjgpJoint* j = findJoint(g, joint);
  if (!j) {
    mjg_refuse(&report, "it has no gear; name one of the joints in the plugin's key 'joint'");
    return -1;
  }

  // what was given and what is new, checked as a whole
  mjgpJoint gear = *gearOf(g, j), gap = *gapOf(g, j);
  if (flg_describe) {
    gear.description.type = mjgTYPE_AUTO;
    for (int k = 0; k < mjgNKEY; k++) {
      gear.description.given[k] &= !isKind(k);
    }
  }
  int flg_gear = flg_describe, flg_gap = 0;
  for (int i = 0; i < n; i++) {
    if (mjgp_gapNumber(&gap, key[i])) {
      giveGap(&report, &gap, key[i], value[i]);
      flg_gap = 1;
    } else {
      giveGear(&report, &gear.description, key[i], value[i]);
      flg_gear = 1;
    }
  }
  if (flg_gap && !report.count) {
    const char* error_gap = mjg_backlashError(&gap.backlash);
    const char* error_rotor = mjgp_rotorError(&gap);
    if (error_gap) {
      mjg_refuse(&report, "%s", error_gap);
    }
    if (error_rotor) {
      mjg_refuse(&report, "it %s", error_rotor);
    }
  }
  if (flg_gear && !report.count) {
    mjgp_makeGear(&gear.gear, &report, &gear.description);
  }
  if (report.count) {
    return -1;
  }
  gearOf(g, j)->description = gear.description;
  gearOf(g, j)->gear = gear.gear;
  gapOf(g, j)->backlash = gap.backlash;
  gapOf(g, j)->rotor_inertia = gap.rotor_inertia;
  return 0;
}


int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                 const double* value, int n, char* error, int error_sz) {
  return change(m, d, joint, key, value, n, 0, error, error_sz);
}


int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value, char* error,
                int error_sz) {
  return change(m, d, joint, &key, &value, 1, 0, error, error_sz);
}


int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                     const double* value, int n, char* error, int error_sz) {
  return change(m, d, joint, key, value, n, 1, error, error_sz);
}


int mjg_setSolver(const mjModel* m, mjData* d, const char* solver, char* error, int error_sz) {
  mjgReport report;
  mjg_startReport(&report, error, error_sz > 0 ? (size_t)error_sz : 0);
  report.where = mjgpNAME ", key 'solver'";
  mjgpGears* g = mjgp_gears(m, d);
  int choice = mjgp_solverFromName(solver);
  if (!g) {
    mjg_refuse(&report, "the model has no gear; give it an instance of the plugin");
  } else if (choice < 0) {
    mjg_refuse(&report, "unknown solver '%.60s'; choose one that the README lists", solver);
  } else {
    mjgp_checkSolver(&report, choice, g->config->n);
  }
  if (report.count) {
    return -1;
  }
  g->config->options.solver.solver = choice;
  g->in.settings = g->config->options.solver;
  return 0;
}


//---------------------------------- reading -------------------------------------------------------

int mjg_getGear(double* value, const mjModel* m, const mjData* d, int joint, const char* key) {
  const mjgpGears* g = mjgp_gears(m, d);
  mjgpJoint* j = findJoint(g, joint);
  if (!j) {
    return -1;
  }

  // a number of the gap
  mjgpJoint gap = *gapOf(g, j);
  const double* number = mjgp_gapNumber(&gap, key);
  if (number) {
    int known = gap.gap != mjgpGAP_NONE && mjgp_readsGapKey(&gap, key);
    *value = known ? *number : *value;
    return known;
  }

  // a number of the gear
  const mjgpJoint* gear = gearOf(g, j);
  int k = mjg_keyFromName(key);
  if (k < 0) {
    return -1;
  }
  if (gear->description.given[k]) {
    *value = gear->description.value[k];
  } else if (k == mjgKEY_GAMMA_U || k == mjgKEY_GAMMA_V) {
    *value = k == mjgKEY_GAMMA_U ? gear->gear.gamma_u : gear->gear.gamma_v;
  } else {
    return 0;
  }
  return 1;
}


int mjg_getCounts(mjgCounts* counts, const mjModel* m, const mjData* d) {
  const mjgpGears* g = counts && m && d ? mjgp_gears(m, d) : NULL;
  if (!g) {
    return -1;
  }
  *counts = (mjgCounts){.problems = g->count.steps,
                        .solved = g->count.solved,
                        .ill_posed = g->count.ill_posed,
                        .approximate = g->count.approximate,
                        .unsolved = g->count.unsolved,
                        .fallbacks = g->count.fallbacks,
                        .unconfirmed = g->count.unconfirmed};
  return 0;
}


const char* mjg_getSolver(const mjModel* m, const mjData* d) {
  const mjgpGears* g = mjgp_gears(m, d);
  return g ? mjgp_solverName(g->config->options.solver.solver) : NULL;
}


int mjg_resetGears(const mjModel* m, mjData* d) {
  mjgpGears* g = mjgp_gears(m, d);
  if (!g) {
    return -1;
  }

  // the configuration was accepted before, and is again
  mjgReport report;
  mjg_startReport(&report, NULL, 0);
  mjgpJoint* joint = mju_malloc(sizeof(mjgpJoint) * (size_t)(g->config->n + 1));
  mjgp_configure(joint, &g->config->options, &report, m, m->plugin[g->config->leader]);
  memcpy(g->config->joint, joint, sizeof(mjgpJoint) * (size_t)g->config->n);
  g->in.settings = g->config->options.solver;
  mju_free(joint);
  return 0;
}

#include "configuration/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/brake.h"
#include "configuration/gap.h"
#include "configuration/parsing.h"
#include "law/transmission.h"

// keys before and after those of gears and gaps; binary models rely on the order
static const char* const own_keys[] = {"joint",     "tendon",     "type",    "solver",
                                       "tolerance", "iterations", "backlash"};
static const char* const joint_keys[] = {"motor_joint", "encoder"};
static const char* const last_keys[] = {"motor", "maxiter"};  // behind all
enum {
  mjgpNLAST = (int)(sizeof(last_keys) / sizeof(last_keys[0])),
  mjgpNOWN = (int)(sizeof(own_keys) / sizeof(own_keys[0])),
  mjgpNJOINTKEY = (int)(sizeof(joint_keys) / sizeof(joint_keys[0])),
  mjgpNKEYS = mjgpNOWN + mjgpNGAPKEY + mjgpNJOINTKEY + mjgNKEY + mjgNTABLE + mjgpNLAST
};

_Static_assert(mjgpNKEYS <= mjgpMAXKEY, "mjgpMAXKEY is too small");

const char* const* mjgp_keys(int* nkey) {
  static const char* keys[mjgpNKEYS];
  int n = 0;
  for (int i = 0; i < mjgpNOWN; i++) {
    keys[n++] = own_keys[i];
  }
  for (int k = 0; k < mjgpNGAPKEY; k++) {
    keys[n++] = mjg_gapKeyInfo(k)->name;
  }
  for (int i = 0; i < mjgpNJOINTKEY; i++) {
    keys[n++] = joint_keys[i];
  }
  for (int key = 0; key < mjgNKEY; key++) {
    keys[n++] = mjg_keyInfo(key)->name;
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    keys[n++] = mjg_tableName(kind);
  }
  for (int i = 0; i < mjgpNLAST; i++) {
    keys[n++] = last_keys[i];
  }
  *nkey = n;
  return keys;
}


static int countListed(const mjModel* m, int instance) {
  return mjgp_countGiven(m, instance, "joint") + mjgp_countGiven(m, instance, "tendon");
}


int mjgp_countJoints(const mjModel* m, int instance) {
  if (mjgp_isBrake(m, instance)) {
    return mjgp_countBrakes(m, instance);
  }
  mjgpPlace place = {m, instance, "motor_joint", NULL, 0};
  int n = countListed(m, instance), length;
  const char *text = mjgp_value(&place), *word;
  while ((word = mjgp_nextWord(&length, &text))) {
    n += !mjgp_isNone(word, length);
  }
  return n * mjMAX(1, mjgp_countHomes(m, instance));
}


//---------------------------------- joints of an instance -----------------------------------------

// Find the joints and tendons that an instance lists at one home, from index start. Returns how
// many.
static int readJoints(mjgpJoint* joint, int start, mjgpPlace* place) {
  static const int types[] = {mjOBJ_JOINT, mjOBJ_TENDON};
  int found = 0, item = 0, length;
  for (int k = 0; k < 2; k++) {
    place->key = mju_type2Str(types[k]);
    const char *text = mjgp_value(place), *word;
    for (; (word = mjgp_nextWord(&length, &text)); item++) {
      int here = mjgp_isPlaceOf(word, length, types[k], place);
      int id = here ? mjgp_findGeared(types[k], word, length, place) : -1;
      if (id >= 0) {
        joint[found++] = mjgp_makeGeared(place, types[k], id, start + item, item);
      }
    }
  }
  return found;
}


//---------------------------------- gears ---------------------------------------------------------

void mjgp_classify(mjgpJoint* joint) {
  const mjgTransmission* t = &joint->gear;
  joint->constant =
      !t->mesh && t->curved_friction == 0 && !mjgi_gainsAtRest(t) && !mjgi_hasTables(t);
  joint->ordinary = joint->constant && mjgp_isOrdinary(joint, t->gamma_u, t->gamma_v);
}


int mjgp_checkGear(mjgpJoint* joint, mjgReport* report) {
  const mjgTransmission* t = &joint->gear;
  double most = t->gamma_u * fmax(1, mjgi_largestFactor(t));
  mjgp_classify(joint);
  if (most >= 1) {
    mjg_refuse(report,
               "gamma_u = %g would be a gear that no motor can drive, because its forward "
               "efficiency (1 - gamma_u)/(1 + gamma_v) is not positive; choose a value below 1",
               most);
  }
  return most >= 1;
}


int mjgp_makeGear(mjgpJoint* joint, mjgReport* report) {
  int problems = mjg_transmission(&joint->gear, report, &joint->description);
  return problems ? problems : mjgp_checkGear(joint, report);
}


// Make the gears of an instance from their descriptions. place: its name in messages.
static void makeGears(mjgpJoint* joint, int found, mjgReport* report, const mjModel* m,
                      const char* place) {
  for (int i = 0; i < found; i++) {
    char where[mjgpMAXPLACE + 2 * mjgpMAXWORD];
    snprintf(where, sizeof(where), "%s, %s '%.*s'", place, mjgp_gearKind(joint + i), mjgpMAXWORD,
             mjgp_gearName(m, joint + i));
    report->where = where;
    mjgp_makeGear(joint + i, report);
  }
  report->where = place;
}


static void readTables(mjgpJoint* joint, int found, mjgpPlace* place) {
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    mjgTable table;
    place->key = mjg_tableName(kind);
    const char* text = mjgp_value(place);
    if (mjgp_countWords(text) && !mjg_readTable(&table, place->report, kind, text)) {
      for (int i = 0; i < found; i++) {
        joint[i].description.table[kind] = table;
      }
    }
  }
}


// Read the gears of an instance; joint has room for the found ones of n listed joints.
static void readGears(mjgpJoint* joint, int found, int n, mjgpPlace* place) {
  mjgReport* report = place->report;
  int before = report->count, described = 0;
  mjtNum* value = mju_malloc(sizeof(mjtNum) * (size_t)(n + 1));

  // the type
  const char* names[mjgNTYPE];
  for (int i = 0; i < mjgNTYPE; i++) {
    names[i] = mjg_typeName(i);
  }
  place->key = "type";
  int typed = mjgp_readValues(value, names, mjgNTYPE, n, place) > 0;
  for (int i = 0; i < found; i++) {
    mjg_defaultDescription(&joint[i].description);
    joint[i].description.type = typed ? (int)value[joint[i].item] : mjgTYPE_AUTO;
  }

  // all quantities
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    place->key = info->name;
    if (info->engine && mjgp_countGiven(place->m, place->instance, info->name)) {
      mjgp_refuseKey(
          place, "is the engine's; write it as an attribute of the joint or tendon, %s=\"...\", %s",
          strstr(info->name, "viscous") ? "damping" : "armature", "at the output side");
    } else if (mjgp_readValues(value, NULL, 0, n, place) > 0) {
      described = 1;
      for (int i = 0; i < found; i++) {
        mjg_give(&joint[i].description, key, value[joint[i].item]);
      }
    }
  }
  readTables(joint, found, place);
  mju_free(value);

  if (report->count == before && described) {
    makeGears(joint, found, report, place->m, report->where);
  } else if (report->count == before && mjgp_countGiven(place->m, place->instance, "backlash")) {
    for (int i = 0; i < found; i++) {
      mjg_defaultTransmission(&joint[i].gear);
    }
  } else if (report->count == before) {
    mjg_refuse(report, "%s", mjgpUNDESCRIBED);
  }
}


//---------------------------------- settings ------------------------------------------------------

// Returns 1 if an instance may give a setting: the first one, or the same as *first gave.
static int agrees(int* first, int same, const mjgpPlace* place) {
  if (*first >= 0 && !same) {
    mjgp_refuseKey(place,
                   "'%.60s' differs from instance '%s', but all geared joints are solved "
                   "together; give the key once, or the same everywhere",
                   mjgp_value(place), mjgp_nameOf(place->m, mjOBJ_PLUGIN, *first));
    return 0;
  }
  *first = place->instance;
  return 1;
}


// Merge the settings of one instance into those of all. given[k]: instance that gave key k.
static void readSettings(mjgSettings* settings, int given[3], mjgpPlace* place) {
  // the last one is the former name of the one before
  static const char* const keys[] = {"solver", "tolerance", "maxiter", "iterations"};
  const char* solver[mjgNSOLVER];
  for (int i = 0; i < mjgNSOLVER; i++) {
    solver[i] = mjg_solverName(i);
  }
  for (int i = 0; i < 4; i++) {
    int k = mjMIN(i, 2);
    mjtNum x = 0;
    mjtNum own[] = {settings->solver, settings->tolerance, settings->iterations};
    place->key = keys[i];
    if (mjgp_readValues(&x, k ? NULL : solver, mjgNSOLVER, 0, place) <= 0) {
      continue;
    }
    if (k == 1 && !(x > 0 && x < 1)) {
      mjgp_refuseKey(
          place, "%g is not a relative tolerance; choose a value between 0 and 1, such as 1e-12",
          x);
    } else if (k == 2 && !(x >= 1 && x <= 1e9 && x == floor(x))) {
      mjgp_refuseKey(place, "%g is not a number of iterations; choose a positive integer", x);
    } else if (agrees(given + k, x == own[k], place)) {
      own[k] = x;
      settings->solver = (int)own[0];
      settings->tolerance = own[1];
      settings->iterations = (int)own[2];
    }
  }
}


//---------------------------------- all instances -------------------------------------------------

// Order joints by their dofs, then tendons of several joints; 0: the same one.
static int compareJoints(const void* a, const void* b) {
  const mjgpJoint *first = a, *second = b;
  if ((first->dof < 0) != (second->dof < 0)) {
    return first->dof < 0 ? 1 : -1;
  }
  if (first->dof != second->dof) {
    return first->dof - second->dof;
  }
  return first->tendon - second->tendon;
}


static void refuseTwice(const mjgpJoint* a, const mjgpJoint* b, const mjModel* m,
                        mjgReport* report) {
  int first = mjMIN(a->instance, b->instance), second = mjMAX(a->instance, b->instance);
  mjgpPlace place = {m, second, mjgp_gearKind(a), report, 0};
  mjgp_refuseKey(&place, "%s '%s' already has a gear from instance '%s'; name each once",
                 mjgp_gearKind(a), mjgp_gearName(m, a), mjgp_nameOf(m, mjOBJ_PLUGIN, first));
}


// Read one instance of gears. Returns the number of joints. given: as in readSettings.
static int readInstance(mjgpJoint* joint, mjgSettings* settings, int given[3], mjgReport* report,
                        const mjModel* m, int instance) {
  mjgpPlace place = {m, instance, "joint", report, mjgp_nextHome(m, instance, 0)};
  int listed = countListed(m, instance), found = 0, start = 0;
  char where[mjgpMAXPLACE];
  mjgp_writePlace(where, m, instance);
  report->where = where;
  int nkey;
  const char* const* keys = mjgp_keys(&nkey);
  mjgp_refuseBlanks(&place, keys, nkey);
  place.key = "joint";
  if (!listed) {
    mjgp_refuseKey(
        &place,
        "no joint is named; list the hinge or slide joints, or tendons, that have this gear");
  }
  do {
    found += readJoints(joint + found, start, &place);
    start += listed;
  } while ((place.home = place.home ? mjgp_nextHome(m, instance, place.home) : 0));
  readGears(joint, found, listed, &place);
  found += mjgp_readGaps(joint, found, listed, start, &place);
  readSettings(settings, given, &place);
  report->where = NULL;
  return found;
}


mjgpJoint* mjgp_configure(int* n, mjgSettings* settings, mjgReport* report, const mjModel* m,
                          int slot) {
  int total = 0, room = 1, given[3] = {-1, -1, -1};
  for (int i = 0; i < m->nplugin; i++) {
    room += mjgp_isOurs(m, i, slot) ? mjgp_countJoints(m, i) : 0;
  }
  mjgpJoint* joint = mju_malloc(sizeof(mjgpJoint) * (size_t)room);
  mjg_defaultSettings(settings);
  settings->warm_start = settings->skip_uniqueness = 1;
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == slot && !mjgp_isBrake(m, i)) {
      total += readInstance(joint + total, settings, given, report, m, i);
    }
  }
  total = mjgp_readBrakes(joint, total, report, m);

  // in order; each joint once
  qsort(joint, (size_t)total, sizeof(mjgpJoint), compareJoints);
  for (int i = 1; i < total; i++) {
    if (!compareJoints(joint + i - 1, joint + i)) {
      refuseTwice(joint + i - 1, joint + i, m, report);
    }
  }
  mjgp_findPartners(joint, total);
  *n = total;
  return joint;
}

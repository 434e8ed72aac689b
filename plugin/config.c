#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// keys that do not describe a gear; those that do are the core's
static const char* const own_keys[] = {
    "joint", "type", "solver", "coupling", "tolerance", "iterations",
};
enum {
  mjgpNOWN = (int)(sizeof(own_keys) / sizeof(own_keys[0]))
};

static const char* const solver_names[] = {
    "newton", "gauss_seidel", "projection", "extragradient", "lemke", "enumeration",
};
static const char* const coupling_names[] = {"implicit", "lagged"};

#define mjgpMAXWORD 100  // longest word that a message repeats


// where in the configuration we are, for messages
typedef struct Place_ {
  const mjModel* m;
  int instance;
  const char* key;
  mjgReport* report;
} Place;


const char* const* mjgp_keys(int* nkey) {
  static const char* keys[mjgpNOWN + mjgNKEY];
  for (int i = 0; i < mjgpNOWN; i++) {
    keys[i] = own_keys[i];
  }
  for (int key = 0; key < mjgNKEY; key++) {
    keys[mjgpNOWN + key] = mjg_keyInfo(key)->name;
  }
  *nkey = mjgpNOWN + mjgNKEY;
  return keys;
}


//---------------------------------- messages and words --------------------------------------------

// write "mjgear.transmission, instance 'x'"
static void writePlace(char* text, size_t size, const mjModel* m, int instance) {
  const char* name = mj_id2name(m, mjOBJ_PLUGIN, instance);
  if (name && name[0]) {
    snprintf(text, size, mjgpNAME ", instance '%.*s'", mjgpMAXWORD, name);
  } else {
    snprintf(text, size, mjgpNAME ", instance %d", instance);
  }
}


// add "mjgear.transmission, instance 'x', key 'y': ..." to the report and return -1
static int refuse(const Place* place, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(const Place* place, const char* format, ...) {
  char where[2 * mjgpMAXWORD], text[500];
  writePlace(where, sizeof(where), place->m, place->instance);
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  place->report->where = where;
  mjg_refuse(place->report, "key '%s': %s", place->key, text);
  place->report->where = NULL;
  return -1;
}


// value of a key, "" if it is not given
static const char* getValue(const Place* place) {
  const char* value = mj_getPluginConfig(place->m, place->instance, place->key);
  return value ? value : "";
}


// next word of a list separated by white space, null at the end
static const char* nextWord(int* length, const char** text) {
  const char* space = " \t\r\n";
  const char* word = *text + strspn(*text, space);
  *length = (int)strcspn(word, space);
  *text = word + *length;
  return *length ? word : NULL;
}


static int countWords(const char* text) {
  int n = 0, length;
  while (nextWord(&length, &text)) {
    n++;
  }
  return n;
}


int mjgp_countJoints(const mjModel* m, int instance) {
  Place place = {m, instance, "joint", NULL};
  return countWords(getValue(&place));
}


//---------------------------------- values of a key -----------------------------------------------

// read a finite number from a word; 0, or -1 after a refusal
static int readNumber(mjtNum* number, const char* word, int length, const Place* place) {
  char copy[64], *end;
  if (length >= (int)sizeof(copy)) {
    return refuse(place, "'%.40s...' is not a number; write one such as 0.5 or 1e-3", word);
  }
  memcpy(copy, word, (size_t)length);
  copy[length] = 0;
  *number = strtod(copy, &end);
  if (end == copy || *end) {
    return refuse(place, "'%s' is not a number; write one such as 0.5 or 1e-3", copy);
  }
  if (!isfinite(*number)) {
    return refuse(place, "'%s' is not finite; write a finite number", copy);
  }
  return 0;
}


// read a key that takes a single number; 1 if given, 0 if not (number is untouched), -1 if refused
static int readSetting(mjtNum* number, const Place* place) {
  const char* text = getValue(place);
  int length, given = countWords(text);
  if (given > 1) {
    return refuse(place, "%d values; give one for the whole model", given);
  }
  const char* word = nextWord(&length, &text);
  return given && readNumber(number, word, length, place) ? -1 : given;
}


// number of values of a key, which is one for all joints or one per joint; -1 if refused
static int countValues(int n, const Place* place) {
  int given = countWords(getValue(place));
  if (given > 1 && given != n) {
    return refuse(place, "%d values for %d joint%s; give one value for all joints or one per joint",
                  given, n, n == 1 ? "" : "s");
  }
  return given;
}


// number of the word among n words, or -1 after a refusal
static int findWord(const char* word, int length, const char* const* words, int n,
                    const Place* place) {
  char list[200] = "";
  for (int i = 0; i < n; i++) {
    if ((int)strlen(words[i]) == length && !strncmp(words[i], word, (size_t)length)) {
      return i;
    }
    snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
  }
  return refuse(place, "'%.*s' is unknown; choose one of: %s",
                length < mjgpMAXWORD ? length : mjgpMAXWORD, word, list);
}


// read a key whose value is one of n words; 1 if given, 0 if not, -1 after a refusal
static int readWord(int* choice, const char* const* words, int n, const Place* place) {
  const char* text = getValue(place);
  int given = countWords(text);
  if (!given) {
    return 0;
  }
  int length = (int)strlen(text);
  const char* word = given == 1 ? nextWord(&length, &text) : text;
  *choice = findWord(word, length, words, n, place);
  return *choice < 0 ? -1 : 1;
}


//---------------------------------- joints of an instance -----------------------------------------

static const char* jointName(const mjModel* m, int joint) {
  const char* name = mj_id2name(m, mjOBJ_JOINT, joint);
  return name ? name : "";
}


// find the joints that an instance names; number of those that were found and can have a gear
static int readJoints(mjgpJoint* joint, int n, const Place* place) {
  static const char* const type_names[] = {"free", "ball", "slide", "hinge"};
  const mjModel* m = place->m;
  const char* text = getValue(place);
  int found = 0;
  if (!n) {
    refuse(place, "no joint is named; list the hinge or slide joints that have this gear");
  }

  for (int i = 0; i < n; i++) {
    // copy the word, look it up
    char name[256];
    int length, id = -1;
    const char* word = nextWord(&length, &text);
    if (length < (int)sizeof(name)) {
      memcpy(name, word, (size_t)length);
      name[length] = 0;
      id = mj_name2id(m, mjOBJ_JOINT, name);
    }
    if (id < 0) {
      refuse(place, "joint '%.*s' is not in the model; use the name of a hinge or slide joint",
             length > mjgpMAXWORD ? mjgpMAXWORD : length, word);
      continue;
    }
    if (m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) {
      refuse(place, "joint '%s' is a %s joint; a gear drives a hinge or a slide joint", name,
             type_names[m->jnt_type[id]]);
      continue;
    }

    joint[found++] = (mjgpJoint){.instance = place->instance,
                                 .index = i,
                                 .joint = id,
                                 .dof = m->jnt_dofadr[id],
                                 .qpos = m->jnt_qposadr[id]};
  }
  return found;
}


//---------------------------------- gears ---------------------------------------------------------

int mjgp_makeGear(mjgTransmission* gear, mjgReport* report, const mjgDescription* description) {
  mjgTransmission t;
  int problems = mjg_transmission(&t, report, description);
  if (!problems && t.gamma_u >= 1) {
    mjg_refuse(report,
               "gamma_u = %g, so that the motor cannot drive the gear (forward efficiency "
               "(1 - gamma_u)/(1 + gamma_v) <= 0); choose a value below 1",
               t.gamma_u);
    problems = 1;
  }
  if (!problems) {
    *gear = t;
  }
  return problems;
}


// read the type of gear of each of n listed joints; number of values, -1 if refused
static int readTypes(int* type, int n, Place* place) {
  const char* names[mjgNTYPE];
  for (int i = 0; i < mjgNTYPE; i++) {
    names[i] = mjg_typeName(i);
  }
  place->key = "type";
  int length, given = countValues(n, place);
  const char* text = getValue(place);
  for (int i = 0; i < given; i++) {
    const char* word = nextWord(&length, &text);
    if ((type[i] = findWord(word, length, names, mjgNTYPE, place)) < 0) {
      return -1;
    }
  }
  return given;
}


// read everything that describes the gears of an instance; joint holds found of the n listed ones
static void readGears(mjgpJoint* joint, int found, int n, Place* place) {
  int before = place->report->count;
  mjtNum* number = mju_malloc(sizeof(mjtNum) * (size_t)(n + 1));
  int* type = mju_malloc(sizeof(int) * (size_t)(n + 1));
  int described = 0;

  // the type, the same for all or one per joint
  int given = readTypes(type, n, place);
  for (int i = 0; i < found; i++) {
    mjg_defaultDescription(&joint[i].description);
    joint[i].description.type = given > 0 ? type[given == 1 ? 0 : joint[i].index] : mjgTYPE_AUTO;
  }

  // all quantities
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    place->key = info->name;
    given = countValues(n, place);
    if (given <= 0) {
      continue;
    }
    described = 1;
    if (info->engine) {
      refuse(place, "is the engine's; write it as an attribute of the joint, %s=\"...\", %s",
             strstr(info->name, "viscous") ? "damping" : "armature", "at the output side");
      continue;
    }
    const char* text = getValue(place);
    int status = 0, length;
    for (int i = 0; i < given && !status; i++) {
      const char* word = nextWord(&length, &text);
      status = readNumber(number + i, word, length, place);
    }
    for (int i = 0; i < found && !status; i++) {
      mjg_give(&joint[i].description, key, number[given == 1 ? 0 : joint[i].index]);
    }
  }
  mju_free(number);
  mju_free(type);
  if (!described && place->report->count == before) {
    place->key = "gamma_u";
    refuse(place,
           "missing; describe the gear by gamma_u and gamma_v, by eta_forward and eta_backward, or "
           "by type and its keys");
  }
  if (place->report->count > before) {
    return;
  }

  // what they mean
  for (int i = 0; i < found; i++) {
    char where[4 * mjgpMAXWORD];
    writePlace(where, sizeof(where), place->m, place->instance);
    size_t length = strlen(where);
    snprintf(where + length, sizeof(where) - length, ", joint '%.*s'", mjgpMAXWORD,
             jointName(place->m, joint[i].joint));
    place->report->where = where;
    mjgp_makeGear(&joint[i].gear, place->report, &joint[i].description);
    place->report->where = NULL;
  }
}


//---------------------------------- settings ------------------------------------------------------

// refuse a setting that differs from what another instance says
static int disagree(const Place* place, int other) {
  const char* name = mj_id2name(place->m, mjOBJ_PLUGIN, other);
  return refuse(place,
                "'%.60s' differs from instance '%s'; all geared joints are solved together, "
                "give the key once or everywhere the same",
                getValue(place), name ? name : "");
}


// take over a setting of an instance; first is the instance that gave it before, or -1
static void agree(int* setting, int value, int* first, const Place* place) {
  if (*first >= 0 && value != *setting) {
    disagree(place, *first);
    return;
  }
  *first = place->instance;
  *setting = value;
}


// read the settings of one instance into those of all; given[k] is the instance that gave key k
static void readOptions(mjgpOptions* options, int given[4], Place* place) {
  int choice = 0;
  mjtNum number = 0;

  place->key = "solver";
  if (readWord(&choice, solver_names, mjgENUMERATION + 1, place) > 0) {
    agree(&options->solver.solver, choice, &given[0], place);
  }

  place->key = "coupling";
  if (readWord(&choice, coupling_names, 2, place) > 0) {
    agree(&options->coupling, choice, &given[1], place);
  }

  place->key = "tolerance";
  if (readSetting(&number, place) > 0) {
    if (!(number > 0 && number < 1)) {
      refuse(place, "%g is not a relative tolerance; choose a value between 0 and 1, such as 1e-12",
             number);
    } else if (given[2] >= 0 && number != options->solver.tolerance) {
      disagree(place, given[2]);
    } else {
      given[2] = place->instance;
      options->solver.tolerance = number;
    }
  }

  place->key = "iterations";
  if (readSetting(&number, place) > 0) {
    if (!(number >= 1 && number <= 1e9 && number == floor(number))) {
      refuse(place, "%g is not a number of iterations; choose a positive integer", number);
    } else {
      agree(&options->solver.iterations, (int)number, &given[3], place);
    }
  }
}


//---------------------------------- all instances -------------------------------------------------

static int compareDofs(const void* a, const void* b) {
  int dof_a = ((const mjgpJoint*)a)->dof, dof_b = ((const mjgpJoint*)b)->dof;
  return (dof_a > dof_b) - (dof_a < dof_b);
}


int mjgp_configure(mjgpJoint* joint, mjgpOptions* options, mjgReport* report, const mjModel* m,
                   int slot) {
  int total = 0, given[4] = {-1, -1, -1, -1}, before = report->count;
  mjg_defaultSettings(&options->solver);
  options->solver.warm_start = 1;
  options->coupling = mjgpIMPLICIT;

  // each instance: joints, their gears, settings
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == slot) {
      Place place = {m, i, "joint", report};
      int n = mjgp_countJoints(m, i);
      int found = readJoints(joint + total, n, &place);
      readGears(joint + total, found, n, &place);
      readOptions(options, given, &place);
      total += found;
    }
  }

  // in the order of dofs; each joint once
  qsort(joint, (size_t)total, sizeof(mjgpJoint), compareDofs);
  for (int i = 1; i < total; i++) {
    if (joint[i].dof == joint[i - 1].dof) {
      int later = joint[i].instance > joint[i - 1].instance;
      int second = later ? joint[i].instance : joint[i - 1].instance;
      int first = later ? joint[i - 1].instance : joint[i].instance;
      const char* other = mj_id2name(m, mjOBJ_PLUGIN, first);
      Place place = {m, second, "joint", report};
      refuse(&place, "joint '%s' already has a gear from instance '%s'; name each joint once",
             jointName(m, joint[i].joint), other ? other : "");
    }
  }
  return report->count - before;
}

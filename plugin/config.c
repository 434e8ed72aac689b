#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

// keys that do not describe a gear; those that do are the core's
static const char* const own_keys[] = {
    "joint",    "type",        "solver",        "coupling",    "tolerance", "iterations",
    "backlash", "half_gap",    "stiffness",     "damping",     "rubber",    "shaft_inertia",
    "exponent", "restitution", "rotor_inertia", "motor_joint", "encoder",
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


// is a word the one that says nothing
static int isNone(const char* word, int length) {
  return length == 4 && !strncmp(word, "none", 4);
}


int mjgp_countJoints(const mjModel* m, int instance) {
  Place place = {m, instance, "joint", NULL};
  int n = countWords(getValue(&place)), length;
  place.key = "motor_joint";
  const char *text = getValue(&place), *word;
  while ((word = nextWord(&length, &text))) {
    n += !isNone(word, length);
  }
  return n;
}


int mjgp_hasBacklash(const mjModel* m, int instance) {
  Place place = {m, instance, "backlash", NULL};
  return countWords(getValue(&place)) > 0;
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


// hinge or slide joint of this name; -1 after a refusal
static int findJoint(const char* word, int length, const Place* place) {
  static const char* const type_names[] = {"free", "ball", "slide", "hinge"};
  const mjModel* m = place->m;
  char name[256];
  int id = -1;
  if (length < (int)sizeof(name)) {
    memcpy(name, word, (size_t)length);
    name[length] = 0;
    id = mj_name2id(m, mjOBJ_JOINT, name);
  }
  if (id < 0) {
    return refuse(place, "joint '%.*s' is not in the model; use the name of a hinge or slide joint",
                  length > mjgpMAXWORD ? mjgpMAXWORD : length, word);
  }
  if (m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) {
    return refuse(place, "joint '%s' is a %s joint; a gear drives a hinge or a slide joint", name,
                  type_names[m->jnt_type[id]]);
  }
  return id;
}


static mjgpJoint makeJoint(const Place* place, int id, int index) {
  const mjModel* m = place->m;
  return (mjgpJoint){.instance = place->instance,
                     .index = index,
                     .joint = id,
                     .dof = m->jnt_dofadr[id],
                     .qpos = m->jnt_qposadr[id],
                     .partner = -1};
}


// find the joints that an instance names; number of those that were found and can have a gear
static int readJoints(mjgpJoint* joint, int n, const Place* place) {
  const char* text = getValue(place);
  int found = 0;
  if (!n) {
    refuse(place, "no joint is named; list the hinge or slide joints that have this gear");
  }
  for (int i = 0; i < n; i++) {
    int length;
    const char* word = nextWord(&length, &text);
    int id = findJoint(word, length, place);
    if (id >= 0) {
      joint[found++] = makeJoint(place, id, i);
    }
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
  if (!described && place->report->count == before && mjgp_hasBacklash(place->m, place->instance)) {
    for (int i = 0; i < found; i++) {
      mjg_defaultTransmission(&joint[i].gear);
    }
    return;
  }
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


//---------------------------------- backlash ------------------------------------------------------

// numbers that describe a gap
static const struct {
  const char* key;
  size_t offset;  // in mjgBacklash; beyond it: the rotor's inertia
} gap_keys[] = {
    {"half_gap", offsetof(mjgBacklash, half_gap)},
    {"stiffness", offsetof(mjgBacklash, stiffness)},
    {"damping", offsetof(mjgBacklash, damping)},
    {"rubber", offsetof(mjgBacklash, rubber)},
    {"shaft_inertia", offsetof(mjgBacklash, shaft_inertia)},
    {"exponent", offsetof(mjgBacklash, exponent)},
    {"restitution", offsetof(mjgBacklash, restitution)},
    {"rotor_inertia", sizeof(mjgBacklash)},
};
enum {
  mjgpNGAPKEY = (int)(sizeof(gap_keys) / sizeof(gap_keys[0]))
};


// does a model of backlash read a key
static int readsKey(int model, const char* key) {
  if (!strcmp(key, "rubber")) {
    return model == mjgRUBBER || model == mjgSMOOTH;
  }
  if (!strcmp(key, "shaft_inertia")) {
    return model == mjgJCK;
  }
  if (!strcmp(key, "exponent") || !strcmp(key, "restitution")) {
    return model == mjgHUNT_CROSSLEY;
  }
  if (!strcmp(key, "damping")) {
    return model != mjgDEADZONE && model != mjgSMOOTH && model != mjgHUNT_CROSSLEY;
  }
  return 1;
}


// read words of a key for the found of n listed joints; number of values, -1 if refused
static int readChoices(int* choice, const char* const* words, int nword, int n, Place* place) {
  int length, given = countValues(n, place);
  const char* text = getValue(place);
  for (int i = 0; i < given; i++) {
    const char* word = nextWord(&length, &text);
    if ((choice[i] = findWord(word, length, words, nword, place)) < 0) {
      return -1;
    }
  }
  return given;
}


// numbers of the gaps of joints that have one
static void readGapNumbers(mjgpJoint* joint, int found, int n, mjtNum* number, Place* place) {
  for (int k = 0; k < mjgpNGAPKEY; k++) {
    place->key = gap_keys[k].key;
    int given = countValues(n, place), length, status = 0;
    const char* text = getValue(place);
    for (int i = 0; i < given && !status; i++) {
      const char* word = nextWord(&length, &text);
      status = readNumber(number + i, word, length, place);
    }
    for (int i = 0; i < found && given > 0 && !status; i++) {
      mjtNum value = number[given == 1 ? 0 : joint[i].index];
      if (joint[i].gap == mjgpGAP_NONE) {
        continue;
      }
      if (gap_keys[k].offset == sizeof(mjgBacklash)) {
        joint[i].rotor_inertia = value;
        continue;
      }
      if (value != 0 && !readsKey(joint[i].backlash.model, place->key)) {
        status =
            refuse(place,
                   "backlash '%s' of joint '%s' does not use it; leave it out, or give "
                   "this joint 0",
                   mjg_backlashName(joint[i].backlash.model), jointName(place->m, joint[i].joint));
      }
      memcpy((char*)&joint[i].backlash + gap_keys[k].offset, &value, sizeof(value));
    }
  }
}


// motors that are joints of the model: they join the list behind all others. Returns their number
static int readMotors(mjgpJoint* joint, int found, int n, Place* place) {
  const mjModel* m = place->m;
  place->key = "motor_joint";
  const char* text = getValue(place);
  int given = countWords(text), added = 0;
  if (given && given != n) {
    refuse(place, "%d names for %d joint%s; give one per joint, none for a rotor of its own", given,
           n, n == 1 ? "" : "s");
    return 0;
  }
  for (int k = 0; k < given; k++) {
    int length, i = 0;
    const char* word = nextWord(&length, &text);
    while (i < found && joint[i].index != k) {
      i++;
    }
    if (isNone(word, length) || i == found) {
      continue;
    }
    int id = findJoint(word, length, place);
    if (id < 0) {
      continue;
    }
    const char *name = jointName(m, id), *load = jointName(m, joint[i].joint);
    if (joint[i].gap == mjgpGAP_NONE) {
      refuse(place, "joint '%s' has no backlash; give it a model in the key 'backlash'", load);
    } else if (id == joint[i].joint) {
      refuse(place, "'%s' is the motor of itself; name the joint that drives it", name);
    } else if (m->jnt_type[id] != m->jnt_type[joint[i].joint]) {
      refuse(place, "'%s' and '%s' are a hinge and a slide; couple joints of one kind", name, load);
    } else {
      joint[found + added] = makeJoint(place, id, n + added);
      joint[found + added].gap = mjgpGAP_MOTOR;
      joint[found + added].gear = joint[i].gear;
      joint[found + added].description = joint[i].description;
      joint[i].gap = mjgpGAP_LOAD;
      mjg_defaultTransmission(&joint[i].gear);
      mjg_defaultDescription(&joint[i].description);
      added++;
    }
  }
  return added;
}


// refuse what a gap cannot be
static void checkGap(const mjgpJoint* joint, Place* place) {
  const mjModel* m = place->m;
  const char* name = jointName(m, joint->joint);
  const char* error = mjg_backlashError(&joint->backlash);
  place->key = "backlash";
  if (error) {
    refuse(place, "joint '%s': %s", name, error);
  }
  place->key = "rotor_inertia";
  if (joint->gap == mjgpGAP_LOAD) {
    if (joint->rotor_inertia != 0) {
      refuse(place, "joint '%s' has a motor_joint, whose inertia is the rotor's; leave out one",
             name);
    }
    return;
  }
  if (!(joint->rotor_inertia > 0)) {
    refuse(place,
           "joint '%s' has backlash and needs a rotor in front of it; give it a positive "
           "inertia, or name a motor_joint",
           name);
  }
  mjtNum armature = m->dof_armature[joint->dof] + mj_actuatorArmature(m, mjOBJ_JOINT, joint->joint);
  if (armature != 0) {
    refuse(place,
           "joint '%s' has armature %g besides; behind a gap the rotor is no part of the "
           "joint, set its armature to 0",
           name, armature);
  }
}


// read everything that describes backlash; returns the number of joints that it adds as motors
static int readGaps(mjgpJoint* joint, int found, int n, Place* place) {
  const char* names[mjgNBACKLASH + 1];
  static const char* const encoder_names[] = {"motor", "joint"};
  for (int i = 0; i < mjgNBACKLASH; i++) {
    names[i] = mjg_backlashName(i);
  }
  names[mjgNBACKLASH] = "none";

  // without a model no key of a gap means anything
  if (!mjgp_hasBacklash(place->m, place->instance)) {
    for (int k = 0; k < mjgpNGAPKEY + 2; k++) {
      place->key = k < mjgpNGAPKEY ? gap_keys[k].key : k == mjgpNGAPKEY ? "motor_joint" : "encoder";
      if (countWords(getValue(place))) {
        refuse(place, "the instance has no backlash; give a model in the key 'backlash'");
      }
    }
    return 0;
  }

  // models
  int before = place->report->count, added = 0;
  int* choice = mju_malloc(sizeof(int) * (size_t)(n + 1));
  mjtNum* number = mju_malloc(sizeof(mjtNum) * (size_t)(n + 1));
  place->key = "backlash";
  int given = readChoices(choice, names, mjgNBACKLASH + 1, n, place);
  for (int i = 0; i < found && given > 0; i++) {
    int model = choice[given == 1 ? 0 : joint[i].index];
    joint[i].gap = model == mjgNBACKLASH ? mjgpGAP_NONE : mjgpGAP_ROTOR;
    joint[i].backlash = (mjgBacklash){.model = model, .exponent = 1};
  }
  if (given > 0) {
    readGapNumbers(joint, found, n, number, place);
    added = readMotors(joint, found, n, place);
    place->key = "encoder";
    given = readChoices(choice, encoder_names, 2, n, place);
    for (int i = 0; i < found && given > 0; i++) {
      joint[i].encoder = choice[given == 1 ? 0 : joint[i].index];
      if (joint[i].gap == mjgpGAP_LOAD) {
        refuse(place, "joint '%s' has a motor_joint; an actuator measures the joint it acts on",
               jointName(place->m, joint[i].joint));
      }
    }
  }
  mju_free(choice);
  mju_free(number);
  for (int i = 0; i < found && place->report->count == before; i++) {
    if (joint[i].gap == mjgpGAP_ROTOR || joint[i].gap == mjgpGAP_LOAD) {
      checkGap(joint + i, place);
    }
  }
  return added;
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


// loads and their motors: each motor stands in its instance's list in the order of the loads
static void findPartners(mjgpJoint* joint, int total) {
  for (int i = 0; i < total; i++) {
    int rank = 0, n = 0;
    if (joint[i].gap != mjgpGAP_LOAD) {
      continue;
    }
    for (int k = 0; k < total; k++) {
      if (joint[k].instance == joint[i].instance && joint[k].gap == mjgpGAP_LOAD) {
        rank += joint[k].index < joint[i].index;
      }
      n += joint[k].instance == joint[i].instance && joint[k].gap != mjgpGAP_MOTOR;
    }
    for (int k = 0; k < total; k++) {
      if (joint[k].instance == joint[i].instance && joint[k].gap == mjgpGAP_MOTOR &&
          joint[k].index == n + rank) {
        joint[i].partner = k;
        joint[k].partner = i;
      }
    }
  }
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
      int n = countWords(getValue(&place));
      int found = readJoints(joint + total, n, &place);
      readGears(joint + total, found, n, &place);
      found += readGaps(joint + total, found, n, &place);
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
  findPartners(joint, total);
  return report->count - before;
}

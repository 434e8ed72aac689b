#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// all keys; order is of no importance
const char* const mjgp_keys[] = {
    "joint",  "gamma_u",  "gamma_v",   "eta_forward", "eta_backward",
    "solver", "coupling", "tolerance", "iterations",
};
const int mjgp_nkey = (int)(sizeof(mjgp_keys) / sizeof(mjgp_keys[0]));

static const char* const solver_names[] = {
    "newton", "gauss_seidel", "projection", "extragradient", "lemke", "enumeration",
};
static const char* const coupling_names[] = {"implicit", "lagged"};


// where in the configuration we are, for messages
typedef struct Place_ {
  const mjModel* m;
  int instance;
  const char* key;
  char* error;
} Place;


//---------------------------------- messages and words --------------------------------------------

// write "mjgear.transmission, instance 'x', key 'y': ..." and return -1
static int refuse(const Place* place, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(const Place* place, const char* format, ...) {
  const char* name = mj_id2name(place->m, mjOBJ_PLUGIN, place->instance);
  int n = name && name[0]
              ? snprintf(place->error, mjgpERRORSIZE,
                         mjgpNAME ", instance '%.60s', key '%s': ", name, place->key)
              : snprintf(place->error, mjgpERRORSIZE,
                         mjgpNAME ", instance %d, key '%s': ", place->instance, place->key);
  va_list args;
  va_start(args, format);
  vsnprintf(place->error + n, mjgpERRORSIZE - (size_t)n, format, args);
  va_end(args);
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


// read a key with one number for all joints or one per joint; returns as readSetting
static int readNumbers(mjtNum* number, int n, const Place* place) {
  const char* text = getValue(place);
  int given = countWords(text);
  if (!given) {
    return 0;
  }
  if (given != 1 && given != n) {
    return refuse(place, "%d values for %d joint%s; give one value for all joints or one per joint",
                  given, n, n == 1 ? "" : "s");
  }
  int length;
  for (int i = 0; i < given; i++) {
    const char* word = nextWord(&length, &text);
    if (readNumber(number + i, word, length, place)) {
      return -1;
    }
  }
  for (int i = given; i < n; i++) {
    number[i] = number[0];
  }
  return 1;
}


// read a key whose value is one of n words; 1 if given, 0 if not, -1 after a refusal
static int readWord(int* choice, const char* const* words, int n, const Place* place) {
  const char* text = getValue(place);
  if (!countWords(text)) {
    return 0;
  }
  int length;
  const char* word = nextWord(&length, &text);
  for (int i = 0; i < n; i++) {
    if ((int)strlen(words[i]) == length && !strncmp(words[i], word, (size_t)length) &&
        !countWords(text)) {
      *choice = i;
      return 1;
    }
  }
  char list[200] = "";
  for (int i = 0; i < n; i++) {
    snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
  }
  return refuse(place, "'%.60s' is unknown; choose one of: %s", getValue(place), list);
}


//---------------------------------- joints of an instance -----------------------------------------

static const char* jointName(const mjModel* m, int joint) {
  const char* name = mj_id2name(m, mjOBJ_JOINT, joint);
  return name ? name : "";
}


// find the joints that an instance names; 0 or -1
static int readJoints(mjgpJoint* joint, int n, const Place* place) {
  static const char* const type_names[] = {"free", "ball", "slide", "hinge"};
  const mjModel* m = place->m;
  const char* text = getValue(place);
  if (!n) {
    return refuse(place, "no joint is named; list the hinge or slide joints that have this gear");
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
      return refuse(place,
                    "joint '%.*s' is not in the model; use the name of a hinge or slide joint",
                    length > 100 ? 100 : length, word);
    }
    if (m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) {
      return refuse(place, "joint '%s' is a %s joint; a gear drives a hinge or a slide joint", name,
                    type_names[m->jnt_type[id]]);
    }

    joint[i] = (mjgpJoint){.instance = place->instance,
                           .index = i,
                           .joint = id,
                           .dof = m->jnt_dofadr[id],
                           .qpos = m->jnt_qposadr[id]};
  }
  return 0;
}


// refuse coefficients that are no gear; 0 or -1
static int checkCoefficients(const mjgpJoint* joint, int n, Place* place) {
  for (int i = 0; i < n; i++) {
    const char* name = jointName(place->m, joint[i].joint);
    mjtNum gamma_u = joint[i].gamma_u, gamma_v = joint[i].gamma_v;
    place->key = "gamma_u";
    if (gamma_u >= 1) {
      return refuse(place,
                    "joint '%s' has %g, so that the motor cannot drive it (forward efficiency "
                    "(1 - gamma_u)/(1 + gamma_v) <= 0); choose a value below 1",
                    name, gamma_u);
    }
    if (gamma_u <= -1) {
      return refuse(place, "joint '%s' has %g, which is no gear; choose a value above -1", name,
                    gamma_u);
    }
    place->key = "gamma_v";
    if (gamma_v <= -1) {
      return refuse(place, "joint '%s' has %g, which is no gear; choose a value above -1", name,
                    gamma_v);
    }
    if (gamma_u + gamma_v < 0) {
      return refuse(place,
                    "joint '%s' has gamma_u + gamma_v = %g < 0, a forward efficiency above 1; "
                    "choose coefficients whose sum is not negative",
                    name, gamma_u + gamma_v);
    }
  }
  return 0;
}


// read the asymmetry coefficients of an instance's joints, given as such or as efficiencies; 0 or -1
static int readCoefficients(mjgpJoint* joint, int n, mjtNum* first, mjtNum* second, Place* place) {
  place->key = "gamma_u";
  int given_u = readNumbers(first, n, place);
  if (given_u < 0) {
    return -1;
  }
  place->key = "gamma_v";
  int given_v = readNumbers(second, n, place);
  if (given_v < 0) {
    return -1;
  }
  int given_f = countWords((place->key = "eta_forward", getValue(place))) > 0;
  int given_b = countWords((place->key = "eta_backward", getValue(place))) > 0;

  // either pair, complete
  if ((given_u || given_v) && (given_f || given_b)) {
    place->key = given_u ? "gamma_u" : "gamma_v";
    return refuse(place,
                  "contradicts key '%s'; give gamma_u and gamma_v, or eta_forward and "
                  "eta_backward, not both",
                  given_f ? "eta_forward" : "eta_backward");
  }
  if (given_u != given_v) {
    place->key = given_u ? "gamma_v" : "gamma_u";
    return refuse(place, "missing beside '%s'; give both coefficients",
                  given_u ? "gamma_u" : "gamma_v");
  }
  if (given_f != given_b) {
    place->key = given_f ? "eta_backward" : "eta_forward";
    return refuse(place,
                  "missing beside '%s'; give both efficiencies (eta_backward <= 0 is a gear "
                  "that cannot be driven back)",
                  given_f ? "eta_forward" : "eta_backward");
  }
  if (!given_u && !given_f) {
    place->key = "gamma_u";
    return refuse(place, "missing; give gamma_u and gamma_v, or eta_forward and eta_backward");
  }

  // asymmetry coefficients
  if (given_u) {
    for (int i = 0; i < n; i++) {
      joint[i].gamma_u = first[i];
      joint[i].gamma_v = second[i];
    }
    return checkCoefficients(joint, n, place);
  }

  // efficiencies
  place->key = "eta_forward";
  if (readNumbers(first, n, place) < 0) {
    return -1;
  }
  place->key = "eta_backward";
  if (readNumbers(second, n, place) < 0) {
    return -1;
  }
  for (int i = 0; i < n; i++) {
    const char* name = jointName(place->m, joint[i].joint);
    place->key = "eta_forward";
    if (first[i] <= 0) {
      return refuse(place,
                    "joint '%s' has %g, so that the motor cannot drive it; choose a value in "
                    "(0, 1]",
                    name, first[i]);
    }
    if (first[i] > 1) {
      return refuse(place,
                    "joint '%s' has %g, a gear that creates energy; choose a value in (0, 1]", name,
                    first[i]);
    }
    place->key = "eta_backward";
    if (second[i] > 1) {
      return refuse(place,
                    "joint '%s' has %g, a gear that creates energy; choose a value up to 1 "
                    "(<= 0: cannot be driven back)",
                    name, second[i]);
    }
    if (mjg_coefficients(&joint[i].gamma_u, &joint[i].gamma_v, first[i], second[i]) < 0) {
      return refuse(place,
                    "joint '%s' has eta_forward %g and eta_backward %g, to which no gear "
                    "belongs; choose other efficiencies",
                    name, first[i], second[i]);
    }
  }
  return checkCoefficients(joint, n, place);
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


// read the settings of one instance into those of all; given[k] is the instance that gave key k
static int readOptions(mjgpOptions* options, int given[4], Place* place) {
  int solver = 0, coupling = 0, status;
  mjtNum number = 0;

  place->key = "solver";
  if ((status = readWord(&solver, solver_names, mjgENUMERATION + 1, place)) < 0) {
    return -1;
  }
  if (status) {
    if (given[0] >= 0 && solver != options->solver.solver) {
      return disagree(place, given[0]);
    }
    given[0] = place->instance;
    options->solver.solver = solver;
  }

  place->key = "coupling";
  if ((status = readWord(&coupling, coupling_names, 2, place)) < 0) {
    return -1;
  }
  if (status) {
    if (given[1] >= 0 && coupling != options->coupling) {
      return disagree(place, given[1]);
    }
    given[1] = place->instance;
    options->coupling = coupling;
  }

  place->key = "tolerance";
  if ((status = readSetting(&number, place)) < 0) {
    return -1;
  }
  if (status) {
    if (!(number > 0 && number < 1)) {
      return refuse(place,
                    "%g is not a relative tolerance; choose a value between 0 and 1, such as "
                    "1e-12",
                    number);
    }
    if (given[2] >= 0 && number != options->solver.tolerance) {
      return disagree(place, given[2]);
    }
    given[2] = place->instance;
    options->solver.tolerance = number;
  }

  place->key = "iterations";
  if ((status = readSetting(&number, place)) < 0) {
    return -1;
  }
  if (status) {
    if (!(number >= 1 && number <= 1e9 && number == floor(number))) {
      return refuse(place, "%g is not a number of iterations; choose a positive integer", number);
    }
    if (given[3] >= 0 && (int)number != options->solver.iterations) {
      return disagree(place, given[3]);
    }
    given[3] = place->instance;
    options->solver.iterations = (int)number;
  }
  return 0;
}


//---------------------------------- all instances -------------------------------------------------

static int compareDofs(const void* a, const void* b) {
  int dof_a = ((const mjgpJoint*)a)->dof, dof_b = ((const mjgpJoint*)b)->dof;
  return (dof_a > dof_b) - (dof_a < dof_b);
}


int mjgp_configure(mjgpJoint* joint, mjgpOptions* options, char error[mjgpERRORSIZE],
                   const mjModel* m, int slot) {
  int total = 0, given[4] = {-1, -1, -1, -1};
  mjg_defaultSettings(&options->solver);
  options->solver.warm_start = 1;
  options->coupling = mjgpIMPLICIT;

  // each instance: joints, coefficients, settings
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] != slot) {
      continue;
    }
    Place place = {m, i, "joint", error};
    int n = mjgp_countJoints(m, i);
    if (readJoints(joint + total, n, &place)) {
      return -1;
    }
    mjtNum* number = mju_malloc(2 * sizeof(mjtNum) * (size_t)n);
    int status = readCoefficients(joint + total, n, number, number + n, &place);
    mju_free(number);
    if (status || readOptions(options, given, &place)) {
      return -1;
    }
    total += n;
  }

  // in the order of dofs; each joint once
  qsort(joint, (size_t)total, sizeof(mjgpJoint), compareDofs);
  for (int i = 1; i < total; i++) {
    if (joint[i].dof == joint[i - 1].dof) {
      int later = joint[i].instance > joint[i - 1].instance;
      int second = later ? joint[i].instance : joint[i - 1].instance;
      int first = later ? joint[i - 1].instance : joint[i].instance;
      const char* other = mj_id2name(m, mjOBJ_PLUGIN, first);
      Place place = {m, second, "joint", error};
      return refuse(&place,
                    "joint '%s' already has a gear from instance '%s'; name each joint once",
                    jointName(m, joint[i].joint), other ? other : "");
    }
  }
  return 0;
}

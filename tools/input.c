#include "input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// units that may follow a number, and what they are in the unit of a key
typedef struct Unit_ {
  const char* name;
  const char* of;  // unit of the keys that it fits
  double factor;
} Unit;

static const Unit kUnits[] = {
    {"deg", "rad", 3.14159265358979323846 / 180},
    {"rad", "rad", 1},
    {"m", "m", 1},
    {"mm", "m", 1e-3},
    {"cm", "m", 1e-2},
    {"in", "m", 0.0254},
    {"Nm", "N m", 1},
    {"Ncm", "N m", 1e-2},
    {"mNm", "N m", 1e-3},
    {"N", "N m", 1},
    {"kgm2", "kg m2", 1},
    {"kgcm2", "kg m2", 1e-4},
    {"gcm2", "kg m2", 1e-7},
    {"kg", "kg m2", 1},
    {"rpm", "rad/s", 3.14159265358979323846 / 30},
    {"rad/s", "rad/s", 1},
    {"%", "1", 1e-2},
};
enum {
  NUNIT = (int)(sizeof(kUnits) / sizeof(*kUnits))
};


// units that fit a key, for messages
static void listUnits(char* text, size_t size, const char* of) {
  text[0] = 0;
  for (int i = 0; i < NUNIT; i++) {
    if (!strcmp(kUnits[i].of, of)) {
      size_t length = strlen(text);
      snprintf(text + length, size - length, "%s%s", length ? ", " : "", kUnits[i].name);
    }
  }
}


// number with a unit that fits; 0, or -1 after a refusal
static int readQuantity(double* value, mjgReport* report, const char* name, const char* text,
                        const char* of) {
  char* end;
  *value = strtod(text, &end);
  if (end == text) {
    mjg_refuse(report, "%s = '%s' is not a number; write one such as 0.5 or 20%s", name, text,
               strcmp(of, "rad") ? "" : "deg");
    return -1;
  }
  if (!*end) {
    return 0;
  }
  for (int i = 0; i < NUNIT; i++) {
    if (!strcmp(end, kUnits[i].name) && !strcmp(of, kUnits[i].of)) {
      *value *= kUnits[i].factor;
      return 0;
    }
  }
  char list[100];
  listUnits(list, sizeof(list), of);
  mjg_refuse(report, "%s = '%s': unit '%s' does not fit; write %s%s", name, text, end,
             list[0] ? "one of " : "the number without a unit, in ", list[0] ? list : of);
  return -1;
}


// names of all presets, for messages
static void listPresets(char* text, size_t size) {
  text[0] = 0;
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    mjg_preset(&preset, i);
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", i ? ", " : "", preset.name);
  }
}


// a preset by name
static void readPreset(Input* input, mjgReport* report, const char* name) {
  int i = mjg_presetFromName(name);
  if (i < 0) {
    char list[1000];
    listPresets(list, sizeof(list));
    mjg_refuse(report, "'%s' is neither a preset nor key=value; presets are %s", name, list);
  } else if (input->preset.name) {
    mjg_refuse(report, "'%s' is a second preset beside '%s'; name one", name, input->preset.name);
  } else {
    mjgDescription given = input->description;
    mjg_preset(&input->preset, i);
    input->description = input->preset.description;
    for (int key = 0; key < mjgNKEY; key++) {
      if (given.given[key]) {
        mjg_give(&input->description, key, given.value[key]);
      }
    }
    if (given.type != mjgTYPE_AUTO) {
      input->description.type = given.type;
    }
  }
}


int readInput(Input* input, mjgReport* report, char* const* word, int nword) {
  int before = report->count;
  memset(input, 0, sizeof(*input));
  mjg_defaultDescription(&input->description);
  input->inertia = -1;
  input->load = 1;

  for (int i = 0; i < nword; i++) {
    const char* equal = strchr(word[i], '=');
    if (!equal) {
      readPreset(input, report, word[i]);
      continue;
    }
    char name[40];
    snprintf(name, sizeof(name), "%.*s", (int)(equal - word[i]), word[i]);
    const char* text = equal + 1;

    // what is no key of a description
    double value;
    if (!strcmp(name, "type")) {
      int type = mjg_typeFromName(text);
      if (type < 0) {
        mjg_refuse(report,
                   "type = '%s' is unknown; write coefficients, efficiency, starting, "
                   "leadscrew, worm or spur",
                   text);
      } else {
        input->description.type = type;
      }
    } else if (!strcmp(name, "inertia") || !strcmp(name, "load")) {
      int is_load = name[0] == 'l';
      if (!readQuantity(&value, report, name, text, is_load ? "N m" : "kg m2")) {
        if (!isfinite(value) || (is_load ? value == 0 : value < 0)) {
          mjg_refuse(report, "%s = %s is out of range; write a %s number", name, text,
                     is_load ? "finite non-zero" : "finite positive");
        } else {
          *(is_load ? &input->load : &input->inertia) = value;
        }
      }
    } else {
      int key = mjg_keyFromName(name);
      if (key < 0) {
        int nearest = mjg_keyNearest(name);
        mjg_refuse(report, "unknown key '%s'; %s%s", name,
                   nearest < 0 ? "'mjgear keys' lists all" : "did you mean ",
                   nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
      } else if (!readQuantity(&value, report, name, text, mjg_keyInfo(key)->unit)) {
        mjg_give(&input->description, key, value);
      }
    }
  }
  if (nword == 0) {
    mjg_refuse(report, "no gear; name a preset or write key=value, for instance eta_forward=0.8");
  }
  return report->count - before;
}

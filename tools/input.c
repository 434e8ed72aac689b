#include "input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear_backlash.h"

// range of numbers in which no figure of a gear overflows
static const double kMost = 1e100, kLeast = 1e-100;


// remedy for an unknown preset: the most similar one, else where all are
static void suggestPreset(char* text, size_t size, const char* name) {
  enum {
    MOST = 100
  };
  const char* names[MOST];
  int n = mjg_presetCount() < MOST ? mjg_presetCount() : MOST;
  for (int i = 0; i < n; i++) {
    mjgPreset preset;
    mjg_preset(&preset, i);
    names[i] = preset.name;
  }
  int nearest = mjg_nearest(name, names, n);
  snprintf(text, size, "%s%s", nearest < 0 ? "'mjgear presets' lists all" : "did you mean ",
           nearest < 0 ? "" : names[nearest]);
}


// a preset by name
static void readPreset(Input* input, mjgReport* report, const char* name) {
  int i = mjg_presetFromName(name);
  if (i < 0) {
    char hint[100];
    suggestPreset(hint, sizeof(hint), name);
    mjg_refuse(report, "'%s' is neither a preset nor key=value; %s", name, hint);
  } else if (input->preset.name) {
    mjg_refuse(report, "'%s' is a second preset beside '%s'; name one", name, input->preset.name);
  } else {
    mjg_preset(&input->preset, i);
  }
}


// let a description replace equivalent keys of the preset
static void overPreset(Input* input) {
  mjgDescription given = input->description;
  input->description = input->preset.description;
  for (int key = 0; key < mjgNKEY; key++) {
    if (given.given[key]) {
      mjg_forget(&input->description, key);
    }
  }
  for (int key = 0; key < mjgNKEY; key++) {
    if (given.given[key]) {
      mjg_give(&input->description, key, given.value[key]);
    }
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    if (given.table[kind].n) {
      input->description.table[kind] = given.table[kind];
    }
  }
  if (given.type != mjgTYPE_AUTO) {
    input->description.type = given.type;
  }
}


int isSlide(const mjgDescription* description) {
  return description->type == mjgTYPE_LEADSCREW;
}


// set a word or number of a gap; -1 if a gap has no such name
static int readGapKey(Input* input, mjgReport* report, const char* name, const char* text) {
  if (!strcmp(name, "backlash")) {
    int model = mjg_backlashModel(text);
    const char* names[mjgNBACKLASH];
    for (int i = 0; i < mjgNBACKLASH; i++) {
      names[i] = mjg_backlashName(i);
    }
    if (model < 0 && strcmp(text, "none") != 0) {
      int nearest = mjg_nearest(text, names, mjgNBACKLASH);
      mjg_refuse(report, "backlash = '%s' is no model of a gap; did you mean %s", text,
                 nearest < 0 ? "exact" : names[nearest]);
    }
    input->backlash = model;
    return 0;
  }
  int k = mjgi_gapKeyFromName(name);
  if (k >= 0) {
    input->gap_given[k] = !mjg_readQuantity(&input->gap_value[k], report, mjg_gapKeyInfo(k), text);
  }
  return k < 0 ? -1 : 0;
}


// a gap is valid if its law accepts it; the rotor in front of it is required where a model is made
static void checkGap(const Input* input, mjgReport* report) {
  mjgBacklash law = {.model = input->backlash, .exponent = 1};
  int given = 0;
  for (int i = 0; i < mjgiNGAPKEY; i++) {
    double* number = mjgi_gapNumber(&law, i);
    given += input->gap_given[i];
    if (number && input->gap_given[i]) {
      *number = input->gap_value[i];
    }
    if (input->backlash >= 0 && input->gap_value[i] != 0 &&
        !mjgi_usesGapNumber(input->backlash, i)) {
      mjg_refuse(report, "backlash '%s' does not use %s; leave it out",
                 mjg_backlashName(input->backlash), mjg_gapKeyInfo(i)->name);
    }
  }
  if (input->backlash < 0) {
    if (given) {
      mjg_refuse(report,
                 "numbers of a gap are given, but its law is not; write backlash=exact, or leave "
                 "them out");
    }
    return;
  }
  const char* error = mjg_backlashError(&law);
  if (error) {
    mjg_refuse(report, "backlash %s: %s", mjg_backlashName(input->backlash), error);
  }
}


// returns 1 if the output is a slide, with a force as load; the words are not read yet
static int saysSlide(char* const* word, int nword) {
  int slide = 0;
  for (int i = 0; i < nword; i++) {
    mjgPreset preset;
    int number = mjg_presetFromName(word[i]);
    if (number >= 0 && !mjg_preset(&preset, number)) {
      slide = isSlide(&preset.description);
    } else if (!strncmp(word[i], "type=", 5)) {
      return mjg_typeFromName(word[i] + 5) == mjgTYPE_LEADSCREW;
    }
  }
  return slide;
}


int readInput(Input* input, mjgReport* report, char* const* word, int nword) {
  int before = report->count;
  memset(input, 0, sizeof(*input));
  mjg_defaultDescription(&input->description);
  input->inertia = -1;
  input->load = 1;
  input->backlash = -1;

  for (int i = 0; i < nword; i++) {
    const char* equal = strchr(word[i], '=');
    if (!equal) {
      readPreset(input, report, word[i]);
      continue;
    }
    char name[40];
    snprintf(name, sizeof(name), "%.*s", (int)(equal - word[i]), word[i]);
    const char* text = equal + 1;

    // words that are not keys of a description
    double value;
    if (!strcmp(name, "type")) {
      int type = mjg_typeFromName(text);
      if (type < 0) {
        mjg_refuse(report,
                   "type = '%s' is unknown; write coefficients, efficiency, starting, "
                   "leadscrew, worm, spur, wedge, planetary, strain_wave, capstan or loss",
                   text);
      } else {
        input->description.type = type;
      }
    } else if (!strcmp(name, "inertia") || !strcmp(name, "load")) {
      int is_load = name[0] == 'l';
      const char* load_unit = saysSlide(word, nword) ? "N" : "Nm";
      const mjgKeyInfo info = {
          .name = name, .unit = is_load ? load_unit : "kg m2", .min = -INFINITY, .max = INFINITY};
      if (!mjg_readQuantity(&value, report, &info, text)) {
        double size = is_load ? fabs(value) : value;
        if (!(size <= kMost && (size >= kLeast || (size == 0 && !is_load)))) {
          mjg_refuse(report, "%s = %s is out of range; write %s1e-100 to 1e100", name, text,
                     is_load ? "+-" : "0, or ");
        } else {
          *(is_load ? &input->load : &input->inertia) = value;
        }
      }
    } else {
      int key = mjg_keyFromName(name), table = mjg_tableFromName(name);
      if (table >= 0) {
        mjg_readTable(input->description.table + table, report, table, text);
        continue;
      }
      if (key < 0 && !readGapKey(input, report, name, text)) {
        continue;
      }
      if (key < 0) {
        int nearest = mjg_keyNearest(name);
        mjg_refuse(report, "unknown key '%s'; %s%s", name,
                   nearest < 0 ? "'mjgear keys' lists all" : "did you mean ",
                   nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
      } else if (!mjg_readQuantity(&value, report, mjg_keyInfo(key), text)) {
        mjg_give(&input->description, key, value);
      }
    }
  }
  if (nword == 0) {
    mjg_refuse(report,
               "no gear is given; name a preset or write key=value, for instance eta_forward=0.8");
  }
  if (input->preset.name) {
    overPreset(input);
  }
  checkGap(input, report);
  return report->count - before;
}

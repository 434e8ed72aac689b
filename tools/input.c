#include "input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjgear_backlash.h"

const GapKey kGapKeys[NGAPKEY] = {
    {"half_gap", "rad", "half of the catalogue's backlash, which is the total gap"},
    {"stiffness", "N m/rad", "of the shaft behind the gap; of torsion up to torque_1"},
    {"damping", "N m/(rad/s)", "of the shaft behind the gap"},
    {"rubber", "rad", "width of the soft band in the gap"},
    {"shaft_inertia", "kg m2", "inertia in the shaft"},
    {"exponent", "1", "of the contact force"},
    {"restitution", "s/rad", "loss at impact"},
    {"stiffness_2", "N m/rad", "of torsion above torque_1"},
    {"stiffness_3", "N m/rad", "of torsion above torque_2"},
    {"torque_1", "N m", "above which stiffness_2 counts"},
    {"torque_2", "N m", "above which stiffness_3 counts"},
    {"hysteresis", "rad", "of torsion: angle between loading and unloading, without load"},
    {"rotor_inertia", "kg m2", "inertia of the rotor in front of the gap, instead of armature"},
};

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


// is a number outside of what a key permits; told in the unit that was written
static int isOutside(mjgReport* report, const mjgKeyInfo* info, double value, const char* text,
                     const Unit* unit) {
  int low = value < info->min || (info->open_min && value <= info->min);
  int high = value > info->max || (info->open_max && value >= info->max);
  if (!low && !high) {
    return 0;
  }
  const char* side =
      low ? (info->open_min ? "above" : "at least") : (info->open_max ? "below" : "at most");
  mjg_refuse(report, "%s = %s is out of range; write a value %s %g%s", info->name, text, side,
             (low ? info->min : info->max) / unit->factor, unit->name);
  return 1;
}


// number with a unit that fits, within the range of its key (nullable); 0, or -1 after a refusal
static int readQuantity(double* value, mjgReport* report, const char* name, const char* text,
                        const char* of, const mjgKeyInfo* info) {
  const char* end;
  *value = mjg_readNumber(text, &end);
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
      return info && isOutside(report, info, *value, text, &kUnits[i]) ? -1 : 0;
    }
  }
  char list[100];
  listUnits(list, sizeof(list), of);
  mjg_refuse(report, "%s = '%s': unit '%s' does not fit; write %s%s", name, text, end,
             list[0] ? "one of " : "the number without a unit, in ", list[0] ? list : of);
  return -1;
}


// what to write instead of an unknown preset: the most similar one, else where all are
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


int isSlide(const mjgDescription* description) {
  return description->type == mjgTYPE_LEADSCREW;
}


// a word or number of a gap; -1 if the name is none of a gap's
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
  for (int i = 0; i < NGAPKEY; i++) {
    if (!strcmp(name, kGapKeys[i].name)) {
      input->gap_given[i] =
          !readQuantity(&input->gap_value[i], report, name, text, kGapKeys[i].unit, NULL);
      return 0;
    }
  }
  return -1;
}


// a gap is what its law accepts; the rotor in front of it is asked for where a model is made
static void checkGap(const Input* input, mjgReport* report) {
  int given = 0;
  for (int i = 0; i < NGAPKEY; i++) {
    given += input->gap_given[i];
  }
  if (input->backlash < 0) {
    if (given) {
      mjg_refuse(report,
                 "numbers of a gap without its law; write backlash=exact, or leave them out");
    }
    return;
  }
  const double* value = input->gap_value;
  mjgBacklash law = {.model = input->backlash,
                     .half_gap = value[0],
                     .stiffness = value[1],
                     .damping = value[2],
                     .rubber = value[3],
                     .shaft_inertia = value[4],
                     .exponent = input->gap_given[5] ? value[5] : 1,
                     .restitution = value[6],
                     .stiffness_2 = value[7],
                     .stiffness_3 = value[8],
                     .torque_1 = value[9],
                     .torque_2 = value[10],
                     .hysteresis = value[11]};
  const char* error = mjg_backlashError(&law);
  if (error) {
    mjg_refuse(report, "backlash %s: %s", mjg_backlashName(input->backlash), error);
  }
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

    // what is no key of a description
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
      if (!readQuantity(&value, report, name, text, is_load ? "N m" : "kg m2", NULL)) {
        if (!isfinite(value) || (is_load ? value == 0 : value < 0)) {
          mjg_refuse(report, "%s = %s is out of range; write a %s number", name, text,
                     is_load ? "finite non-zero" : "finite positive");
        } else {
          *(is_load ? &input->load : &input->inertia) = value;
        }
      }
    } else {
      int key = mjg_keyFromName(name);
      if (key < 0 && !readGapKey(input, report, name, text)) {
        continue;
      }
      if (key < 0) {
        int nearest = mjg_keyNearest(name);
        mjg_refuse(report, "unknown key '%s'; %s%s", name,
                   nearest < 0 ? "'mjgear keys' lists all" : "did you mean ",
                   nearest < 0 ? "" : mjg_keyInfo(nearest)->name);
      } else if (!readQuantity(&value, report, name, text, mjg_keyInfo(key)->unit,
                               mjg_keyInfo(key))) {
        mjg_give(&input->description, key, value);
      }
    }
  }
  if (nword == 0) {
    mjg_refuse(report, "no gear; name a preset or write key=value, for instance eta_forward=0.8");
  }
  checkGap(input, report);
  return report->count - before;
}

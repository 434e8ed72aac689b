// Numbers with units, and the numbers of a gap.

#include "catalogue/types.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct GapKey_ {
  mjgKeyInfo info;
  size_t member;  // member of mjgBacklash, counted from 1; 0: inertia of the rotor
  int models;     // models that use the number, one bit each
} GapKey;

#define MEMBER(name) (offsetof(mjgBacklash, name) + 1)
#define ONE(model)   (1 << (model))
#define ALL          (ONE(mjgNBACKLASH) - 1)

// name, unit, min, max, open_min, open_max, engine, text; member, models
// clang-format off
static const GapKey kGapKeys[mjgiNGAPKEY] = {
    {{"half_gap", "rad", 0, INFINITY, 0, 1, 0,
        "half of the catalogue's backlash, which is the total gap"}, MEMBER(half_gap), ALL & ~ONE(mjgTORSION)},
    {{"stiffness", "N m/rad", 0, INFINITY, 1, 1, 0,
        "of the shaft behind the gap; of torsion up to torque_1"}, MEMBER(stiffness), ALL},
    {{"damping", "N m/(rad/s)", 0, INFINITY, 0, 1, 0,
        "of the shaft behind the gap"}, MEMBER(damping), ALL & ~ONE(mjgDEADZONE) & ~ONE(mjgSMOOTH) & ~ONE(mjgHUNT_CROSSLEY)},
    {{"rubber", "rad", 0, INFINITY, 0, 1, 0,
        "width of the soft band in the gap"}, MEMBER(rubber), ONE(mjgRUBBER) | ONE(mjgSMOOTH)},
    {{"shaft_inertia", "kg m2", 0, INFINITY, 0, 1, 0,
        "inertia in the shaft"}, MEMBER(shaft_inertia), ONE(mjgJCK)},
    {{"exponent", "1", 1, 4, 0, 0, 0,
        "of the contact force"}, MEMBER(exponent), ONE(mjgHUNT_CROSSLEY)},
    {{"restitution", "s/rad", 0, INFINITY, 0, 1, 0,
        "loss at impact"}, MEMBER(restitution), ONE(mjgHUNT_CROSSLEY)},
    {{"stiffness_2", "N m/rad", 0, INFINITY, 1, 1, 0,
        "of torsion above torque_1"}, MEMBER(stiffness_2), ONE(mjgTORSION)},
    {{"stiffness_3", "N m/rad", 0, INFINITY, 1, 1, 0,
        "of torsion above torque_2"}, MEMBER(stiffness_3), ONE(mjgTORSION)},
    {{"torque_1", "N m", 0, INFINITY, 1, 1, 0,
        "above which stiffness_2 counts"}, MEMBER(torque_1), ONE(mjgTORSION)},
    {{"torque_2", "N m", 0, INFINITY, 1, 1, 0,
        "above which stiffness_3 counts"}, MEMBER(torque_2), ONE(mjgTORSION)},
    {{"hysteresis", "rad", 0, INFINITY, 0, 1, 0,
        "of torsion: angle between loading and unloading, without load"}, MEMBER(hysteresis), ONE(mjgTORSION)},
    {{"slip_torque", "N m", 0, INFINITY, 1, 1, 0,
        "of torsion: most that it carries, above which it slips"}, MEMBER(slip_torque), ONE(mjgTORSION)},
    {{"freewheel", "1", -1, 1, 0, 0, 0,
        "of torsion: 1: the motor drives forward only, -1: backward only, 0: both"}, MEMBER(freewheel), ONE(mjgTORSION)},
    {{"rotor_inertia", "kg m2", 0, INFINITY, 1, 1, 0,
        "inertia of the rotor in front of the gap, instead of armature"}, 0, ALL},
};
// clang-format on


const mjgKeyInfo* mjg_gapKeyInfo(int k) {
  return k >= 0 && k < mjgiNGAPKEY ? &kGapKeys[k].info : NULL;
}


int mjgi_gapKeyFromName(const char* name) {
  return mjgi_indexOf(name, kGapKeys, sizeof(*kGapKeys), mjgiNGAPKEY);
}


double* mjgi_gapNumber(mjgBacklash* law, int k) {
  void* number = (char*)law + kGapKeys[k].member - 1;
  return kGapKeys[k].member ? number : NULL;
}


int mjgi_usesGapNumber(int model, int k) {
  return kGapKeys[k].models >> model & 1;
}


// units in the unit of a key; synonyms follow each other. "Nm" is a torque, "N" a force
typedef struct Unit_ {
  const char* name;
  const char* of;  // unit of the keys that this unit fits
  double factor;
} Unit;

static const Unit kUnits[] = {
    {"deg", "rad", 3.14159265358979323846 / 180},
    {"degrees", "rad", 3.14159265358979323846 / 180},
    {"arcmin", "rad", 3.14159265358979323846 / 10800},
    {"rad", "rad", 1},
    {"m", "m", 1},
    {"mm", "m", 1e-3},
    {"cm", "m", 1e-2},
    {"in", "m", 0.0254},
    {"Nm", "N m", 1},
    {"Ncm", "N m", 1e-2},
    {"mNm", "N m", 1e-3},
    {"N", "N m", 1},
    {"Nm", "Nm", 1},
    {"Ncm", "Nm", 1e-2},
    {"mNm", "Nm", 1e-3},
    {"N", "N", 1},
    {"kN", "N", 1e3},
    {"kgm2", "kg m2", 1},
    {"kgcm2", "kg m2", 1e-4},
    {"gcm2", "kg m2", 1e-7},
    {"kg", "kg m2", 1},
    {"rpm", "rad/s", 3.14159265358979323846 / 30},
    {"rad/s", "rad/s", 1},
    {"%", "1", 1e-2},
    {"percent", "1", 1e-2},
};
enum {
  NUNIT = (int)(sizeof(kUnits) / sizeof(*kUnits))
};


// Skip spaces and signs between units: "kg cm^2", "N*m", or with a dot.
static const char* skipSigns(const char* text) {
  static const char dot[] = "\xc2\xb7";  // in UTF-8
  for (;;) {
    size_t length = strncmp(text, dot, 2) ? strspn(text, " ^*") : 2;
    if (!length) {
      return text;
    }
    text += length;
  }
}


static int isSame(const char* a, const char* b) {
  for (;; a++, b++) {
    a = skipSigns(a);
    b = skipSigns(b);
    if (!*a || *a != *b) {
      return *a == *b;
    }
  }
}


// Returns a unit in the unit of a key, 0 if it does not fit.
static double factorOf(const char* unit, const char* of) {
  if (!*unit || isSame(unit, of)) {
    return 1;
  }
  for (int i = 0; i < NUNIT; i++) {
    if (isSame(unit, kUnits[i].name) && !strcmp(of, kUnits[i].of)) {
      return kUnits[i].factor;
    }
  }
  return 0;
}


// List the units that fit a key, for messages.
static void listUnits(char* text, size_t size, const char* of) {
  text[0] = 0;
  for (int i = 0; i < NUNIT; i++) {
    int again = i && kUnits[i].factor == kUnits[i - 1].factor && !strcmp(of, kUnits[i - 1].of);
    if (!strcmp(kUnits[i].of, of) && !again) {
      size_t length = strlen(text);
      snprintf(text + length, size - length, "%s%s", length ? ", " : "", kUnits[i].name);
    }
  }
}


int mjg_readQuantity(double* value, mjgReport* report, const mjgKeyInfo* info, const char* text) {
  if (!value || !report || !info || !text) {
    return mjgERR_ARGUMENT;
  }
  const char* end;
  double number = mjg_readNumber(text, &end);
  if (end == text) {
    mjg_refuse(report, "%s = '%s' is not a number; write one such as 0.5 or 20%s", info->name, text,
               strcmp(info->unit, "rad") ? "" : "deg");
    return -1;
  }
  const char* unit = end + strspn(end, " ");
  double factor = factorOf(unit, info->unit);
  if (factor == 0) {
    char list[100];
    listUnits(list, sizeof(list), info->unit);
    mjg_refuse(report, "%s = '%s': unit '%s' does not fit; write %s%s", info->name, text, unit,
               list[0] ? "one of " : "the number without a unit, in ", list[0] ? list : info->unit);
    return -1;
  }
  if (*unit && mjgi_isOutside(report, info, number * factor, text, unit, factor)) {
    return -1;
  }
  *value = number * factor;
  return 0;
}

// mjgear: text of descriptions: names and units of keys, numbers, and messages.

#ifndef MJGEAR_TEXT_H_
#define MJGEAR_TEXT_H_

#include <stdarg.h>

#include "mjgear_catalogue.h"

mjgBEGIN


//---------------------------------- names ---------------------------------------------------------

typedef struct mjgKeyInfo_ {
  const char* name;  // as it is written in a file
  const char* unit;  // unit for a hinge; "1" if it has none
  double min;        // permitted range, ends included unless open
  double max;
  int open_min;      // 1: min itself is not permitted
  int open_max;      // 1: max itself is not permitted
  int engine;        // 1: MJCF has an attribute of its own for it (armature, damping)
  const char* text;  // explanation, one line
} mjgKeyInfo;

// Returns the properties of a key, or null.
const mjgKeyInfo* mjg_keyInfo(int key);

// Returns the key of this name, or -1; the key with the most similar name, or -1 if none is
// similar.
int mjg_keyFromName(const char* name);
int mjg_keyNearest(const char* name);

// Returns the index of the most similar of n names, else of the first that begins with name, a
// text of at least three letters, or -1.
int mjg_nearest(const char* name, const char* const* names, int n);

// Returns the name of a type ("leadscrew"), or null; the type of this name, or -1.
const char* mjg_typeName(int type);
int mjg_typeFromName(const char* name);

// Returns name, unit and text of number k of a gap or its rotor, which are not keys of a
// description, or null. mjg_backlashError of mjgear_backlash.h checks their ranges.
const mjgKeyInfo* mjg_gapKeyInfo(int k);

// Returns the name of a table ("coulomb_speed"), or null; the kind of this name, or -1.
const char* mjg_tableName(int kind);
int mjg_tableFromName(const char* name);


//---------------------------------- messages ------------------------------------------------------

// a list of problems, one line each: where, what, and the remedy. The caller owns the memory; a
// line that does not fit is cut, but counts. The text is UTF-8, other bytes are '?'.
typedef struct mjgReport_ {
  char* text;         // null-terminated lines; nullable
  size_t size;        // of text, bytes; 0: count only
  size_t length;      // used so far
  int count;          // number of problems
  const char* where;  // put before each line with ": "; nullable
} mjgReport;

// Start an empty report; text is nullable.
void mjg_startReport(mjgReport* report, char* text, size_t size);

// Add one line: what is wrong and, after a semicolon, the remedy.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void mjg_refuse(mjgReport* report, const char* format, ...);

// the same with the arguments of another function
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
void mjg_vrefuse(mjgReport* report, const char* format, va_list arguments);


//---------------------------------- numbers -------------------------------------------------------

// Returns the number at the start of a text, as strtod, but with a decimal point in any locale.
// *end (nullable): the rest, the whole text if it begins with no number. Lines of a report have
// decimal points too.
double mjg_readNumber(const char* text, const char** end);

// Read a number with or without a unit: "0.5", "2 Nm", "0.2kgcm2", "5deg", "80%", "1.5 N m/rad".
// The tool's help lists the units; spaces and ^ do not matter. The unit "N m" of info accepts N
// too, for a slide; "Nm" is a torque and "N" a force. A number with a unit must be in the range
// of info; one without is checked by mjg_transmission.
//   value  in info->unit; untouched if the text is refused
// Returns 0, or -1 after a line in the report.
int mjg_readQuantity(double* value, mjgReport* report, const mjgKeyInfo* info, const char* text);

// Read a table: at most mjgMAXPOINT pairs of x and factor, "0 1 5 1.2", x ascending, SI, without
// units; only a temperature may be negative. Returns 0, or -1 after a line in the report.
int mjg_readTable(mjgTable* table, mjgReport* report, int kind, const char* text);


mjgEND

#endif  // MJGEAR_TEXT_H_

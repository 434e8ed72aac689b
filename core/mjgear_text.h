// mjgear: text of descriptions: names and units of keys, numbers, and messages.

#ifndef MJGEAR_TEXT_H_
#define MJGEAR_TEXT_H_

#include <stdarg.h>

#include "mjgear_catalogue.h"

// the shared library exports what its public headers declare, and nothing else
#if defined(MJGEAR_EXPORTS) && defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif


//---------------------------------- names ---------------------------------------------------------

typedef struct mjgKeyInfo_ {
  const char* name;  // as it is written in a file
  const char* unit;  // of a hinge; "1" if it has none
  double min;        // permitted range, ends included unless open
  double max;
  int open_min;      // 1: min itself is not permitted
  int open_max;      // 1: max itself is not permitted
  int engine;        // 1: MJCF has an attribute of its own for it (armature, damping)
  const char* text;  // what it is, one line
} mjgKeyInfo;

// what a key is; null if key is out of range
const mjgKeyInfo* mjg_keyInfo(int key);

// the key of this name, or -1; the key with the most similar name, or -1 if none
// resembles it
int mjg_keyFromName(const char* name);
int mjg_keyNearest(const char* name);

// number of the most similar of n names, else of the first that begins with name, or -1
// if none resembles it
int mjg_nearest(const char* name, const char* const* names, int n);

// "leadscrew" and so on; null if type is out of range; -1 if no type has this name
const char* mjg_typeName(int type);
int mjg_typeFromName(const char* name);

// the numbers of a gap and of its rotor, which a description does not have: name, unit
// and text of number k, null if there is none. Their ranges are checked by
// mjg_backlashError of mjgear_backlash.h
const mjgKeyInfo* mjg_gapKeyInfo(int k);

// the name of a table, "coulomb_speed" and so on, and its kind; null, -1 if there is none
const char* mjg_tableName(int kind);
int mjg_tableFromName(const char* name);


//---------------------------------- messages ------------------------------------------------------

// collects what is wrong, one line a problem: where, what, and what to write instead.
// Memory from the caller; a line that does not fit is cut, count is right nevertheless. The
// text is UTF-8: bytes that are not, such as half a letter of a name that was cut, are '?'.
typedef struct mjgReport_ {
  char* text;         // null-terminated lines; nullable
  size_t size;        // of text, bytes; 0: count only
  size_t length;      // used so far
  int count;          // number of problems
  const char* where;  // put before each line with ": "; nullable
} mjgReport;

// an empty report; text is nullable
void mjg_startReport(mjgReport* report, char* text, size_t size);

// add one line: what is wrong and, after a semicolon, the remedy
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

// the number that a text begins with, as strtod reads it, but with a decimal point
// whatever locale the process has set; *end (nullable) is what follows it, the text
// itself if it begins with none. Lines of a report have decimal points too.
double mjg_readNumber(const char* text, const char** end);

// read a number with or without a unit: "0.5", "2 Nm", "0.2kgcm2", "5deg", "80%", "1.5 N
// m/rad". Units are listed in the tool's help, and the quantity's own as
// mjgKeyInfo spells it; spaces and ^ do not matter. The unit "N m" of info takes N too,
// for a slide; "Nm" is a torque and "N" a force. A number with a unit must be in the
// range of info, which is told in that unit; one without is left to mjg_transmission.
//   value  in info->unit; untouched if the text is refused
// Returns 0, or -1 after a line in the report.
int mjg_readQuantity(double* value, mjgReport* report, const mjgKeyInfo* info, const char* text);

// read a table: pairs of x and factor, "0 1 5 1.2", at most mjgMAXPOINT of them with x
// ascending, SI, without units; x is not negative but for a temperature. Returns 0, or -1
// after a line in the report
int mjg_readTable(mjgTable* table, mjgReport* report, int kind, const char* text);


#ifdef __cplusplus
}
#endif

#if defined(MJGEAR_EXPORTS) && defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif  // MJGEAR_TEXT_H_

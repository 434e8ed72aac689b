// Coefficients from the keys of a type of gear. Descriptions are complete, and values in range.

#ifndef MJGEAR_TYPES_H_
#define MJGEAR_TYPES_H_

#include "mjgear_backlash.h"
#include "mjgear_text.h"

// types that a key belongs to, one bit a type
enum {
  mjgiCOEFF = 1 << mjgTYPE_COEFFICIENTS,
  mjgiEFF = 1 << mjgTYPE_EFFICIENCY,
  mjgiSTART = 1 << mjgTYPE_STARTING,
  mjgiSCREW = 1 << mjgTYPE_LEADSCREW,
  mjgiWORM = 1 << mjgTYPE_WORM,
  mjgiSPUR = 1 << mjgTYPE_SPUR,
  mjgiWEDGE = 1 << mjgTYPE_WEDGE,
  mjgiPLANET = 1 << mjgTYPE_PLANETARY,
  mjgiWAVE = 1 << mjgTYPE_STRAIN_WAVE,
  mjgiCAPSTAN = 1 << mjgTYPE_CAPSTAN,
  mjgiLOSS = 1 << mjgTYPE_LOSS,
  mjgiGEOMETRY =
      mjgiSCREW | mjgiWORM | mjgiSPUR | mjgiWEDGE | mjgiPLANET | mjgiWAVE | mjgiCAPSTAN | mjgiLOSS,
  mjgiALL = mjgiCOEFF | mjgiEFF | mjgiSTART | mjgiGEOMETRY
};

// Returns the types that a key belongs to, and the member of a transmission that the key
// sets, or null.
int mjgi_keyTypes(int key);
double* mjgi_keyMember(mjgTransmission* t, int key);

// Returns which of n rows of size bytes, which begin with their names, has this name, or -1.
int mjgi_indexOf(const char* name, const void* rows, size_t size, int n);

// Refuse a number out of the range of a key and return 1. text (nullable): the number as written,
// in a unit that is factor times the key's.
int mjgi_isOutside(mjgReport* report, const mjgKeyInfo* info, double value, const char* text,
                   const char* unit, double factor);

// Refuse the number of a key that is neither in the key's range nor its default; numbers that
// contradict each other.
void mjgi_checkNumber(mjgReport* report, const mjgTransmission* gear, int key);
void mjgi_checkNumbers(mjgReport* report, const mjgTransmission* t);

// Returns a message about an invalid table, or null. A table without points is valid.
const char* mjgi_tableError(const mjgTable* table, int kind);

// Returns the largest product of factors that the tables of the asymmetry coefficients reach.
double mjgi_largestFactor(const mjgTransmission* transmission);

// Returns the value of a key, or a default if it is not given.
static inline double mjgi_valueOr(const mjgDescription* d, int key, double otherwise) {
  return d->given[key] ? d->value[key] : otherwise;
}

// Returns a key that a type needs, the k-th from 0 on, or -1.
int mjgi_neededKey(int type, int k);

// Returns motor turns per turn, or unit of travel, of the output; 0 if unknown.
double mjgi_ratioOf(const mjgDescription* d, int type);

// Set gamma_u, gamma_v and the other numbers of the type in t, which has ratio, static_ratio and
// stribeck_friction. Contradictions are refused.
void mjgi_readCoefficients(mjgTransmission* t, mjgReport* report, const mjgDescription* d,
                           int type);


//---------------------------------- numbers of a gap -----------------------------------------------

// keys that mjg_gapKeyInfo knows; the last one is the rotor's inertia
enum {
  mjgiNGAPKEY = 15
};

// Returns the number of a key, or -1.
int mjgi_gapKeyFromName(const char* name);

// Returns the member of a law for a key, null for the rotor's inertia.
double* mjgi_gapNumber(mjgBacklash* law, int k);

// Returns 1 if a law (mjgBacklashModel) uses the key.
int mjgi_usesGapNumber(int model, int k);

#endif  // MJGEAR_TYPES_H_

// From what a type of gear says to coefficients. Descriptions are complete and each value
// is in its range.

#ifndef MJGEAR_TYPES_H_
#define MJGEAR_TYPES_H_

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

// the types that a key belongs to; and the number of a transmission that is the key's
// value, null: none
int mjgi_keyTypes(int key);
double* mjgi_keyMember(mjgTransmission* t, int key);

// is a number outside of what a key permits: a line in the report, with the number as it
// was written (text, nullable) in a unit of which factor makes that of the key
int mjgi_isOutside(mjgReport* report, const mjgKeyInfo* info, double value, const char* text,
                   const char* unit, double factor);

// what is wrong with a table, null if nothing is; a table without points is right
const char* mjgi_tableError(const mjgTable* table, int kind);

// Returns the largest product of factors that the tables of the asymmetry coefficients reach.
double mjgi_largestFactor(const mjgTransmission* transmission);

// value of a key, or what it is if it is not given
static inline double mjgi_valueOr(const mjgDescription* d, int key, double otherwise) {
  return d->given[key] ? d->value[key] : otherwise;
}

// motor turns for a turn, or a unit of travel, of the output; 0 if that is not known
double mjgi_ratioOf(const mjgDescription* d, int type);

// gamma_u, gamma_v and what else the type says into t, which has ratio, static_ratio and
// stribeck_friction; what contradicts itself is refused
void mjgi_readCoefficients(mjgTransmission* t, mjgReport* report, const mjgDescription* d,
                           int type);

#endif  // MJGEAR_TYPES_H_

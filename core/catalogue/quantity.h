// Numbers of a gap: keys, laws that use them, and where a law has them.

#ifndef MJGEAR_QUANTITY_H_
#define MJGEAR_QUANTITY_H_

#include "mjgear_backlash.h"
#include "mjgear_text.h"

// keys that mjg_gapKeyInfo knows; the last one is the rotor's inertia
enum {
  mjgiNGAPKEY = 15
};

// number of a key, -1: there is none
int mjgi_gapKeyFromName(const char* name);

// the number of a law that has this key; null: it is the rotor's
double* mjgi_gapNumber(mjgBacklash* law, int k);

// does a law (mjgBacklashModel) use it
int mjgi_usesGapNumber(int model, int k);

#endif  // MJGEAR_QUANTITY_H_

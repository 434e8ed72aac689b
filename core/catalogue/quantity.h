// Numbers of a gap: keys, laws that use them, and members of a law.

#ifndef MJGEAR_QUANTITY_H_
#define MJGEAR_QUANTITY_H_

#include "mjgear_backlash.h"
#include "mjgear_text.h"

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

#endif  // MJGEAR_QUANTITY_H_

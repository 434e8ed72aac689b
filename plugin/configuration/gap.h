// Backlash in the configuration: the keys of the gaps, and the joints that are motors.

#ifndef MJGEAR_PLUGIN_GAP_H_
#define MJGEAR_PLUGIN_GAP_H_

#include "configuration/names.h"
#include "configuration/parsing.h"

// Read the backlash of the found of n listed joints. Motors get indices from start on. Returns
// the number of joints added as motors.
int mjgp_readGaps(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place);

// Returns the k-th number of a joint's gap or rotor (mjg_gapKeyInfo); 1 if the gap's model uses
// it.
double* mjgp_gapNumber(mjgpJoint* joint, int k);
int mjgp_readsGapKey(const mjgpJoint* joint, int k);

// Returns a message about an invalid rotor of a gap, to follow the joint's name, or null.
const char* mjgp_rotorError(const mjgpJoint* joint);

// Returns a message about an invalid combination of gap and pre-sliding, or null.
const char* mjgp_preslidingError(const mjgpJoint* joint);

// Set partners in the sorted list, from their joint ids.
void mjgp_findPartners(mjgpJoint* joint, int total);

#endif  // MJGEAR_PLUGIN_GAP_H_

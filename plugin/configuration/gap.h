// Backlash in the configuration: the keys of the gaps, and the joints that are motors.

#ifndef MJGEAR_PLUGIN_GAP_H_
#define MJGEAR_PLUGIN_GAP_H_

#include "configuration/names.h"
#include "configuration/parsing.h"

// read everything that describes backlash of the found of n listed joints; motors get the
// indices from start on. Returns the number of joints that it adds as motors
int mjgp_readGaps(mjgpJoint* joint, int found, int n, int start, mjgpPlace* place);

// k-th number of a joint's gap or rotor (mjg_gapKeyInfo); does the model of its gap use
// it
double* mjgp_gapNumber(mjgpJoint* joint, int k);
int mjgp_readsGapKey(const mjgpJoint* joint, int k);

// what is wrong with the rotor of a gap, behind the joint's name; null if nothing
const char* mjgp_rotorError(const mjgpJoint* joint);

// what is wrong with a gap and a joint that yields, null if nothing is
const char* mjgp_preslidingError(const mjgpJoint* joint);

// partners in the sorted list of all joints, from their joint ids
void mjgp_findPartners(mjgpJoint* joint, int total);

#endif  // MJGEAR_PLUGIN_GAP_H_

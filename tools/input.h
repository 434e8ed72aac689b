// A gear on the command line: a preset, quantities with units, or both.

#ifndef TOOLS_INPUT_H_
#define TOOLS_INPUT_H_

#include "catalogue/types.h"

typedef struct Input_ {
  mjgDescription description;
  mjgPreset preset;               // name is null if none was named
  double inertia;                 // of the output side, -1: not given              kg m2
  double load;                    // load of the printed torques, 1 if not given N m
  int backlash;                   // mjgBacklashModel, -1: no gap
  int gap_given[mjgiNGAPKEY];     // 1: the number was given
  double gap_value[mjgiNGAPKEY];  // numbers of the gap and its rotor (mjg_gapKeyInfo)
} Input;

// 1 if the output of the gear that is described is a slide
int isSlide(const mjgDescription* description);

// read words: the name of a preset, type=..., inertia=..., load=..., backlash=..., or a key of a
// gear or of a gap with a number and a unit; an unknown word is a problem for the report. Returns
// their number.
int readInput(Input* input, mjgReport* report, char* const* word, int nword);

#endif  // TOOLS_INPUT_H_

// A gear as it is written on the command line: a preset, quantities with units, or both.

#ifndef TOOLS_INPUT_H_
#define TOOLS_INPUT_H_

#include "mjgear_params.h"

typedef struct Input_ {
  mjgDescription description;
  mjgPreset preset;  // name is null if none was named
  double inertia;    // of the output side, -1: not given                       kg m2
  double load;       // at which torques are told, 1 if not given               N m
} Input;

// read words: the name of a preset, type=..., inertia=..., load=..., or a key of mjgear_params.h
// with a number and a unit; each that means nothing is a problem for the report. Returns their
// number.
int readInput(Input* input, mjgReport* report, char* const* word, int nword);

#endif  // TOOLS_INPUT_H_

// Facts and descriptions as text for people, as JSON for programs and as MJCF to paste.

#ifndef TOOLS_PRINT_H_
#define TOOLS_PRINT_H_

#include <stdio.h>

#include "input.h"
#include "json.h"
#include "mjgear_params.h"

// what a gear does
void printFacts(FILE* file, const mjgFacts* facts);
void jsonFacts(Json* json, const mjgFacts* facts);

// keys and values, one a line or as members of an object
void printDescription(FILE* file, const mjgDescription* description);
void jsonDescription(Json* json, const char* key, const mjgDescription* description);

// MJCF: the instance, the attributes of the joint and, if it is known, the motor
void printMjcf(FILE* file, const Input* input, const mjgTransmission* gear, const char* joint);

#endif  // TOOLS_PRINT_H_

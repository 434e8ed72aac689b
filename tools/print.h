// Facts and descriptions as text for people, as JSON for programs and as MJCF to paste.

#ifndef TOOLS_PRINT_H_
#define TOOLS_PRINT_H_

#include <stdio.h>

#include "input.h"
#include "json.h"
#include "mjgear_report.h"

// a unit of a hinge for a slide, "" for a number without one
const char* unitOf(const char* unit, int slide);

// facts about a gear; unit is "N m", or "N" for a slide
void printFacts(FILE* file, const mjgFacts* facts, const char* unit);
void jsonFacts(Json* json, const mjgFacts* facts);

// keys and values, one a line or as members of an object
void printDescription(FILE* file, const mjgDescription* description);
void jsonDescription(Json* json, const char* key, const mjgDescription* description);

// the joints that get a gear
typedef struct Names_ {
  const char* const* name;
  int n;
} Names;

// MJCF: the instance, the attributes of the joints and, if it is known, the motor; the same as JSON
void printMjcf(FILE* file, const Input* input, const mjgTransmission* gear, const Names* joints);
void jsonMjcf(Json* json, const Input* input, const mjgTransmission* gear, const Names* joints);

// the gap of a description, if it has one
void printGap(FILE* file, const Input* input);
void jsonGap(Json* json, const Input* input);

#endif  // TOOLS_PRINT_H_

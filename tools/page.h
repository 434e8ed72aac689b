// The pages of presets, doc/presets.md and doc/records/servos.md.

#ifndef TOOLS_PAGE_H_
#define TOOLS_PAGE_H_

#include <stdio.h>

#include "json.h"

void printPresets(FILE* file);     // one line each
void printPresetPage(FILE* file);  // doc/presets.md
void printServoPage(FILE* file);   // doc/records/servos.md
void jsonPresets(Json* json);

#endif  // TOOLS_PAGE_H_

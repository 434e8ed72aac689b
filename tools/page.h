// The reference page of all presets, doc/presets.md.

#ifndef TOOLS_PAGE_H_
#define TOOLS_PAGE_H_

#include <stdio.h>

#include "json.h"

void printPresets(FILE* file);     // one line each
void printPresetPage(FILE* file);  // Markdown
void jsonPresets(Json* json);

#endif  // TOOLS_PAGE_H_

// The drive/backdrive diagram of a joint: its place in the plane of the coefficients (the
// paper's Fig. 5), and its region of rest in the plane of motor and load torque (Fig. 6).

#ifndef TOOLS_DIAGRAM_H_
#define TOOLS_DIAGRAM_H_

#include <stdio.h>

#include "mjgear_report.h"


// write an SVG image; torques up to limit. Returns 0, or -1 if writing failed.
int drawDiagram(FILE* file, const mjgFacts* facts, const char* title, double limit);

#endif  // TOOLS_DIAGRAM_H_

// Parameters of geared joints that are changed while the simulation runs.
//
// A change is one more setting of the model, which is compiled anew and gets the state of the old one;
// so it means exactly what the same words in the file mean, and is refused with the same messages.

#ifndef MJGEAR_VIEWER_TUNE_H_
#define MJGEAR_VIEWER_TUNE_H_

#include <stddef.h>

#include "show.h"

// a number that a slider changes
typedef struct TuneKey_ {
  const char* name;  // key of the configuration
  double low;        // usual range
  double high;
} TuneKey;

extern const TuneKey tuneKeys[];
extern const int tuneNKey;

extern const char* const tuneSolvers[];
extern const int tuneNSolver;

// value of a key at a geared joint: 1 if it has one there. Coefficients and efficiencies always have
// one, whatever describes the gear.
int tuneValue(double* value, const Show* show, int gear, int key);

// index of the solver in use
int tuneSolver(const Show* show);

// Change a key at one geared joint, or the solver. 0 on success, else one line in error and all is as
// it was. Model and data are new objects afterwards.
int tuneSetValue(Show* show, int gear, int key, double value, char* error, size_t error_size);
int tuneSetSolver(Show* show, int solver, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_TUNE_H_

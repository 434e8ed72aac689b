// Parameters of geared joints that are changed while the simulation runs.
//
// The plugin changes the gears of one mjData: the model stays, a reset ends the change, and a
// reload reads the file. Refusals are the plugin's.

#ifndef MJGEAR_VIEWER_TUNE_H_
#define MJGEAR_VIEWER_TUNE_H_

#include <stddef.h>

#include "sim.h"

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

// value of a key at a geared joint: 1 if it has one there. Coefficients and efficiencies always
// have one, for any description of the gear.
int tuneValue(double* value, const Sim* sim, int gear, int key);

// index of the solver in use
int tuneSolver(const Sim* sim);

// Change a key at one geared joint, or the solver, in a simulation with gears. 0 on success, else a
// message in error, and nothing is changed.
int tuneSetValue(Sim* sim, int gear, int key, double value, char* error, size_t error_size);
int tuneSetSolver(Sim* sim, int solver, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_TUNE_H_

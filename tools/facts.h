// What can be said about a gear, computed once for text, JSON and pages.

#ifndef TOOLS_FACTS_H_
#define TOOLS_FACTS_H_

#include "input.h"
#include "mjgear_params.h"

typedef struct Facts_ {
  mjgTransmission gear;
  double eta_f, eta_b;            // sliding
  double eta_f_rest, eta_b_rest;  // at rest, with all that friction gains there
  int backdrivable;               // sliding: gamma_v < 1
  int forward_drivable;           // sliding: gamma_u < 1
  int varies;                     // coefficients at rest differ from those of sliding
  double load;                    // at which the torques below are told
  double raise, lower;            // motor torques that break the load away forward and backward
  double hold_low, hold_high;     // motor torques between which the load stands still
  double start_forward;           // motor torque that starts the unloaded joint, INFINITY: none
  double start_backward;          // load torque that starts it with the motor off, INFINITY: none
  double inertia;                 // of the output side, -1: not known
  double inertia_forward;         // apparent inertia if the motor drives, NAN: not known
  double inertia_backward;        // and if the load drives, INFINITY: it cannot
  double rho;                     // rho-hat, NAN: not known
} Facts;

void findFacts(Facts* facts, const mjgTransmission* gear, double load, double inertia);

#endif  // TOOLS_FACTS_H_

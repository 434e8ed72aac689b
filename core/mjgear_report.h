// mjgear: conversion between descriptions and gears, their errors, and facts about a gear.

#ifndef MJGEAR_REPORT_H_
#define MJGEAR_REPORT_H_

#include "mjgear_text.h"

mjgBEGIN


//---------------------------------- conversion ----------------------------------------------------

// Make the transmission of a description. Every problem goes into the report. Returns the number
// of problems; unless it is 0 the transmission is untouched. error: mjgERR_ARGUMENT
int mjg_transmission(mjgTransmission* transmission, mjgReport* report,
                     const mjgDescription* description);

// Add a line to the report if a gear is self-locking by the assumption eta_backward = 2 -
// 1/eta_forward alone, which is below 0 for every eta_forward below 0.5. Returns 1 if so, else 0.
// error: mjgERR_ARGUMENT
int mjg_warnAssumed(mjgReport* report, const mjgDescription* description);

// Describe a transmission as description->type. Given keys determine the rest that the
// type alone does not: pressure_angle for worm (0 for leadscrew, if not given),
// pressure_angle, mu and radius_in for spur. All other keys are overwritten. Returns the
// number of problems, for instance that no worm has these coefficients. error:
// mjgERR_ARGUMENT
int mjg_describe(mjgDescription* description, mjgReport* report,
                 const mjgTransmission* transmission);

// Check each number of a gear. Every problem goes into the report. Returns the number of
// problems; 0 for gears of mjg_transmission. The functions below check their gears;
// mjg_frictionAt, which steps call, does not. error: mjgERR_ARGUMENT
int mjg_checkTransmission(mjgReport* report, const mjgTransmission* transmission);


//---------------------------------- facts ---------------------------------------------------------

// 1 if a joint at rest stays at rest under motor torque f_u and load torque f_v, (23)
// with all that friction gains at rest, else 0. error: mjgERR_ARGUMENT for a gear that
// mjg_checkTransmission refuses, mjgERR_NOT_FINITE
int mjg_sticks(const mjgTransmission* transmission, double f_u, double f_v);

// motor torque f_u at which a joint at rest that holds the load f_v breaks away in the
// direction +1 or -1; load torque f_v at which a joint at rest under the motor torque f_u
// breaks away. direction * INFINITY (motor) or -direction * INFINITY (load) if no torque
// moves it. NaN for another direction, for a torque that is not finite, and for a gear
// that mjg_checkTransmission refuses.
double mjg_breakawayMotor(const mjgTransmission* transmission, double f_v, int direction);
double mjg_breakawayLoad(const mjgTransmission* transmission, double f_u, int direction);

// facts about a gear. Torques are INFINITY where none suffices.
typedef struct mjgFacts_ {
  mjgTransmission gear;
  double eta_f;  // efficiencies, sliding; NAN: gamma = -1 has none         1
  double eta_b;
  double eta_f_rest;  // efficiencies at rest, with its higher friction          1
  double eta_b_rest;
  int backdrivable;      // sliding: gamma_v < 1
  int forward_drivable;  // sliding: gamma_u < 1
  int varies;            // 1: coefficients at rest differ from sliding ones
  double load;           // load of the torques below                                N m
  double raise;          // motor torques that break the load away forward          N m
  double lower;          //   and backward
  double hold_low;       // motor torques between which the load stands still       N m
  double hold_high;
  double start_forward;     // motor torque that starts the unloaded joint             N m
  double start_backward;    // load torque that starts it with the motor off           N m
  double inertia;           // of the output side, -1: not known                       kg m2
  double inertia_forward;   // apparent inertia if the motor drives, NAN: not known    kg m2
  double inertia_backward;  // apparent inertia if the load drives, INFINITY: it cannot
  double rho;               // rho-hat, (29); NAN: not known                           1
  int catalogue_locks;      // a catalogue's conclusion from eta_f alone (self-locking below
                            //   0.5): 0 no, 1 yes, -1 uncertain, from 0.45 to 0.55
} mjgFacts;

// Find the facts about a gear.
//   load     of the motor torques                                                      N m
//   inertia  of the output side, -1: not known                                         kg m2
// Torques are NaN for a gear that mjg_checkTransmission refuses.
void mjg_explain(mjgFacts* facts, const mjgTransmission* transmission, double load, double inertia);


mjgEND

#endif  // MJGEAR_REPORT_H_

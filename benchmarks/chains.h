// Random serial chains with geared joints: rigid links of plausible size and mass on hinges and
// slides, for realistic friction problems and trajectories.
//
// Centrifugal and Coriolis forces are left out: they would only move v*, which is random already.

#ifndef MJGEAR_BENCHMARKS_CHAINS_H_
#define MJGEAR_BENCHMARKS_CHAINS_H_

#include <stdint.h>

#include "problem_file.h"

#ifdef __cplusplus
extern "C" {
#endif


//---------------------------------- random numbers ------------------------------------------------

// SplitMix64: any seed is good, and the numbers are the same on every machine
typedef struct mjgRandom_ {
  uint64_t state;
} mjgRandom;

uint64_t mjg_bits(mjgRandom* random);
double mjg_uniform(mjgRandom* random, double low, double high);     // in [low, high)
double mjg_logUniform(mjgRandom* random, double low, double high);  // 0 < low, equal per decade
double mjg_normal(mjgRandom* random);                               // mean 0, variance 1
int mjg_integer(mjgRandom* random, int count);                      // in 0 .. count - 1
int mjg_chance(mjgRandom* random, double probability);              // 1 or 0


//---------------------------------- chains --------------------------------------------------------

// asymmetry coefficients of the joints
typedef enum mjgGammaRange_ {
  mjgGAMMA_BELOW_ONE = 0,  // 0 <= gamma_u, gamma_v < 1: one solution exists
  mjgGAMMA_LOCKING = 1     // 0 <= gamma_u < 1, 0 <= gamma_v < 3: also non-backdrivable
} mjgGammaRange;

// a link and the joint that moves it, in the frame of the parent link
typedef struct mjgLink_ {
  double axis[3];     // of the joint                                           1
  double offset[3];   // from the parent's joint to this one                    m
  double center[3];   // center of mass, in the frame of the link               m
  double mass;        //                                                        kg
  double inertia[3];  // about the center, along the axes of the link           kg m2
  int slide;          // 1 a slide, 0 a hinge
} mjgLink;

// n joints with their state and loads
typedef struct mjgChain_ {
  int n;
  double h;           // timestep                                               s
  double gravity[3];  //                                                        m/s2
  double force[3];    // on the end of the last link                            N
  mjgLink* link;      //                                                   (n)
  double* gamma_u;    // input-side asymmetry coefficients                 (n)  1
  double* gamma_v;    // output-side asymmetry coefficients                (n)  1
  double* rotor;      // rotor inertia at the output side                  (n)  kg m2
  double* q;          // joint positions                                   (n)  rad
  double* v;          // joint velocities                                  (n)  rad/s
  double* tau_u;      // motor torques                                     (n)  N m
} mjgChain;

// make a random chain; free it with mjg_freeChain
void mjg_randomChain(mjgChain* chain, int n, int gamma_range, mjgRandom* random);

// allocate a chain of n joints, all zero; chain->n = 0 if memory ran out
void mjg_newChain(mjgChain* chain, int n);

void mjg_freeChain(mjgChain* chain);

// mass matrix without rotors (n x n) and torque tau_v = h(q) - J' f of gravity and force (n)
void mjg_chainDynamics(double* M, double* tau_v, const mjgChain* chain);

// the friction problem of one implicit step from the chain's state, with alpha and beta for P;
// returns 1, or 0 with record empty if the mass matrix is numerically singular or memory ran out
int mjg_chainProblem(mjgRecord* record, const mjgChain* chain);

// the problem of k chains at once, one block a chain
int mjg_forestProblem(mjgRecord* record, const mjgChain* chain, int nchain);


//---------------------------------- matrices ------------------------------------------------------

// inverse of a symmetric positive definite matrix; 1, or 0 if it is numerically singular
int mjg_invert(double* inverse, const double* matrix, int n);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_CHAINS_H_

// The reference for the core: every solution of a small problem by trying all combinations of
// branches, the distance of a result from the paper's own form, and random problems. Nothing here
// calls the core.

#ifndef MJGEAR_TESTS_ORACLE_H_
#define MJGEAR_TESTS_ORACLE_H_

#include <stdint.h>

#include "mjgear.h"

enum {
  oracleMAXN = 12,
  oracleMAXSOLUTION = 64
};

// uniform and normal random numbers from a splitmix64 state
double oracle_uniform(uint64_t* state, double low, double high);
double oracle_normal(uint64_t* state);

// a random problem of n joints in one block, with the memory that it points to
typedef struct oracleProblem_ {
  mjgProblem problem;
  double gamma_u[oracleMAXN];
  double gamma_v[oracleMAXN];
  double v[oracleMAXN];
  double A[oracleMAXN * oracleMAXN];
  double phi[oracleMAXN];
  double P[oracleMAXN * oracleMAXN];
  double alpha[oracleMAXN];
  double beta[oracleMAXN];
  double coulomb[oracleMAXN];
} oracleProblem;

// settings for drawing a problem
typedef struct oracleDraw_ {
  int n;
  double gamma_max;  // gamma_u in [0, min(1, gamma_max)], gamma_v in [0, gamma_max]
  double decades;    // inertias, torques and time steps spread over this many decades
  int rest;          // 1: velocity before the step is zero
  int coulomb;       // 1: with a load-independent bound
} oracleDraw;
void oracle_draw(oracleProblem* p, const oracleDraw* draw, uint64_t* state);

// all solutions t of a problem with one block, n <= 6, static ratio 1; returns their number
int oracle_enumerate(double t[oracleMAXSOLUTION][oracleMAXN], const mjgProblem* problem);

// largest relative distance of t from v+ = v* - A t, lambda = phi + P t, t in (|lambda| + c) sgn(v+),
// computed in long double
double oracle_residual(const mjgProblem* problem, const double* t, const double* v_next);

#endif  // MJGEAR_TESTS_ORACLE_H_

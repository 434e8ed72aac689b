#include <string.h>

#include "solvers/solvers.h"


// default tolerance: four digits above round-off, for sums of large blocks
static const double kTolerance = 1e-12;

// default limit of sweeps, which converge linearly
enum {
  mjgiSWEEPS = 10000
};


void mjg_defaultSettings(mjgSettings* settings) {
  if (settings) {
    *settings = (mjgSettings){.solver = mjgNEWTON, .tolerance = kTolerance};
  }
}


static int checkSettings(const mjgSettings* settings) {
  if (!settings || settings->solver < mjgNEWTON || settings->solver >= mjgNSOLVER ||
      settings->iterations < 0 || settings->pivots < 0 || !(settings->tolerance >= 0) ||
      settings->tolerance >= 1) {
    return mjgERR_ARGUMENT;
  }
  return mjgSOLVED;
}


//---------------------------------- methods -------------------------------------------------------

static void gaussSeidel(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  (void)s;
  mjgi_gaussSeidel(b, settings->iterations > 0 ? settings->iterations : mjgiSWEEPS,
                   settings->tolerance);
}


static void lemke(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  mjgi_jammingRule(b, s, settings->iterations);
}


static const struct {
  const char* name;
  mjgiMethod method;
} kSolver[mjgNSOLVER] = {
    [mjgNEWTON] = {"newton", mjgi_methodNewton},
    [mjgGAUSS_SEIDEL] = {"gauss_seidel", gaussSeidel},
    [mjgPROJECTION] = {"projection", mjgi_projection},
    [mjgLEMKE] = {"lemke", lemke},
    [mjgENUMERATION] = {"enumeration", mjgi_enumeration},
};


const char* mjg_solverName(int solver) {
  return solver >= 0 && solver < mjgNSOLVER ? kSolver[solver].name : NULL;
}


int mjg_solverFromName(const char* name) {
  for (int i = 0; name && i < mjgNSOLVER; i++) {
    if (!strcmp(name, kSolver[i].name)) {
      return i;
    }
  }
  return -1;
}


//---------------------------------- a problem -----------------------------------------------------

int mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
              const mjgSettings* settings, mjgWorkspace* work) {
  int largest, status = mjgi_checkProblem(&largest, problem, solution, work);
  if (status == mjgSOLVED) {
    status = checkSettings(settings);
  }
  if (status != mjgSOLVED) {
    return status;
  }
  if (settings->warm_start && !mjgi_allFinite(solution->t, (size_t)problem->n)) {
    return mjgERR_NOT_FINITE;
  }
  if (settings->solver == mjgENUMERATION && largest > mjgMAXENUM) {
    return mjgERR_SIZE;
  }

  mjgiMethod method = kSolver[settings->solver].method;
  mjgInfo sum = {mjgSOLVED, 0, 0, 0, 0};  // all members: gcc zeroes omitted ones in a slow loop
  mjgProblem block;
  for (mjgiCursor at = {0}; mjgi_nextBlock(&block, &at, problem);) {
    mjgSolution part = mjgi_blockSolution(solution, at.first);
    mjgi_solveFriction(&part, &sum, &block, settings, method, work);
  }
  if (info) {
    *info = sum;
  }
  return sum.status;
}

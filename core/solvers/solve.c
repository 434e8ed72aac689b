#include <string.h>

#include "reference/reference.h"
#include "solvers/check.h"
#include "solvers/solvers.h"


// default tolerance: four digits above rounding, which the sums of large blocks need
static const double kTolerance = 1e-12;

// enumeration: a solution that lies where pieces meet is on both of them only up to rounding
static const double kOnPiece = 1e-13;

// default limits of methods that converge linearly, far above what they need where they converge at all
enum {
  mjgiSWEEPS = 10000,
  mjgiPROJECTIONS = 100000
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

static int limitOf(const mjgSettings* settings, int otherwise) {
  return settings->iterations > 0 ? settings->iterations : otherwise;
}


static void gaussSeidel(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  (void)s;
  mjgi_gaussSeidel(b, limitOf(settings, mjgiSWEEPS), settings->tolerance);
}


static void projection(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  (void)s;
  mjgi_projection(b, limitOf(settings, mjgiPROJECTIONS), settings->tolerance);
}


static void extragradient(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  mjgi_extragradient(b, s, limitOf(settings, mjgiPROJECTIONS), settings->tolerance);
}


static void lemke(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  mjgi_jammingRule(b, s, settings->iterations);
}


static void enumeration(mjgiBlock* b, mjgiScratch* s, const mjgSettings* settings) {
  b->flg_unique = mjgi_enumeration(b, s, mjgi_max(settings->tolerance, kOnPiece)) < 2;
}


static const struct {
  const char* name;
  mjgiMethod method;
} kSolver[mjgNSOLVER] = {
    [mjgNEWTON] = {"newton", mjgi_methodNewton},
    [mjgGAUSS_SEIDEL] = {"gauss_seidel", gaussSeidel},
    [mjgPROJECTION] = {"projection", projection},
    [mjgEXTRAGRADIENT] = {"extragradient", extragradient},
    [mjgLEMKE] = {"lemke", lemke},
    [mjgENUMERATION] = {"enumeration", enumeration},
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

// couplings of the first n rows
static int countCouplings(const mjgProblem* problem, int n) {
  int count = 0;
  for (int i = 0; problem->coupling && i < n; i++) {
    count += problem->coupling[i] != NULL;
  }
  return count;
}


// has a block too many joints for enumeration
static int isTooLarge(const mjgProblem* problem) {
  int nblock = problem->nblock > 0 ? problem->nblock : 1, last = 0;
  for (int k = 0, row = 0; k < nblock; k++) {
    int n = problem->nblock > 0 ? problem->block[k] : problem->n;
    int all = countCouplings(problem, row += n), couplings = all - last;
    if (n - couplings > (couplings ? mjgMAXENUMCOUPLED : mjgMAXENUM)) {
      return 1;
    }
    last = all;
  }
  return 0;
}


int mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
              const mjgSettings* settings, mjgWorkspace* work) {
  int status = mjgi_checkProblem(problem, work);
  if (status == mjgSOLVED) {
    status = checkSettings(settings);
  }
  if (status != mjgSOLVED) {
    return status;
  }
  int n = problem->n;
  if (!solution ||
      (n > 0 && (!solution->t || !solution->v || !solution->lambda || !solution->mode))) {
    return mjgERR_ARGUMENT;
  }
  if (settings->warm_start && !mjgi_allFinite(solution->t, (size_t)n)) {
    return mjgERR_NOT_FINITE;
  }

  if (settings->solver == mjgENUMERATION && isTooLarge(problem)) {
    return mjgERR_SIZE;
  }

  // block by block
  mjgiMethod method = kSolver[settings->solver].method;
  mjgInfo sum = {mjgSOLVED, 0, 0,
                 0,         0, -1};  // one by one: gcc fills what is left out with a slow loop
  int nblock = problem->nblock > 0 ? problem->nblock : (n > 0);
  const double* A = problem->A;
  const double* P = problem->P;
  for (int k = 0, first = 0; k < nblock; k++) {
    int size = problem->nblock > 0 ? problem->block[k] : n;
    mjgProblem own = mjgi_blockProblem(problem, first, size, A, P);
    mjgSolution part = mjgi_blockSolution(solution, first);
    if (countCouplings(&own, size)) {
      mjgi_solveCoupled(&part, &sum, &own, settings, method, work);
    } else {
      mjgi_solveFriction(&part, &sum, &own, settings, method, work);
    }
    if (settings->want_sigma_max) {
      sum.sigma_max = mjgi_max(sum.sigma_max, mjgi_blockSigmaMax(&work->block, &own));
    }
    first += size;
    A += (size_t)size * (size_t)size;
    P = P ? P + (size_t)size * (size_t)size : NULL;
  }
  if (info) {
    *info = sum;
  }
  return sum.status;
}

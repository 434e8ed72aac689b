#include "problem_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "problems.h"
#include "solving.h"

// steps that robots move before a problem is taken
#define NSTEP 20


void mjg_freeSet(mjgSet* set) {
  for (int i = 0; i < set->count; i++) {
    mjg_clearRecord(&set->record[i]);
  }
  free(set->record);
  memset(set, 0, sizeof(*set));
}


// an empty record at the end, null if memory ran out
static mjgRecord* append(mjgSet* set) {
  mjgRecord* larger = realloc(set->record, (size_t)(set->count + 1) * sizeof(mjgRecord));
  if (!larger) {
    return NULL;
  }
  set->record = larger;
  mjgRecord* record = &set->record[set->count++];
  memset(record, 0, sizeof(*record));
  return record;
}


// sizes of the set, once all problems exist
static void measure(mjgSet* set) {
  set->warm = set->count > 0;
  for (int i = 0; i < set->count; i++) {
    const mjgRecord* record = &set->record[i];
    int largest = mjg_largestBlock(&record->problem);
    set->n = record->problem.n > set->n ? record->problem.n : set->n;
    set->nmax = largest > set->nmax ? largest : set->nmax;
    set->warm = set->warm && record->t_start && record->mode_start;
  }
}


//---------------------------------- robots that move ----------------------------------------------

// keep a solution as the start of a problem
static int keepStart(mjgRecord* record, const mjgSolution* solution, int n) {
  record->t_start = malloc((size_t)n * sizeof(double));
  record->mode_start = malloc((size_t)n * sizeof(int));
  if (!record->t_start || !record->mode_start) {
    return 0;
  }
  memcpy(record->t_start, solution->t, (size_t)n * sizeof(double));
  memcpy(record->mode_start, solution->mode, (size_t)n * sizeof(int));
  return 1;
}


// move the chains by one step with the velocities of a solution, and change their motor torques
static void advance(mjgChain* chain, int nchain, const double* v, const double* tau_u, int step) {
  for (int k = 0; k < nchain; k++) {
    for (int i = 0; i < chain[k].n; i++, v++, tau_u++) {
      chain[k].v[i] = *v;
      chain[k].q[i] += chain[k].h * *v;
      chain[k].tau_u[i] = *tau_u * (1 + 0.1 * sin(0.05 * step + i));
    }
  }
}


// the last problem of a motion; 0 if a step could not be made or solved
static int move(mjgRecord* record, mjgChain* chain, int nchain, double* tau_u, mjgPlace* place) {
  int n = 0;
  for (int k = 0; k < nchain; k++) {
    memcpy(tau_u + n, chain[k].tau_u, (size_t)chain[k].n * sizeof(double));
    n += chain[k].n;
  }
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  for (int step = 1; step <= NSTEP; step++) {
    if (!mjg_forestProblem(record, chain, nchain)) {
      return 0;
    }
    int status = mjg_solve(&place->solution, NULL, &record->problem, &settings, place->work);
    if (status != mjgSOLVED && status != mjgJAMMED) {
      return 0;
    }
    advance(chain, nchain, place->solution.v, tau_u, step);
  }
  return mjg_forestProblem(record, chain, nchain) && keepStart(record, &place->solution, n);
}


int mjg_movingSet(mjgSet* set, int count, int nchain, int n, int gamma_range, uint64_t seed) {
  mjgRandom random = {seed};
  mjgPlace place = {0};
  mjgChain* chain = calloc((size_t)nchain, sizeof(mjgChain));
  double* tau_u = malloc((size_t)nchain * (size_t)n * sizeof(double));
  int ok = chain && tau_u && mjg_newPlace(&place, nchain * n, n);
  memset(set, 0, sizeof(*set));

  // a robot whose motion cannot be computed is replaced by another one
  for (int tries = 0; ok && set->count < count && tries < 10 * count; tries++) {
    for (int k = 0; k < nchain; k++) {
      mjg_randomChain(&chain[k], n, gamma_range, &random);
      ok = ok && chain[k].n;
    }
    mjgRecord* record = ok ? append(set) : NULL;
    ok = record != NULL;
    if (ok && !move(record, chain, nchain, tau_u, &place)) {
      mjg_clearRecord(record);
      set->count--;
    }
    for (int k = 0; k < nchain; k++) {
      mjg_freeChain(&chain[k]);
    }
  }
  ok = ok && set->count == count;
  mjg_freePlace(&place);
  free(tau_u);
  free(chain);
  measure(set);
  if (!ok) {
    mjg_freeSet(set);
  }
  return ok;
}


//---------------------------------- other sets ----------------------------------------------------

int mjg_kindSet(mjgSet* set, int count, int kind, int n, uint64_t seed) {
  mjgRandom random = {seed};
  int ok = 1;
  memset(set, 0, sizeof(*set));
  while (ok && set->count < count) {
    mjgRecord* record = append(set);
    ok = record && mjg_randomProblem(record, kind, n, &random);
  }
  measure(set);
  if (!ok) {
    mjg_freeSet(set);
  }
  return ok;
}


int mjg_fileSet(mjgSet* set, const char* path, char* error, size_t nerror) {
  size_t size;
  mjgReader reader;
  memset(set, 0, sizeof(*set));
  char* text = mjg_loadText(&size, path, error, nerror);
  if (!text) {
    return 0;
  }
  mjg_openReader(&reader, text, size);
  int found = 1;
  while (found == 1) {
    mjgRecord* record = append(set);
    found = record ? mjg_readProblem(record, &reader) : -1;
  }
  set->count -= set->count > 0;
  free(text);
  measure(set);
  if (found == -1 || !set->count) {
    snprintf(error, nerror, "%s: %s", path, reader.error[0] ? reader.error : "no problems");
    mjg_freeSet(set);
    return 0;
  }
  return 1;
}

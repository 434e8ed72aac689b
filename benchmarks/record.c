// Recording of the problems that scenes pose: a copy of the plugin in which the linker's --wrap routes
// each mjg_solve through this file. Each problem is written to the file that the environment names:
//
//   MJGEAR_RECORD        file in the problem format; without it nothing is recorded
//   MJGEAR_RECORD_EVERY  write one problem of so many, default 1

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "problem_file.h"

int __real_mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                     const mjgSettings* settings, mjgWorkspace* work);
int __wrap_mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                     const mjgSettings* settings, mjgWorkspace* work);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mjgOutput* output;
static FILE* file;
static long every = 1, calls, skipped;


static void closeFile(void) {
  if (skipped) {
    fprintf(stderr, "mjgear-record: %ld problems left out (not finite)\n", skipped);
  }
  if ((errno = mjg_closeOutput(output, 1))) {
    perror("mjgear-record: MJGEAR_RECORD");
  }
}


static void openFile(void) {
  const char *path = getenv("MJGEAR_RECORD"), *number = getenv("MJGEAR_RECORD_EVERY");
  if (!path) {
    return;
  }
  every = number ? strtol(number, NULL, 10) : 1;
  every = every > 0 ? every : 1;
  output = mjg_openOutput(path);
  file = output ? output->file : NULL;
  if (!file || mjg_writeHeader(file)) {
    perror("mjgear-record: MJGEAR_RECORD");
    return;
  }
  atexit(closeFile);
}


// write the problem with the start that the solver is about to use
static void record(const mjgSolution* solution, const mjgProblem* problem,
                   const mjgSettings* settings) {
  pthread_mutex_lock(&lock);
  if (calls++ % every == 0 && problem->n > 0) {
    char name[mjgMAXNAME + 1];
    snprintf(name, sizeof(name), "solve-%ld", calls);
    int warm = settings->warm_start;
    if (mjg_writeProblem(file, name, problem, warm ? solution->t : NULL,
                         warm ? solution->mode : NULL, NULL)) {
      skipped++;
    }
  }
  pthread_mutex_unlock(&lock);
}


int __wrap_mjg_solve(mjgSolution* solution, mjgInfo* info, const mjgProblem* problem,
                     const mjgSettings* settings, mjgWorkspace* work) {
  pthread_once(&once, openFile);
  if (file) {
    record(solution, problem, settings);
  }
  return __real_mjg_solve(solution, info, problem, settings, work);
}

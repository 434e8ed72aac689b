// Solve very many random problems, hold every result against its certificate and against the
// definition, and compare solvers with each other.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command_line.h"
#include "inclusion.h"
#include "mjgear_text.h"
#include "output.h"
#include "problem_file.h"
#include "problems.h"
#include "solving.h"

// friction torques further apart than this, relative to the joint's scale, are different answers
#define SAME 1e-6

// relative accuracy of the data at best; a change of the data by this amount decides nothing
#define NOISE 1e-13


//---------------------------------- options -------------------------------------------------------

static const char USAGE[] =
    "usage: mjgear-solve-many [option value]...\n"
    "  --count N         problems in all (1000000)\n"
    "  --seed N          first state of the random numbers (1)\n"
    "  --kinds LIST      random, adversarial, all, or kinds separated by commas (random)\n"
    "  --joints LOW-HIGH numbers of joints (1-12)\n"
    "  --solver NAME     solver that must not fail (newton)\n"
    "  --compare LIST    solvers to compare it with, separated by commas (none)\n"
    "  --tolerance X     relative residual (1e-12)\n"
    "  --iterations N    iteration limit, 0 the solver's own (0)\n"
    "  --problems FILE   solve the problems of this file instead of random ones\n"
    "  --save FILE       write the problems that failed or where solvers disagree\n"
    "  -h, --help\n"
    "Exit status: 0 all solved and certified, 1 some not, 2 wrong usage.\n";

typedef struct Options_ {
  long count;
  unsigned long long seed;
  int low, high;  // numbers of joints
  int use_kind[mjgNKIND];
  int solver;
  int compare[mjgNSOLVER];
  mjgSettings settings;
  const char* problems;
  const char* save;
} Options;


static void stop(const char* what, const char* value) {
  fprintf(stderr, "mjgear-solve-many: %s '%s'\n%s", what, value, USAGE);
  exit(2);
}


static double readNumber(const char* text, double low, double high, const char* option) {
  const char* end = NULL;
  double number = mjg_readNumber(text, &end);
  if (end == text || *end || !(number >= low && number <= high)) {
    stop(option, text);
  }
  return number;
}


// mark the kinds of a list; all, random and adversarial are groups of kinds
static void readKinds(int use[mjgNKIND], const char* list) {
  char copy[256], *rest = copy, *word;
  snprintf(copy, sizeof(copy), "%s", list);
  memset(use, 0, mjgNKIND * sizeof(int));
  while ((word = strtok_r(rest, ",", &rest))) {
    int found = 0;
    for (int kind = 0; kind < mjgNKIND; kind++) {
      if (!strcmp(word, mjg_kindName(kind)) || !strcmp(word, "all") ||
          !strcmp(word, kind < mjgNCHAINKIND ? "random" : "adversarial")) {
        use[kind] = 1;
        found = 1;
      }
    }
    if (!found) {
      stop("unknown kind", word);
    }
  }
  int none = 1;
  for (int kind = 0; kind < mjgNKIND; kind++) {
    none &= !use[kind];
  }
  if (none) {
    stop("no kind in", list);
  }
}


static void readSolvers(int use[mjgNSOLVER], const char* list) {
  char copy[256], *rest = copy, *word;
  snprintf(copy, sizeof(copy), "%s", list);
  while ((word = strtok_r(rest, ",", &rest))) {
    int solver = mjg_solverFromName(word);
    if (solver < 0) {
      stop("unknown solver", word);
    }
    use[solver] = 1;
  }
}


// options
enum {
  OPTION_COMPARE = 1,
  OPTION_COUNT,
  OPTION_HELP,
  OPTION_ITERATIONS,
  OPTION_JOINTS,
  OPTION_KINDS,
  OPTION_PROBLEMS,
  OPTION_SAVE,
  OPTION_SEED,
  OPTION_SOLVER,
  OPTION_TOLERANCE
};
static const struct option kOptions[] = {{"compare", required_argument, NULL, OPTION_COMPARE},
                                         {"count", required_argument, NULL, OPTION_COUNT},
                                         {"help", no_argument, NULL, OPTION_HELP},
                                         {"iterations", required_argument, NULL, OPTION_ITERATIONS},
                                         {"joints", required_argument, NULL, OPTION_JOINTS},
                                         {"kinds", required_argument, NULL, OPTION_KINDS},
                                         {"problems", required_argument, NULL, OPTION_PROBLEMS},
                                         {"save", required_argument, NULL, OPTION_SAVE},
                                         {"seed", required_argument, NULL, OPTION_SEED},
                                         {"solver", required_argument, NULL, OPTION_SOLVER},
                                         {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
                                         {0}};


// one option, its value in optarg
static void readOption(Options* options, int option) {
  char end;
  switch (option) {
    case OPTION_COMPARE:
      readSolvers(options->compare, optarg);
      break;
    case OPTION_COUNT:
      options->count = (long)readNumber(optarg, 0, 1e12, "--count");
      break;
    case OPTION_HELP:
      fputs(USAGE, stdout);
      exit(0);
    case OPTION_ITERATIONS:
      options->settings.iterations = (int)readNumber(optarg, 0, 1e9, "--iterations");
      break;
    case OPTION_JOINTS:
      if (sscanf(optarg, "%4d-%4d%c", &options->low, &options->high, &end) != 2 ||
          options->low < 1 || options->high < options->low || options->high > 1000) {
        stop("--joints needs LOW-HIGH within 1-1000, not", optarg);
      }
      break;
    case OPTION_KINDS:
      readKinds(options->use_kind, optarg);
      break;
    case OPTION_PROBLEMS:
      options->problems = optarg;
      break;
    case OPTION_SAVE:
      options->save = optarg;
      break;
    case OPTION_SEED:
      options->seed = (unsigned long long)readNumber(optarg, 0, 9e15, "--seed");
      break;
    case OPTION_SOLVER:
      if ((options->solver = mjg_solverFromName(optarg)) < 0) {
        stop("unknown solver", optarg);
      }
      break;
    default:
      options->settings.tolerance = readNumber(optarg, 0, 1, "--tolerance");
  }
}


static void readOptions(Options* options, int argc, char** argv) {
  memset(options, 0, sizeof(*options));
  options->count = 1000000;
  options->seed = 1;
  options->low = 1;
  options->high = 12;
  readKinds(options->use_kind, "random");
  mjg_defaultSettings(&options->settings);
  options->solver = options->settings.solver;
  char error[200];
  int option;
  while ((option = mjg_nextOption(error, sizeof(error), argc, argv, kOptions)) != -1) {
    if (option == mjgWRONG_OPTION) {
      fprintf(stderr, "mjgear-solve-many: %s\n%s", error, USAGE);
      exit(2);
    }
    readOption(options, option);
  }
  if (optind < argc) {
    stop("no option:", argv[optind]);
  }
}


//---------------------------------- accounts ------------------------------------------------------

// results of the solver that must not fail, for one kind of problem
typedef struct Account_ {
  long problems;
  long solved;        // status solved
  long jammed;        // status jammed: solved, another solution may exist
  long failed;        // any other status, or an error
  long refused;       // certificate not valid
  long broken;        // solved, but the definition says otherwise
  long fallbacks;     // the default solver called another method
  long planted;       // planted solutions
  long missed;        // found another one, although there is only one
  double residual;    // largest residual of solved results by the definition
  double iterations;  // sum
  int most;           // most iterations
  double time;        // s, of solving alone
} Account;

// comparison with another solver, for one kind of problem
typedef struct Comparison_ {
  long problems;
  long unsolved;     // the other solver reports the problem as unsolved
  long broken;       // it reports solved, and the definition disagrees
  long same;         // same answer
  long noise;        // different, but a change of the data by rounding changes as much
  long several;      // different, both solve it, and theory allows several solutions
  long unexplained;  // different, although there is only one solution
} Comparison;

typedef struct Run_ {
  Options options;
  Account account[mjgNKIND + 1];  // the last is for problems from files
  Comparison comparison[mjgNKIND + 1][mjgNSOLVER];
  mjgOutput* output;  // of --save, else null
  mjgPlace place, other;
  int n, nmax;                // sizes of the places
  unsigned long long digest;  // hash of all results, bit for bit
} Run;


// end the program with a message; of the output nothing is left
static _Noreturn void fail(const Run* run, const char* what) {
  fprintf(stderr, "mjgear-solve-many: %s\n", what);
  mjg_closeOutput(run->output, 0);
  exit(1);
}


static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}


// make the places large enough for a problem
static void makeRoom(Run* run, const mjgProblem* problem) {
  int nmax = mjg_largestBlock(problem);
  if (problem->n <= run->n && nmax <= run->nmax && run->place.work) {
    return;
  }
  run->n = problem->n > run->n ? problem->n : run->n;
  run->nmax = nmax > run->nmax ? nmax : run->nmax;
  mjg_freePlace(&run->place);
  mjg_freePlace(&run->other);
  if (!mjg_newPlace(&run->place, run->n, run->nmax) ||
      !mjg_newPlace(&run->other, run->n, run->nmax)) {
    fail(run, "out of memory");
  }
}


// add bytes to the digest (FNV-1a)
static void digest(Run* run, const void* data, size_t size) {
  const unsigned char* byte = data;
  for (size_t i = 0; i < size; i++) {
    run->digest = (run->digest ^ byte[i]) * 1099511628211u;
  }
}


static int solve(mjgPlace* place, const mjgProblem* problem, const mjgSettings* settings,
                 int solver) {
  mjgSettings chosen = *settings;
  chosen.solver = solver;
  return mjg_solve(&place->solution, &place->info, problem, &chosen, place->work);
}


// returns 1 if a solved result solves the problem by the definition
static int isSound(double* residual, const Run* run, const mjgProblem* problem,
                   const mjgSolution* solution) {
  mjgInclusion inclusion;
  mjg_inclusion(&inclusion, problem, solution);
  *residual = inclusion.residual;
  double rounding = 1e-14 * problem->n;
  return inclusion.residual <= 2 * run->options.settings.tolerance + rounding &&
         !(inclusion.power < 0) && !inclusion.nmode;
}


// largest difference of two frictions, each joint relative to the terms of its torques
static double distance(const mjgProblem* problem, const mjgSolution* a, const mjgSolution* b) {
  double largest = 0;
  for (int i = 0; i < problem->n; i++) {
    double scale = fabs(problem->phi[i]) + fabs(a->lambda[i]) + fabs(a->t[i]) + fabs(b->t[i]) +
                   (problem->coulomb ? problem->coulomb[i] : 0);
    double difference = fabs(a->t[i] - b->t[i]);
    if (difference > 0 && !(difference / scale <= largest)) {
      largest = difference / scale;
    }
  }
  return largest;
}


// sensitivity of a solver's answer to round-off of the data
static double sensitivity(const Run* run, const mjgProblem* problem, int solver) {
  int n = problem->n;
  const mjgSettings* settings = &run->options.settings;
  mjgProblem changed = *problem;
  mjgPlace base = {0}, moved = {0};
  double largest = 0, *data = malloc(2 * (size_t)n * sizeof(double));
  if (!data || !mjg_newPlace(&base, run->n, run->nmax) ||
      !mjg_newPlace(&moved, run->n, run->nmax)) {
    fail(run, "out of memory");
  }
  changed.v = data;
  changed.phi = data + n;
  solve(&base, problem, settings, solver);
  mjgRandom random = {12345};
  double noise = fmax(NOISE, settings->tolerance);
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < n; i++) {
      data[i] = problem->v[i] * (1 + noise * mjg_normal(&random));
      data[n + i] = problem->phi[i] * (1 + noise * mjg_normal(&random));
    }
    if (solve(&moved, &changed, settings, solver) >= 0) {
      largest = fmax(largest, distance(&changed, &base.solution, &moved.solution));
    }
  }
  mjg_freePlace(&base);
  mjg_freePlace(&moved);
  free(data);
  return largest;
}


//---------------------------------- one problem ---------------------------------------------------

// keep a problem for later study; with the solution that was found
static void save(Run* run, const mjgRecord* record, const char* why) {
  if (run->output) {
    FILE* file = run->output->file;
    fprintf(file, "\n# %s", why);
    mjg_writeProblem(file, record->name, &record->problem, NULL, NULL, run->place.solution.t);
  }
}


// compare the result of another solver with the first
static void compare(Run* run, const mjgRecord* record, int kind, int solver, int sound,
                    int unique) {
  const mjgProblem* problem = &record->problem;
  Comparison* comparison = &run->comparison[kind][solver];
  if (solver == mjgENUMERATION && mjg_largestBlock(problem) > 4) {
    return;
  }
  comparison->problems++;
  int status = solve(&run->other, problem, &run->options.settings, solver);
  if (status != mjgSOLVED && status != mjgJAMMED) {
    comparison->unsolved++;
    return;
  }
  double residual;
  if (!isSound(&residual, run, problem, &run->other.solution)) {
    comparison->broken++;
    save(run, record, mjg_solverName(solver));
    return;
  }
  double difference = distance(problem, &run->place.solution, &run->other.solution);
  if (!sound) {
    return;
  }
  if (difference <= SAME) {
    comparison->same++;
    return;
  }

  // a second solution must not be claimed impossible, or be within round-off
  if (!unique) {
    comparison->several++;
  } else if (sensitivity(run, problem, run->options.solver) > difference / 100 ||
             sensitivity(run, problem, solver) > difference / 100) {
    comparison->noise++;
  } else {
    comparison->unexplained++;
    save(run, record, "unexplained difference");
  }
}


static void solveOne(Run* run, const mjgRecord* record, int kind) {
  const mjgProblem* problem = &record->problem;
  Account* account = &run->account[kind];
  makeRoom(run, problem);

  // solve
  double start = now();
  int status = solve(&run->place, problem, &run->options.settings, run->options.solver);
  account->time += now() - start;
  if (status >= 0) {
    const mjgSolution* solution = &run->place.solution;
    size_t n = (size_t)problem->n;
    digest(run, solution->t, n * sizeof(*solution->t));
    digest(run, solution->v, n * sizeof(*solution->v));
    digest(run, solution->lambda, n * sizeof(*solution->lambda));
    digest(run, solution->mode, n * sizeof(*solution->mode));
  }
  digest(run, &status, sizeof(status));
  account->problems++;
  account->solved += status == mjgSOLVED;
  account->jammed += status == mjgJAMMED;
  int sound = status == mjgSOLVED || status == mjgJAMMED;
  if (!sound) {
    account->failed++;
    save(run, record, mjg_statusString(status));
  }

  // certificate, and the definition
  int unique = mjg_isUnique(kind) || status == mjgSOLVED;
  if (sound) {
    mjgCertificate certificate;
    double residual;
    int error = mjg_certify(&certificate, NULL, problem, &run->place.solution,
                            run->options.settings.tolerance, run->place.work);
    if (error < 0 || !certificate.valid) {
      account->refused++;
      save(run, record, "certificate refused");
    }
    if (!isSound(&residual, run, problem, &run->place.solution)) {
      account->broken++;
      save(run, record, "does not solve the inclusion");
      sound = 0;
    }
    unique = unique || certificate.well_posed;
    account->residual = fmax(account->residual, residual);
    account->iterations += run->place.info.iterations;
    account->most =
        run->place.info.iterations > account->most ? run->place.info.iterations : account->most;
    account->fallbacks += run->place.info.fallbacks > 0;
  }

  // a planted solution
  if (sound && record->t) {
    mjgSolution planted = run->place.solution;
    planted.t = record->t;
    account->planted++;
    double difference = distance(problem, &run->place.solution, &planted);
    if (difference > SAME && sensitivity(run, problem, run->options.solver) < difference / 100) {
      account->missed++;
      save(run, record, "not the planted solution");
    }
  }
  for (int solver = 0; solver < mjgNSOLVER; solver++) {
    if (run->options.compare[solver]) {
      compare(run, record, kind, solver, sound, unique);
    }
  }
}


//---------------------------------- report --------------------------------------------------------

static const char* rowName(int kind) {
  return kind < mjgNKIND ? mjg_kindName(kind) : "file";
}


// returns the number of problems that went wrong
static long report(const Run* run) {
  long wrong = 0;
  printf("\n%s, tolerance %g, joints %d-%d, seed %llu\n", mjg_solverName(run->options.solver),
         run->options.settings.tolerance, run->options.low, run->options.high, run->options.seed);
  printf("%-10s %9s %9s %8s %7s %7s %7s %9s %7s %9s %6s %5s %8s\n", "kind", "problems", "solved",
         "jammed", "failed", "refused", "broken", "planted", "missed", "residual", "iter", "most",
         "fallback");
  for (int kind = 0; kind <= mjgNKIND; kind++) {
    const Account* a = &run->account[kind];
    if (a->problems) {
      double count = (double)a->problems;
      printf("%-10s %9ld %9ld %8ld %7ld %7ld %7ld %9ld %7ld %9.1e %6.2f %5d %7.2f%%\n",
             rowName(kind), a->problems, a->solved, a->jammed, a->failed, a->refused, a->broken,
             a->planted, a->missed, a->residual, a->iterations / count, a->most,
             100 * (double)a->fallbacks / count);
      wrong += a->failed + a->refused + a->broken + a->missed;
    }
  }

  int header = 0;
  for (int kind = 0; kind <= mjgNKIND; kind++) {
    for (int solver = 0; solver < mjgNSOLVER; solver++) {
      const Comparison* c = &run->comparison[kind][solver];
      if (!c->problems) {
        continue;
      }
      if (!header++) {
        printf("\n%-10s %-14s %9s %9s %9s %9s %9s %9s %11s\n", "kind", "compared with", "problems",
               "unsolved", "broken", "same", "several", "noise", "unexplained");
      }
      printf("%-10s %-14s %9ld %9ld %9ld %9ld %9ld %9ld %11ld\n", rowName(kind),
             mjg_solverName(solver), c->problems, c->unsolved, c->broken, c->same, c->several,
             c->noise, c->unexplained);
      wrong += c->broken + c->unexplained;
    }
  }
  if (header) {
    puts(
        "\nunsolved     the other solver says so itself: iteration limit, no solution, too large\n"
        "broken       it says that it solved the problem, and the definition says otherwise\n"
        "several      both solve it, and neither status nor certificate says that there is only "
        "one\n"
        "noise        a change of the data in their last digits moves the answer as much\n"
        "unexplained  both solve it although there is one solution: a defect");
  }
  double time = 0;
  long problems = 0;
  for (int kind = 0; kind <= mjgNKIND; kind++) {
    time += run->account[kind].time;
    problems += run->account[kind].problems;
  }
  printf("\n%ld problems, %ld went wrong, %.2f us a solve, digest of the results %016llx\n",
         problems, wrong, problems ? 1e6 * time / (double)problems : 0, run->digest);
  return wrong;
}


//---------------------------------- main ----------------------------------------------------------

// returns 1 if the file is no list of problems
static int runFile(Run* run) {
  char error[256];
  size_t size;
  char* text = mjg_loadText(&size, run->options.problems, error, sizeof(error));
  if (!text) {
    fprintf(stderr, "mjgear-solve-many: %s\n", error);
    return 1;
  }
  mjgReader reader;
  mjgRecord record = {0};
  int found;
  mjg_openReader(&reader, text, size);
  while ((found = mjg_readProblem(&record, &reader)) == 1) {
    solveOne(run, &record, mjgNKIND);
  }
  free(text);
  if (found == -1) {
    fprintf(stderr, "mjgear-solve-many: %s: %s\n", run->options.problems, reader.error);
    return 1;
  }
  return 0;
}


static void runRandom(Run* run) {
  const Options* options = &run->options;
  mjgRandom random = {options->seed};
  mjgRecord record = {0};
  int kind = -1;
  for (long i = 0; i < options->count; i++) {
    do {
      kind = (kind + 1) % mjgNKIND;
    } while (!options->use_kind[kind]);
    int n = options->low + mjg_integer(&random, options->high - options->low + 1);
    if (!mjg_randomProblem(&record, kind, n, &random)) {
      fail(run, "no problem could be made");
    }
    solveOne(run, &record, kind);
  }
  mjg_clearRecord(&record);
}


int main(int argc, char** argv) {
  Run run = {.digest = 14695981039346656037u};
  readOptions(&run.options, argc, argv);
  if (run.options.save) {
    run.output = mjg_openOutput(run.options.save);
    if (!run.output || mjg_writeHeader(run.output->file)) {
      mjg_closeOutput(run.output, 0);
      stop("cannot write", run.options.save);
    }
  }
  int refused = 0;
  if (run.options.problems) {
    refused = runFile(&run);
  } else {
    runRandom(&run);
  }
  long wrong = refused ? 0 : report(&run);
  mjg_freePlace(&run.place);
  mjg_freePlace(&run.other);
  int lost = mjg_closeOutput(run.output, 1);
  if (lost) {
    fprintf(stderr, "mjgear-solve-many: cannot write '%s': %s\n", run.options.save, strerror(lost));
    return 1;
  }
  if (fflush(stdout) || ferror(stdout)) {
    fputs("mjgear-solve-many: cannot write standard output\n", stderr);
    return 1;
  }
  return refused ? 2 : wrong != 0;
}

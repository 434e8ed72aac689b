// Cost of a solve: every solver on the same problems, with Google Benchmark.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "chains.h"
#include "cholesky.h"
#include "commit.h"
#include "inclusion.h"
#include "paper.h"
#include "problem_set.h"
#include "problems.h"
#include "solving.h"

extern "C" char* openblas_get_config(void);

namespace {

using Clock = std::chrono::steady_clock;

// relative residual at which all solvers are compared
constexpr double kTolerance = 1e-9;

// most seven-joint robots in one problem
constexpr int kTrees = 128;


//---------------------------------- problems and results ------------------------------------------

// a set under the name of its results, made on first use
struct Source {
  std::string name;
  int trees = 1;
  int joints = 0;  // of a tree; 0 if they differ
  mjgSet set = {};
  std::function<bool(mjgSet*, std::string*)> make;
  std::string error;

  bool load(benchmark::State& state) {
    if (!set.count && !make(&set, &error)) {
      state.SkipWithError(error.empty() ? "out of memory" : error.c_str());
    }
    return set.count > 0;
  }
};

// results of one solver on one set
struct Row {
  std::string source, solver, start;
  int trees, joints, problems, failures;
  double mean, median, p99, worst;  // us a solve
  double iterations, most_iterations;
  double factorizations, most_factorizations;
  double fallbacks;  // fraction of the problems
  double residual;   // largest residual of solved results by the definition
};

std::vector<std::unique_ptr<Source>> sources;
std::map<std::string, Row> rows;
double cholesky_us = 0;


std::string rowKey(const std::string& source, int trees, int joints, int solver, bool warm) {
  return source + "/" + std::to_string(trees) + "x" + std::to_string(joints) + "/" +
         mjg_solverName(solver) + "/" + (warm ? "warm" : "cold");
}


// q-quantile of sorted numbers: the smallest that at least a share q does not exceed
double quantile(const std::vector<double>& sorted, double q) {
  size_t rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}


//---------------------------------- timing --------------------------------------------------------

double seconds(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}


// CPU time of this thread
double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}


// A stopwatch for one solve. Short solves are timed by the wall clock, which is cheap to read.
// Longer ones may have been interrupted and use the CPU time of the thread.
class Stopwatch {
 public:
  Stopwatch() {
    for (int i = 0; i < 10000; i++) {
      start();
      overhead_ = std::min(overhead_, seconds(start_, Clock::now()));
    }
  }

  void start() {
    cpu_ = cpuSeconds();
    start_ = Clock::now();
  }

  double stop() const {
    const double wall = seconds(start_, Clock::now());
    const double time = wall < 20e-6 ? wall - overhead_ : cpuSeconds() - cpu_;
    return std::max(time, 1e-9);
  }

 private:
  Clock::time_point start_;
  double cpu_ = 0;
  double overhead_ = 1;  // cost of reading the wall clock
};


void putStart(mjgSolution* solution, const mjgRecord& record) {
  size_t n = static_cast<size_t>(record.problem.n);
  std::memcpy(solution->t, record.t_start, n * sizeof(double));
  std::memcpy(solution->mode, record.mode_start, n * sizeof(int));
}


// add one result to the row
void account(Row* row, const mjgProblem& problem, const mjgPlace& place, int status) {
  const double share = 1.0 / row->problems;
  const bool solved = status == mjgSOLVED || status == mjgJAMMED;
  row->failures += !solved;
  row->iterations += share * place.info.iterations;
  row->most_iterations = std::max<double>(row->most_iterations, place.info.iterations);
  row->factorizations += share * place.info.factorizations;
  row->most_factorizations = std::max<double>(row->most_factorizations, place.info.factorizations);
  row->fallbacks += share * (place.info.fallbacks > 0);
  if (solved) {
    mjgInclusion inclusion;
    mjg_inclusion(&inclusion, &problem, &place.solution);
    row->residual = std::max(row->residual, inclusion.residual);
  }
}


// Time each solve separately, over all problems, in several passes. The fastest time of each
// problem over the passes is kept, without interruptions; mean, median, p99 and worst are over the
// problems. Slow methods come to fewer problems.
void timeSolver(benchmark::State& state, Source* source, mjgSettings settings) {
  if (!source->load(state)) {
    return;
  }
  const mjgSet& set = source->set;
  const int problems = static_cast<int>(std::min<int64_t>(set.count, state.max_iterations));
  mjgPlace place;
  if (!mjg_newPlace(&place, set.n, set.nmax)) {
    state.SkipWithError("out of memory");
    return;
  }
  Row row = {};
  row.source = source->name;
  row.solver = mjg_solverName(settings.solver);
  row.start = settings.warm_start ? "warm" : "cold";
  row.trees = source->trees;
  row.joints = source->joints;
  row.problems = problems;
  Stopwatch watch;
  std::vector<double> best(static_cast<size_t>(problems), std::numeric_limits<double>::infinity());
  int64_t solves = 0;
  int k = 0;
  for (auto _ : state) {
    const mjgRecord& record = set.record[k];
    if (settings.warm_start) {
      putStart(&place.solution, record);
    }
    watch.start();
    int status = mjg_solve(&place.solution, &place.info, &record.problem, &settings, place.work);
    const double time = watch.stop();
    state.SetIterationTime(time);
    best[static_cast<size_t>(k)] = std::min(best[static_cast<size_t>(k)], time);

    // the first pass records the results, the others only times
    if (solves++ < problems) {
      account(&row, record.problem, place, status);
    }
    k = (k + 1) % problems;
  }
  mjg_freePlace(&place);
  std::sort(best.begin(), best.end());
  row.mean = 1e6 * std::accumulate(best.begin(), best.end(), 0.0) / problems;
  row.median = 1e6 * quantile(best, 0.5);
  row.p99 = 1e6 * quantile(best, 0.99);
  row.worst = 1e6 * best.back();
  state.counters["median_us"] = row.median;
  state.counters["p99_us"] = row.p99;
  state.counters["worst_us"] = row.worst;
  state.counters["iter"] = row.iterations;
  state.counters["factor"] = row.factorizations;
  state.counters["failed"] = row.failures;
  state.counters["problems"] = problems;
  state.counters["residual"] = row.residual;
  rows[rowKey(source->name, row.trees, row.joints, settings.solver, settings.warm_start)] = row;
}


// the yardstick on the same matrices; they are timed together, since one is faster than the clock
void timeCholesky(benchmark::State& state, Source* source) {
  if (!source->load(state)) {
    return;
  }
  const mjgSet& set = source->set;
  double x[7];
  double least = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < set.count; i++) {
      mjg_cholesky7(x, set.record[i].problem.A, set.record[i].problem.v);
      benchmark::DoNotOptimize(x[0]);
    }
    double time = seconds(start, Clock::now()) / set.count;
    least = std::min(least, time);
    state.SetIterationTime(time);
  }
  cholesky_us = 1e6 * least;
  state.counters["median_us"] = cholesky_us;
}


// The paper's iteration, with the constant step of a rule or with the best one for each problem, whose
// search is not timed. Times cover the problems on which it converges.
void timePaper(benchmark::State& state, Source* source, bool best) {
  constexpr int kOuter = 100000, kProblems = 40;
  static std::map<bool, std::vector<double>> steps;
  if (!source->load(state)) {
    return;
  }
  const mjgSet& set = source->set;
  const int problems = std::min(kProblems, set.count);
  const size_t n = static_cast<size_t>(set.n);
  std::vector<double> t(n), memory(n * n + 3 * n), &step = steps[best];
  for (int i = static_cast<int>(step.size()); i < problems; i++) {
    const mjgProblem* problem = &set.record[i].problem;
    step.push_back(best ? mjg_paperBestStep(t.data(), memory.data(), problem, kOuter, kTolerance)
                        : mjg_paperStep(problem));
  }
  std::vector<double> times;
  std::vector<bool> seen(step.size());
  Row row = {};
  int64_t solves = 0;
  Stopwatch watch;
  for (auto _ : state) {
    size_t k = static_cast<size_t>(solves++ % problems);
    watch.start();
    int used = mjg_paperSolve(t.data(), memory.data(), &set.record[k].problem, step[k], kOuter,
                              kTolerance);
    const double time = watch.stop();
    state.SetIterationTime(time);
    if (!seen[k]) {
      seen[k] = true;
      row.problems++;
      row.failures += used < 0;
      if (used > 0) {
        times.push_back(time);
        row.iterations += used;
        row.most_iterations = std::max<double>(row.most_iterations, used);
      }
    }
  }
  if (times.empty()) {
    return;
  }
  std::sort(times.begin(), times.end());
  const double solved = static_cast<double>(times.size());
  row.source = source->name;
  row.solver = best ? "paper_best" : "paper";
  row.start = "cold";
  row.trees = source->trees;
  row.joints = source->joints;
  row.iterations /= solved;
  row.mean = 1e6 * std::accumulate(times.begin(), times.end(), 0.0) / solved;
  row.median = 1e6 * quantile(times, 0.5);
  row.p99 = 1e6 * quantile(times, 0.99);
  row.worst = 1e6 * times.back();
  row.residual = kTolerance;
  state.counters["median_us"] = row.median;
  state.counters["failed"] = row.failures;
  state.counters["iter"] = row.iterations;
  state.counters["problems"] = row.problems;
  rows["paper/" + row.solver] = row;
}


//---------------------------------- what is measured ----------------------------------------------

Source* addSource(const std::string& name, int trees, int joints,
                  std::function<bool(mjgSet*, std::string*)> make) {
  sources.push_back(std::make_unique<Source>());
  Source* source = sources.back().get();
  source->name = name;
  source->trees = trees;
  source->joints = joints;
  source->make = make;
  return source;
}


void addSolver(Source* source, int solver, bool warm) {
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = solver;
  settings.warm_start = warm;
  settings.tolerance = kTolerance;
  std::string name = rowKey(source->name, source->trees, source->joints, solver, warm);
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { timeSolver(state, source, settings); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}


// reference for the default solver, on the same problems
void addReferences(Source* source) {
  const std::string name = source->name + "/1x7/";
  benchmark::RegisterBenchmark((name + "cholesky").c_str(),
                               [=](benchmark::State& state) { timeCholesky(state, source); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
  for (bool best : {false, true}) {
    const std::string paper = name + (best ? "paper_best/cold" : "paper/cold");
    benchmark::RegisterBenchmark(paper.c_str(),
                                 [=](benchmark::State& state) { timePaper(state, source, best); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(40);
  }
}


// robots that move: all solvers, cold and warm
void addMoving(const std::string& name, int gamma_range) {
  for (int n : {1, 2, 3, 6, 7, 12, 20, 30, 60, 120}) {
    int count = n < 30 ? 300 : n < 100 ? 100 : 30;
    Source* source = addSource(name, 1, n, [=](mjgSet* set, std::string*) {
      return mjg_movingSet(set, count, 1, n, gamma_range, 1) != 0;
    });
    for (int solver = 0; solver < mjgNSOLVER; solver++) {
      // enumeration and projection take minutes where there are many joints
      const int most = solver == mjgENUMERATION ? 6 : solver == mjgPROJECTION ? 30 : 120;
      for (bool warm : {false, true}) {
        if (n <= most && !(warm && solver == mjgENUMERATION)) {
          addSolver(source, solver, warm);
        }
      }
    }
    if (n == 7 && gamma_range == mjgGAMMA_BELOW_ONE) {
      addReferences(source);
    }
  }
}


// Many robots in one scene. Every set has the same robots, grouped in other ways, so that caches and
// branch predictors work equally hard for all of them.
void addForests() {
  for (int trees = 1; trees <= kTrees; trees *= 2) {
    Source* source = addSource("forest", trees, 7, [=](mjgSet* set, std::string*) {
      return mjg_movingSet(set, 20 * kTrees / trees, trees, 7, mjgGAMMA_BELOW_ONE, 2) != 0;
    });
    addSolver(source, mjgNEWTON, false);
    addSolver(source, mjgNEWTON, true);
  }
}


// hard problems for solvers
void addAdversarial() {
  for (int kind = mjgNCHAINKIND; kind < mjgNKIND; kind++) {
    Source* source = addSource(mjg_kindName(kind), 1, 7, [=](mjgSet* set, std::string*) {
      return mjg_kindSet(set, 300, kind, 7, 3) != 0;
    });
    for (int solver = 0; solver < mjgENUMERATION; solver++) {
      addSolver(source, solver, false);
    }
  }
}


// problems that somebody recorded
void addFile(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  Source* source = addSource(name, 1, 0, [=](mjgSet* set, std::string* error) {
    char line[256] = "";
    bool ok = mjg_fileSet(set, path.c_str(), line, sizeof(line)) != 0;
    *error = line;
    return ok;
  });
  for (int solver = 0; solver < mjgENUMERATION; solver++) {
    addSolver(source, solver, false);
    addSolver(source, solver, true);
  }
}


//---------------------------------- report --------------------------------------------------------

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}


// machine and build behind the figures, for console and CSV
std::vector<std::pair<std::string, std::string>> context() {
  return {{"processor", processor()},      {"compiler", MJGEAR_COMPILER}, {"flags", MJGEAR_FLAGS},
          {"blas", openblas_get_config()}, {"commit", MJGEAR_COMMIT},     {"tolerance", "1e-9"}};
}


bool writeCsv(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "w");
  if (!file) {
    return false;
  }
  for (const auto& [key, value] : context()) {
    std::fprintf(file, "# %s: %s\n", key.c_str(), value.c_str());
  }
  std::fprintf(
      file,
      "source,trees,joints,solver,start,problems,failures,mean_us,median_us,p99_us,worst_us,"
      "iterations,most_iterations,factorizations,most_factorizations,fallbacks,residual\n");
  for (const auto& [key, r] : rows) {
    std::fprintf(file, "%s,%d,%d,%s,%s,%d,%d,%.4f,%.4f,%.4f,%.4f,%.3f,%g,%.3f,%g,%.4f,%.3g\n",
                 r.source.c_str(), r.trees, r.joints, r.solver.c_str(), r.start.c_str(), r.problems,
                 r.failures, r.mean, r.median, r.p99, r.worst, r.iterations, r.most_iterations,
                 r.factorizations, r.most_factorizations, r.fallbacks, r.residual);
  }
  return std::fclose(file) == 0;
}


const Row* findRow(const std::string& source, int trees, int joints, int solver, bool warm) {
  auto found = rows.find(rowKey(source, trees, joints, solver, warm));
  return found == rows.end() ? nullptr : &found->second;
}


// slope of log time over log size by least squares
double growth(bool warm) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int trees = 1; trees <= kTrees; trees *= 2) {
    const Row* row = findRow("forest", trees, 7, mjgNEWTON, warm);
    if (!row) {
      return std::nan("");
    }
    double x = std::log(trees), y = std::log(row->mean);
    n++;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}


// the comparisons that the single figures do not show
void printSummary() {
  const Row* cold = findRow("chain", 1, 7, mjgNEWTON, false);
  const Row* warm = findRow("chain", 1, 7, mjgNEWTON, true);
  const Row* projection = findRow("chain", 1, 7, mjgPROJECTION, false);
  const Row* paper = rows.count("paper/paper") ? &rows["paper/paper"] : nullptr;
  const Row* best = rows.count("paper/paper_best") ? &rows["paper/paper_best"] : nullptr;
  std::printf("\n");
  if (cold && cholesky_us > 0) {
    std::printf(
        "seven joints cold: median %.3f us, mean %.3f us; one 7 x 7 Cholesky solve %.3f us; "
        "ratio %.1f (median), %.1f (mean)\n",
        cold->median, cold->mean, cholesky_us, cold->median / cholesky_us,
        cold->mean / cholesky_us);
  }
  if (warm) {
    std::printf("seven joints warm: median %.3f us; factorizations %.3f on average, %g at most\n",
                warm->median, warm->factorizations, warm->most_factorizations);
  }
  const std::pair<const char*, const Row*> references[] = {
      {"the paper's iteration, constant step by rule", paper},
      {"the paper's iteration, best constant step for each problem", best},
      {"the core's projection, step for each joint adapted", projection},
  };
  for (const auto& [name, row] : references) {
    if (cold && row) {
      std::printf(
          "seven joints cold, residual 1e-9: %s: median %.0f us, mean %.0f us, %d of %d unsolved; "
          "%.0f times the default solver (median), %.0f (mean)\n",
          name, row->median, row->mean, row->failures, row->problems, row->median / cold->median,
          row->mean / cold->mean);
    }
  }
  for (bool start : {false, true}) {
    if (!std::isnan(growth(start))) {
      std::printf("1 to 128 seven-joint trees %s: time grows with the power %.3f of their number\n",
                  start ? "warm" : "cold", growth(start));
    }
  }
}


// take "--name value" out of the arguments
std::string takeOption(int* argc, char** argv, const std::string& name) {
  for (int i = 1; i + 1 < *argc; i++) {
    if (argv[i] == "--" + name) {
      std::string value = argv[i + 1];
      std::copy(argv + i + 2, argv + *argc + 1, argv + i);
      *argc -= 2;
      return value;
    }
  }
  return "";
}

}  // namespace


int main(int argc, char** argv) {
  std::string csv = takeOption(&argc, argv, "csv");
  for (std::string path; !(path = takeOption(&argc, argv, "problems")).empty();) {
    addFile(path);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    std::fprintf(stderr, "options of ours: --csv FILE, --problems FILE (may be repeated)\n");
    return 2;
  }
  for (const auto& [key, value] : context()) {
    benchmark::AddCustomContext(key, value);
  }
  addMoving("chain", mjgGAMMA_BELOW_ONE);
  addMoving("locking", mjgGAMMA_LOCKING);
  addFile(MJGEAR_SOURCE_DIR "/benchmarks/problems/scenes.txt");
  addForests();
  addAdversarial();
  benchmark::ConsoleReporter reporter(benchmark::ConsoleReporter::OO_Tabular);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  printSummary();
  for (const auto& source : sources) {
    mjg_freeSet(&source->set);
  }
  if (!csv.empty() && !writeCsv(csv)) {
    std::fprintf(stderr, "%s: cannot be written\n", csv.c_str());
    return 1;
  }
  return 0;
}

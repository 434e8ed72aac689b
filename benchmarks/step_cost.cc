// Cost of a step: without friction, with the engine's frictionloss, and with geared joints. Timed
// by Google Benchmark.
//
// Each model runs 500 steps with gears. From that state every variant takes 10 steps to settle and
// saves its state. Then 40 steps from there are timed repeatedly, the variants of all models in
// random order, and the least time counts. Ratios are valid within one run on one machine. The last
// rows are a free arm with torques drawn at random, anew in each step or held for some:
// backdrivable gears, and gears that lock.

#include <benchmark/benchmark.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commit.h"
#include "step_models.h"

extern "C" {
#include "state/gears.h"
}

namespace {

using mjgear::kGeared;
using mjgear::kNative;
using mjgear::kPlain;
using mjgear::kVariants;

constexpr int kWarmup = 500;
constexpr int kSettle = 10;
constexpr int kCache = 3;
constexpr int kSteps = 40;

const char* const variant_names[kVariants] = {"no plugin", "frictionloss", "mjgear"};


//---------------------------------- models in motion ----------------------------------------------

// a compiled variant and the state from which it is timed
struct Motion {
  std::unique_ptr<mjModel, decltype(&mj_deleteModel)> m{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, decltype(&mj_deleteData)> d{nullptr, mj_deleteData};
  std::vector<mjtNum> state;
  int rows = 0;  // of constraints in the step that led there
  int hold = 0;  // steps for which random torques are held; 0: torques are sines of time

  bool make(const std::string& text, mjgear::Variant variant, std::string* error) {
    m.reset(mjgear::compileVariant(text, variant, error));
    d.reset(m ? mj_makeData(m.get()) : nullptr);
    return d != nullptr;
  }

  void step(int count) {
    for (int k = 0; k < count; k++) {
      for (int i = 0; i < m->nu; i++) {
        d->ctrl[i] = hold ? randomTorque(i) : 5 * std::sin(3 * d->time + i);
      }
      mj_step(m.get(), d.get());
    }
  }

  // between -5 and 5 N m, the same for a motor and a time in every replay
  double randomTorque(int motor) const {
    const auto n =
        static_cast<uint64_t>(std::lround(d->time / m->opt.timestep)) / static_cast<uint64_t>(hold);
    uint64_t x = (n * 64 + static_cast<uint64_t>(motor) + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return 10 * static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0 - 5;
  }

  void save(int kind) {
    state.resize(static_cast<size_t>(mj_stateSize(m.get(), kind)));
    mj_getState(m.get(), d.get(), state.data(), kind);
    rows = d->nefc;
  }

  void restore() {
    mj_setState(m.get(), d.get(), state.data(), mjSTATE_INTEGRATION);
  }

  // null without the plugin
  const mjgpGears* gears() const {
    return m->nplugin ? reinterpret_cast<const mjgpGears*>(d->plugin_data[0]) : nullptr;
  }
};


// one model in all variants; made when it is first needed
struct Subject {
  std::string name;
  std::function<std::string()> text;
  int hold = 0;  // Motion::hold of all variants
  Motion motion[kVariants];
  std::string error;
  bool made = false;

  bool load() {
    if (!made) {
      made = true;
      make();
    }
    return error.empty();
  }

 private:
  void make() {
    const std::string xml = text();
    for (int k = 0; k < kVariants; k++) {
      motion[k].hold = hold;
      if (!motion[k].make(xml, static_cast<mjgear::Variant>(k), &error)) {
        error = name + ": " + (error.empty() ? "out of memory" : error);
        return;
      }
    }

    // the engine's friction on the same joints, of about the size that the gears have
    Motion& geared = motion[kGeared];
    const mjgpGears* g = geared.gears();
    for (int i = 0; i < g->config->n; i++) {
      motion[kNative].m->dof_frictionloss[g->config->joint[i].dof] = 2;
    }

    // a common state to start from, and the state that each reaches
    const int physics =
        mjSTATE_TIME | mjSTATE_QPOS | mjSTATE_QVEL | mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT;
    geared.step(kWarmup);
    geared.save(physics);
    const std::vector<mjtNum> start = geared.state;
    for (Motion& one : motion) {
      mj_setState(one.m.get(), one.d.get(), start.data(), physics);
      one.step(kSettle);
      one.save(mjSTATE_INTEGRATION);
    }
  }
};


// replay the steps; steps with the caches full of another model are not timed
void timeSteps(benchmark::State& state, Subject* subject, int variant) {
  if (!subject->load()) {
    state.SkipWithError(subject->error.c_str());
    return;
  }
  Motion& motion = subject->motion[variant];
  const mjgpGears* g = motion.gears();
  int coupled = 0, passes = 0;
  motion.restore();
  motion.step(kCache);
  for (auto _ : state) {
    state.PauseTiming();
    motion.restore();
    const mjgpCount before = g ? g->count : mjgpCount{};
    state.ResumeTiming();
    motion.step(kSteps);
    state.PauseTiming();
    coupled += g ? g->count.coupled - before.coupled : 0;
    passes += g ? g->count.newton_steps - before.newton_steps : 0;
    state.ResumeTiming();
  }
  state.counters["dofs"] = static_cast<double>(motion.m->nv);
  state.counters["rows"] = motion.rows;
  state.counters["passes"] = coupled ? static_cast<double>(passes) / coupled : 0;
}


//---------------------------------- table ---------------------------------------------------------

double least(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}


// keeps the least time of each benchmark for a table of all variants side by side
class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(const std::vector<std::unique_ptr<Subject>>* subjects) : subjects_(subjects) {
  }

  bool ReportContext(const Context& context) override {
    PrintBasicContext(&GetErrorStream(), context);
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s\n", run.error_message.c_str());
        failed_ = true;
      } else if (run.run_type == Run::RT_Iteration || run.aggregate_name == "min") {
        Cell& cell = cells_[run.run_name.function_name];
        cell.time = std::min(cell.time, 1e6 * run.cpu_accumulated_time /
                                            static_cast<double>(run.iterations) / kSteps);
        cell.counters = run.counters;
      }
    }
  }

  void Finalize() override {
    std::printf("%-20s %4s %5s", "us a step", "dofs", "rows");
    for (const char* name : variant_names) {
      std::printf(" %13s", name);
    }
    std::printf("  mjgear/no plugin  extra/extra of frictionloss  passes\n");
    for (const auto& subject : *subjects_) {
      printRow(subject->name);
    }
  }

  bool failed() const {
    return failed_;
  }

 private:
  // not a number where nothing was measured
  struct Cell {
    double time = std::numeric_limits<double>::infinity();
    benchmark::UserCounters counters;
  };

  void printRow(const std::string& name) {
    double t[kVariants];
    const Cell* geared = nullptr;
    for (int k = 0; k < kVariants; k++) {
      const auto found = cells_.find(name + "/" + variant_names[k]);
      const bool measured = found != cells_.end();
      t[k] = measured ? found->second.time : std::nan("");
      geared = measured && (k == kGeared || !geared) ? &found->second : geared;
    }
    if (!geared) {
      return;
    }
    const benchmark::UserCounters& counters = geared->counters;
    std::printf("%-20s %4.0f %5.0f", name.c_str(), counters.at("dofs").value,
                counters.at("rows").value);
    for (const double time : t) {
      std::printf(" %13.2f", time);
    }
    std::printf("  %16.2f  %27.2f  %6.2f\n", t[kGeared] / t[kPlain],
                (t[kGeared] - t[kPlain]) / (t[kNative] - t[kPlain]), counters.at("passes").value);
  }

  const std::vector<std::unique_ptr<Subject>>* subjects_;
  std::map<std::string, Cell> cells_;
  bool failed_ = false;
};


void addSubject(std::vector<std::unique_ptr<Subject>>* subjects, const std::string& name,
                std::function<std::string()> text, int hold = 0) {
  subjects->push_back(std::make_unique<Subject>());
  Subject* subject = subjects->back().get();
  subject->name = name;
  subject->text = std::move(text);
  subject->hold = hold;
  for (int k = 0; k < kVariants; k++) {
    benchmark::RegisterBenchmark((name + "/" + variant_names[k]).c_str(),
                                 [=](benchmark::State& state) { timeSteps(state, subject, k); })
        ->Unit(benchmark::kMicrosecond)
        ->ComputeStatistics("min", least);
  }
}

}  // namespace


int main(int argc, char** argv) {
  // default options, before the given ones, which override them
  std::string defaults[] = {"--benchmark_enable_random_interleaving=true",
                            "--benchmark_repetitions=60", "--benchmark_min_time=0.003",
                            "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& option : defaults) {
    arguments.push_back(option.data());
  }
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
    return 2;
  }
  benchmark::AddCustomContext("compiler", MJGEAR_COMPILER);
  benchmark::AddCustomContext("flags", MJGEAR_FLAGS);
  benchmark::AddCustomContext("commit", MJGEAR_COMMIT);
  mj_loadPluginLibrary(MJGEAR_PLUGIN_PATH);

  std::vector<std::unique_ptr<Subject>> subjects;
  auto addArms = [&](const std::string& name, int arms, bool contact) {
    addSubject(&subjects, name,
               [=] { return mjgear::armText(arms, contact, contact ? 1.1 : 0.4); });
  };
  auto addRandom = [&](const std::string& name, double gamma_v, int hold) {
    addSubject(
        &subjects, name, [=] { return mjgear::armText(1, false, gamma_v); }, hold);
  };
  auto addScene = [&](const std::string& name) {
    addSubject(&subjects, name, [=] { return mjgear::sceneText(name); });
  };
  addArms("arm, free", 1, false);
  addArms("arm, in contact", 1, true);
  addScene("humanoid");
  addScene("gripper");
  addArms("4 arms, in contact", 4, true);
  addArms("16 arms, free", 16, false);
  addArms("16 arms, in contact", 16, true);
  addArms("64 arms, free", 64, false);
  addArms("64 arms, in contact", 64, true);
  for (const int hold : {1, 5, 50}) {
    const std::string held = hold == 1 ? "new torques" : "held " + std::to_string(hold);
    addRandom("mild, " + held, 0.4, hold);
    addRandom("locking, " + held, 1.1, hold);
  }

  Table table(&subjects);
  benchmark::RunSpecifiedBenchmarks(&table);
  return table.failed();
}

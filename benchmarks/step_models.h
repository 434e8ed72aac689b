// Models whose steps are timed, each without friction, with the engine's, and with gears.

#ifndef MJGEAR_BENCHMARKS_STEP_MODELS_H_
#define MJGEAR_BENCHMARKS_STEP_MODELS_H_

#include <mujoco/mujoco.h>

#include <string>

namespace mjgear {

enum Variant : int {
  kPlain = 0,   // no friction
  kNative = 1,  // frictionloss of the engine; the dofs are left to the caller
  kGeared = 2,  // gears
};
constexpr int kVariants = 3;

// MJCF of arms with seven geared joints each, that lie on a table or hang in the air;
// gamma_v of their gears, from 1 on they lock
std::string armText(int count, bool contact, double gamma_v);

// MJCF of a scene of this project without visual elements; empty if it cannot be read
std::string sceneText(const std::string& name);

// compile the variant of a model's text; null with the reason in error
mjModel* compileVariant(const std::string& text, Variant variant, std::string* error);

}  // namespace mjgear

#endif  // MJGEAR_BENCHMARKS_STEP_MODELS_H_

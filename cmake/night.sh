# What ./check does for a night, with --valgrind the first stage alone. ./check sources it, with bash.
# shellcheck shell=bash

mjlab_release=1.6.0

valgrind_tests() {
  build/venv/bin/python -c '
import json, subprocess
shown = subprocess.run(["ctest", "--preset", "release", "-L", "^core$", "--show-only=json-v1"],
                       check=True, capture_output=True)
print("\n".join(test["command"][0] for test in json.loads(shown.stdout)["tests"]))' |
    xargs -n 1 valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=all
}

# each fuzzer for an hour with random numbers of its own, as many at once as tests
fuzz_for_hours() {
  build_preset fuzz fuzzers_long && build/venv/bin/python -c '
import json, re, shlex, subprocess
shown = subprocess.run(["ctest", "--test-dir", "build/fuzz", "-L", "^(fuzz|long)$", "--show-only=json-v1"], check=True, capture_output=True)
for test in json.loads(shown.stdout)["tests"]:
    print(re.sub(r"-max_total_time=\d+ -seed=1", "-max_total_time=3600", shlex.join(test["command"])), end="\0")
print("PYTHONPATH=python MJGEAR_LIBRARIES=build/lib build/venv-check/bin/python tests/python/identify/fuzz_logs.py 3600", end="\0")
print("PYTHONPATH=python MJGEAR_LIBRARIES=build/lib build/venv/bin/python tests/python/fuzz_objects.py 3600", end="\0")' |
    xargs -0 -n 1 -P "$CTEST_PARALLEL_LEVEL" bash -c
}

install_newton() { install_venv build/venv-newton cmake/requirements-newton.txt 'newton, mujoco_warp' "Newton"; }

# install_pinned FOLDER PACKAGE==VERSION...: without hashes, because PyTorch's wheels for all that cmake/lock looks at are tens of GB
install_pinned() {
  local folder=$1 python
  shift
  if [[ -f $folder/.complete && $(< "$folder/.complete") == "$*" ]]; then
    return
  fi
  python=$(find_python) || return
  rm -rf "$folder"
  "$python" -m venv "$folder" &&
    "$folder/bin/pip" --disable-pip-version-check install --quiet --no-input --only-binary=:all: "$@" &&
    printf '%s\n' "$*" > "$folder/.complete"
}

install_mjlab() {
  install_pinned build/venv-mjlab "mjlab==$mjlab_release"
}

install_training() {
  install_pinned build/venv-training stable_baselines3==2.9.2 torch==2.15.0 gymnasium==1.4.0 imageio==2.38.1 mujoco==4.0.0
}

# examples for Newton, with the MuJoCo that it pins and the wheel for it
newton() {
  install_newton && build/venv-newton/bin/pip install --quiet --no-deps --force-reinstall dist/mjgear-*linux*"$(uname -m)".whl &&
    MJGEAR_SOURCE_DIR=$PWD build/venv-newton/bin/python tests/python/warp/test_newton.py
}

# and for mjlab; its MuJoCo is another one
mjlab() {
  install_mjlab && build/venv-mjlab/bin/pip install --quiet --no-deps --force-reinstall dist/mjgear-*linux*"$(uname -m)".whl &&
    MJGEAR_SOURCE_DIR=$PWD build/venv-mjlab/bin/python tests/python/warp/test_mjlab.py
}

# a training with stable-baselines3, with the plugin of the build
training() {
  install_training && MJGEAR_SOURCE_DIR=$PWD PYTHONPATH=$PWD/python MJGEAR_LIBRARIES=$PWD/build/lib OMP_NUM_THREADS=1 \
    build/venv-training/bin/python tests/examples/train_hopper.py
}

coverage() {
  local test
  for test in coverage scales arm_coverage; do
    PYTHONPATH=python MJGEAR_LIBRARIES=build/lib OPENBLAS_NUM_THREADS=1 \
      build/venv-check/bin/python "tests/python/identify/test_$test.py" 100 || return
  done
}

million_problems() {
  local kinds seed
  for kinds in random adversarial; do
    for seed in 1 2 3; do
      build/bin/mjgear-solve-many --kinds "$kinds" --seed "$seed" --count 1000000 || return
    done
  done
}

stage "tests of the core, valgrind" step valgrind "valgrind" valgrind_tests
if ((long)); then
  stage "inverse dynamics, 10^5 steps" step inverse "torques" build/venv/bin/python -W ignore benchmarks/robots/inverse.py --fail
  stage "fuzzers, an hour each" step fuzz-long "fuzzers, an hour each" fuzz_for_hours
  stage "millions of problems" step millions "mjgear-solve-many" million_problems
  stage "the README, typed" step newcomer "what a newcomer types" python3 tests/newcomer.py
  stage "mutations" step mutations "mutations" build/venv/bin/python tests/mutate.py
  stage "intervals of 100 made-up servos and arms" step coverage "coverage" coverage
  stage "Windows and macOS" .ci/desktops
  stage "Newton" step newton "examples for Newton" newton
  stage "mjlab" step mjlab "example for mjlab" mjlab
  stage "stable-baselines3" step training "training of a geared Hopper" training
fi

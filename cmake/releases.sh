# MuJoCo releases and OpenBLAS, which wheels are built with. Sourced with bash after setup.sh.
# shellcheck shell=bash

# all supported releases, in ascending order
mujoco_releases() {
  sed -n 's/^mujoco\(-core\)\?==\([0-9.]*\).*/\2/p' cmake/releases.txt
}

# what pip calls a machine: x86_64 and aarch64 are of Linux
pip_platform() {
  case $1 in
    windows) printf 'win_amd64' ;;
    macos) printf 'macosx_11_0_arm64' ;;  # with a library for x86_64 too
    *) printf 'manylinux_2_28_%s' "$1" ;;
  esac
}

unpack_release() {
  local release=$1 machine=$2 folder=build/mujoco/$2/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  grep -E "^mujoco(-core)?==$release " cmake/releases.txt > "$folder/requirement.txt" &&
    build/venv-wheel/bin/python -m pip --disable-pip-version-check download --no-deps --only-binary=:all: \
      --require-hashes --implementation cp --python-version 3.11 --platform "$(pip_platform "$machine")" \
      --dest "$folder" --requirement "$folder/requirement.txt" &&
    unzip -q "$folder"/*.whl 'mujoco/include/*' 'mujoco/*mujoco*.[sd]*' -d "$folder" &&
    rm "$folder"/*.whl
}

# install_release RELEASE MACHINE: its headers and library in build/mujoco/MACHINE/RELEASE/mujoco
install_release() {
  local folder=build/mujoco/$2/$1
  if [[ ! -f $folder/.complete ]]; then
    step "mujoco-$1" "MuJoCo $1 for $2" unpack_release "$1" "$2" || return
    touch "$folder/.complete"
  fi
}

# install_openblas MACHINE: that of scipy-openblas32 in build/openblas/MACHINE
install_openblas() {
  local folder=build/openblas/$1 requirement
  requirement=$(grep -o '^scipy-openblas32==[^ ]*' cmake/requirements-wheel.txt)
  if [[ ! -f $folder/.complete || $(< "$folder/.complete") != "$requirement" ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    build/venv-wheel/bin/python -m pip --quiet --disable-pip-version-check download --no-deps --only-binary=:all: \
      --python-version 3.11 --platform "${2:-$(pip_platform "$1")}" --dest "$folder" "$requirement" &&
      unzip -q "$folder"/*.whl -d "$folder" && rm "$folder"/*.whl || return
    printf '%s\n' "$requirement" > "$folder/.complete"
  fi
}

"""How pip builds the package: scikit-build-core, with a MuJoCo to build for where the environment has none yet.

The plugin is built for the MuJoCo of the environment into which pip installs. Where there is none, pip will install the newest one
as our dependency, and the same one is asked for here.
"""

import os
import subprocess
import sys

from scikit_build_core.build import *  # noqa: F403  the hooks of PEP 517 and 660
from scikit_build_core import build as _build

MUJOCO = "mujoco>=3.11"  # as in the dependencies of pyproject.toml


def _missing() -> list[str]:
    # -I: not the isolated environment in which this runs
    found = subprocess.run(
        [sys.executable, "-I", "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('mujoco') is None)"],
        check=False,
    )
    return [MUJOCO] if found.returncode and not os.environ.get("MUJOCO_DIR") else []


def get_requires_for_build_wheel(config_settings=None):
    return _build.get_requires_for_build_wheel(config_settings) + _missing()


def get_requires_for_build_editable(config_settings=None):
    return _build.get_requires_for_build_editable(config_settings) + _missing()

"""Packages that only a part of this one needs."""

from __future__ import annotations

import importlib.util

# the oldest and the newest release of MuJoCo Warp that mjgear.warp was tried with
WARP = ("3.11", "4.0")

# argument of pip for an extra of pyproject.toml
PACKAGES = {
    "identify": "scipy matplotlib",
    "plot": "matplotlib",
    "warp": f"'mujoco-warp>={WARP[0]}'",
    "ray": "ray pyarrow tqdm",
    "recordings": "pyarrow mcap mcap-ros2-support rosbags",
}


def missing(module: str, what: str, extra: str) -> str:
    """The line that names the package to install; empty if the module exists."""
    if importlib.util.find_spec(module) is not None:
        return ""
    return f"{what} needs {module}, which is not installed: pip install {PACKAGES[extra]} (in a clone of mjgear: pip install '.[{extra}]')"


def require(module: str, what: str, extra: str) -> None:
    """Raise ImportError with that line."""
    line = missing(module, what, extra)
    if line:
        raise ImportError(line)
